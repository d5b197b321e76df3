/* one_pass.c - `seen uniq` in one pass: each batch of lines is asked of a filter and
 * added to it, in order, and what was new goes out.
 *
 * Threads take batches in turn (feed.h); with more than one a set of fingerprints is
 * kept in shards, which have turns of their own. */
#include "budget.h"
#include "progress.h"
#include "say.h"
#include "source.h"
#include "uniq.h"

#include <stdlib.h>
#include <string.h>

/* Room for the keys of a batch that are in none of the other filters. */
typedef struct rest {
    seen_key *key;
    uint64_t *hash;
    bool *dup;
    size_t *at;
    bool *found;
    size_t room;
} rest;

static void ask_and_add(uniq *u, const seen_key *keys, const uint64_t *hashes, size_t n,
                        bool *dup)
{
    if (u->later)
        later_ask(u->later, u->seen, keys, n, dup);
    else
        store_add(u->seen, keys, hashes, n, dup);
}

/* Marks in b->dup what is in another filter; the others of lines [FROM, FROM + N) are
 * asked and added. */
static void add_rest(uniq *u, batch *b, size_t from, size_t n, rest *r)
{
    const seen_key *key = b->key + from;
    const uint64_t *hash = b->hash ? b->hash + from : NULL;
    bool *dup = b->dup + from;
    if (n > r->room) {
        r->room = n;
        r->key = kit_grow(r->key, n, sizeof *r->key);
        r->hash = kit_grow(r->hash, n, sizeof *r->hash);
        r->dup = kit_grow(r->dup, n, sizeof *r->dup);
        r->at = kit_grow(r->at, n, sizeof *r->at);
        r->found = kit_grow(r->found, n, sizeof *r->found);
    }
    memset(dup, 0, n);
    for (size_t i = 0; i < u->nagainst; i++) {
        store_has(u->against[i], key, hash, n, r->found);
        for (size_t j = 0; j < n; j++)
            dup[j] |= r->found[j];
    }
    size_t m = 0;
    for (size_t j = 0; j < n; j++)
        if (!dup[j]) {
            r->key[m] = key[j];
            r->hash[m] = hash ? hash[j] : 0;
            r->at[m++] = j;
        }
    ask_and_add(u, r->key, hash ? r->hash : NULL, m, r->dup);
    for (size_t j = 0; j < m; j++)
        dup[r->at[j]] = r->dup[j];
}

/* How many of N lines may be taken now without expecting to lose more than allowed: a
 * few at a time, because the error rises with each, or none. */
static size_t may_take(uniq *u, size_t n)
{
    static uint64_t next, at;
    static double lost, error;
    if (u->max_lost < 0 || !u->seen->filter)
        return n;
    uint64_t added = seen_added(u->seen->filter), few = added / 64 + 64;
    n = n < few ? n : few;
    double ahead = (double)(added - at + n) * error * 1.2;
    /* The prediction takes a moment: anew when the filter has grown by a hundredth. */
    if (added >= next || lost + ahead > u->max_lost) {
        lost = seen_lost_expected(u->seen->filter) - u->lost_base;
        error = seen_error_predicted(u->seen->filter);
        at = added;
        next = added + added / 100 + 16;
        ahead = (double)n * error * 1.2;
    }
    return lost + ahead <= u->max_lost ? n : 0;
}

/* Asks and adds the lines of B; returns how many were taken, fewer than all only if
 * too many would get lost. */
static size_t take(uniq *u, batch *b, rest *r)
{
    size_t done = 0;
    while (done < b->n) {
        size_t n = may_take(u, budget_keep(u, b->n - done));
        if (!n)
            break;
        if (u->nagainst)
            add_rest(u, b, done, n, r);
        else
            ask_and_add(u, b->key + done, b->hash ? b->hash + done : NULL, n,
                        b->dup + done);
        done += n;
    }
    return done;
}

/* What the steps of a batch share. */
typedef struct walk {
    uniq *u;
    feed *f;
    rest r;
    bool enough; /* no more may be taken */
} walk;

/* Of B the first TAKEN lines count, and if these are not all nothing after them. */
static void cut_short(walk *w, batch *b, size_t taken)
{
    if (taken < b->n) {
        w->enough = true;
        b->n = taken;
        b->block.open_end = false;
    }
}

static void note(uniq *u, batch *b, uint64_t memory)
{
    u->lines += b->n;
    u->missing += b->missing;
    b->lines = u->lines;
    b->memory = memory;
    /* The repeats are copied out before the lines are moved. */
    if (u->dup.out && b->n)
        sink_lines(&u->dup, b, true, false);
}

static bool judge(void *ctx, batch *b, unsigned part)
{
    walk *w = ctx;
    (void)part;
    size_t taken = w->enough || kit_stopped ? 0 : take(w->u, b, &w->r);
    b->last = taken < b->n && !w->enough && !kit_stopped;
    cut_short(w, b, taken);
    note(w->u, b, store_bytes(w->u->seen));
    return !w->enough;
}

static void sort_shards(void *ctx, batch *b)
{
    (void)ctx;
    shards_sort(b);
}

/* Whether B counts is decided with its first shard, for all of them. */
static bool judge_shard(void *ctx, batch *b, unsigned part)
{
    walk *w = ctx;
    if (part == 0)
        cut_short(w, b, w->enough || kit_stopped ? 0 : b->n);
    if (b->n)
        shards_add(w->u->shards, b, part);
    if (part == SHARDS - 1)
        note(w->u, b, shards_bytes(w->u->shards));
    return part || !w->enough;
}

static void pack(void *ctx, batch *b)
{
    sink_pack(b, ((walk *)ctx)->u->repeated);
}

static void write_out(void *ctx, batch *b)
{
    walk *w = ctx;
    uniq *u = w->u;
    sink_packed(&u->out, b);
    if (u->later && !kit_output_replaces(u->out.out))
        later_record(u->later, u->seen);
    if (b->last)
        kit_die("stopped before line %llu: more than %.0f distinct lines would be "
                "expected lost (give a larger -n or -m, or a smaller -e)",
                (unsigned long long)b->lines + 1, u->max_lost);
    if (kit_progress_due())
        kit_progress_show(&(kit_progress){
            .taken = kit_lines_taken(feed_lines(w->f)),
            .total = kit_lines_total(feed_lines(w->f)),
            .lines = b->lines,
            .distinct = u->repeated ? b->lines - u->out.lines : u->out.lines,
            .memory = b->memory});
}

static const feed_steps steps = {NULL, 1, judge, pack, write_out};
static const feed_steps shard_steps = {sort_shards, SHARDS, judge_shard, pack,
                                       write_out};

/* What the run has taken and may have lost, by the filter it was left with. */
static void sum_up(uniq *u)
{
    if (u->shards) {
        u->memory = shards_bytes(u->shards);
        u->lost = shards_lost(u->shards);
        u->error = shards_error(u->shards);
        u->kind = seen_kind_name(SEEN_SET);
        return;
    }
    u->memory = store_bytes(u->seen) + (u->later ? later_bytes(u->later) : 0);
    for (size_t i = 0; i < u->nagainst; i++)
        u->memory += store_bytes(u->against[i]);
    u->lost = store_lost(u->seen) - u->lost_base;
    if (!u->seen->filter) {
        u->kind = u->seen->ops->kind;
        return;
    }
    u->kind = seen_kind_name(seen_kind_of(u->seen->filter));
    u->error = seen_error_predicted(u->seen->filter);
    if (u->error > 0.05 && !u->state_name) {
        /* So full that few keys still count: but all of them have set their bits. */
        seen_stats st;
        seen_get_stats(u->seen->filter, &st);
        double more = st.keys_estimate - (double)st.added - u->short_base;
        u->error = st.error_now;
        u->lost = more > u->lost ? more : u->lost;
    }
}

void uniq_stream(uniq *u)
{
    feed_spec spec = {.files = u->files,
                      .nfiles = u->nfiles,
                      .keys = u->keys,
                      .hash = u->shards || u->seen->hashes,
                      .threads = u->threads,
                      .steps = true};
    if (spec.hash)
        spec.seed = u->shards ? shards_seed(u->shards) : seen_seed(u->seen->filter);
    walk w = {.u = u, .f = feed_open(&spec)};
    kit_progress_start(u->quiet);
    feed_run(w.f, u->shards ? &shard_steps : &steps, &w);
    kit_progress_end();
    feed_close(w.f);
    free(w.r.key);
    free(w.r.hash);
    free(w.r.dup);
    free(w.r.at);
    free(w.r.found);
    sum_up(u);
}
