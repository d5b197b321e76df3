/* one_pass.c - `seen uniq` in one pass: the lines of each batch are looked up in a
 * filter and added to it, in order, and the new ones are written.
 *
 * Threads take batches in turn (feed.h). With more than one, a set of fingerprints is
 * kept in shards, which take turns of their own. */
#include "budget.h"
#include "checkpoint.h"
#include "progress.h"
#include "messages.h"
#include "source.h"
#include "uniq.h"
#include "human_numbers.h"

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
    if (u->after_print)
        after_print_ask(u->after_print, u->seen, keys, n, dup);
    else
        named_add(u->seen, keys, hashes, n, dup);
}

/* Marks in b->dup which of the lines [FROM, FROM + N) are in another filter; looks up
 * and adds the rest. */
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
        named_has(u->against[i], key, hash, n, r->found);
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

/* The last prediction of the losses. */
typedef struct loss_check {
    uint64_t at;   /* keys in the filter that it was made for */
    uint64_t next; /* keys from which on it is made again */
    double most;   /* the upper end of the losses' interval */
    double error;  /* of the filter then */
} loss_check;

/* How many of N lines can be added now so that the losses stay within what is allowed,
 * up to the upper end of their interval: a few at a time, because the error rises with
 * each, or none. */
static size_t may_take(uniq *u, loss_check *last, size_t n)
{
    if (u->max_lost < 0 || !u->seen->filter)
        return n;
    uint64_t added = named_added(u->seen), few = added / 64 + 64;
    n = n < few ? n : few;
    double ahead = 0;
    if (added + n > last->at)
        ahead = (double)(added + n - last->at) * last->error * 1.5;
    /* The prediction takes a moment: made again when the filter has grown by 1%. */
    if (added < last->next && last->most + ahead <= u->max_lost)
        return n;
    double low;
    last->error = seen_error_predicted(u->seen->filter);
    ahead = (double)n * last->error * 1.2;
    named_lost_range(u->seen, u->lost_base - ahead, &low, &last->most);
    last->at = added + n;
    last->next = added + added / 100 + 16;
    return last->most <= u->max_lost ? n : 0;
}

/* Looks up and adds the lines of B; returns how many, fewer than all only if too many
 * would be lost. */
static size_t add_batch(uniq *u, batch *b, rest *r, loss_check *last)
{
    size_t done = 0;
    while (done < b->n) {
        size_t n = may_take(u, last, budget_keep(u, b->n - done));
        if (!n)
            break;
        if (u->nagainst)
            add_rest(u, b, done, n, r);
        else
            ask_and_add(u, b->key + done, b->hash ? b->hash + done : NULL, n,
                        b->dup + done);
        done += n;
    }
    if (!u->quiet)
        sizing_say_ended(u->seen->scratch);
    return done;
}

/* What the steps of a run share. */
typedef struct pass {
    uniq *u;
    feed *f;
    rest r;
    loss_check losses;
    bool enough; /* no more lines are added */
} pass;

/* What the steps leave with a batch for those after them. */
typedef struct work {
    shard_order order;
    packed_lines packed;
    bool last;              /* only a part of it was added, and no more will come */
    uint64_t lines, memory; /* of the run, when it was decided */
} work;

/* Only the first TAKEN lines of B count; if these are not all, no later line counts. */
static void cut_short(pass *w, batch *b, size_t taken)
{
    if (taken < b->n) {
        w->enough = true;
        b->n = taken;
        b->block.open_end = false;
    }
}

static void note(uniq *u, batch *b, uint64_t memory)
{
    work *k = b->own;
    u->lines += b->n;
    u->missing += b->missing;
    k->lines = u->lines;
    k->memory = memory;
    /* The repeats are copied out before the lines are moved. */
    emit_header(&u->dup, &u->keys);
    if (u->dup.out && b->n)
        emit_lines(&u->dup, b, true, false);
}

static bool decide(void *ctx, batch *b, unsigned part)
{
    pass *w = ctx;
    work *k = b->own;
    (void)part;
    if (w->u->saves && !w->enough && !kit_stopped && checkpoint_due(w->u->saves)) {
        feed_wait_written(w->f);
        checkpoint_save(w->u->saves);
    }
    size_t taken = w->enough || kit_stopped ? 0 : add_batch(w->u, b, &w->r, &w->losses);
    k->last = taken < b->n && !w->enough && !kit_stopped;
    cut_short(w, b, taken);
    note(w->u, b, named_bytes(w->u->seen));
    return !w->enough;
}

static void sort_shards(void *ctx, batch *b)
{
    (void)ctx;
    work *k = b->own;
    shards_sort(&k->order, b);
}

/* The first shard decides for all whether B counts. */
static bool decide_shard(void *ctx, batch *b, unsigned part)
{
    pass *w = ctx;
    work *k = b->own;
    if (part == 0)
        cut_short(w, b, w->enough || kit_stopped ? 0 : b->n);
    if (b->n)
        shards_add(w->u->shards, &k->order, part, b->dup);
    if (part == SHARDS - 1)
        note(w->u, b, shards_bytes(w->u->shards));
    return part || !w->enough;
}

static void pack(void *ctx, batch *b)
{
    work *k = b->own;
    k->packed = emit_pack(b, ((pass *)ctx)->u->repeated);
}

static void write_out(void *ctx, batch *b)
{
    pass *w = ctx;
    work *k = b->own;
    uniq *u = w->u;
    emit_header(&u->out, &u->keys);
    emit_packed(&u->out, &k->packed);
    if (u->after_print && !kit_output_replaces(u->out.out))
        after_print_record(u->after_print, u->seen);
    if (k->last)
        kit_die("stopped before line %llu: more than %s distinct lines might be "
                "lost (give a larger -n or -m, or a smaller -e)",
                (unsigned long long)k->lines + 1, kit_counted((uint64_t)u->max_lost));
    feed_progress(w->f, k->lines, u->repeated ? k->lines - u->out.lines : u->out.lines,
                  k->memory);
}

static const feed_steps steps = {NULL, 1, decide, pack, write_out};
static const feed_steps shard_steps = {sort_shards, SHARDS, decide_shard, pack,
                                       write_out};

static void free_work(void *own)
{
    shard_order_free(&((work *)own)->order);
}

/* Computes the memory and losses of the run from the filter it ended with. */
static void sum_up(uniq *u)
{
    if (u->shards) {
        u->memory = shards_bytes(u->shards);
        u->lost = shards_lost(u->shards);
        u->error = shards_error(u->shards);
        u->kind = seen_kind_name(SEEN_SET);
        return;
    }
    u->memory =
        named_bytes(u->seen) + (u->after_print ? after_print_bytes(u->after_print) : 0);
    for (size_t i = 0; i < u->nagainst; i++)
        u->memory += named_bytes(u->against[i]);
    u->lost = named_lost(u->seen) - u->lost_base;
    if (!u->seen->filter) {
        u->kind = u->seen->ops->kind;
        return;
    }
    u->kind = seen_kind_name(seen_kind_of(u->seen->filter));
    u->error = seen_error_predicted(u->seen->filter);
    if (u->error > 0.05 && !u->state_name) {
        /* So full that few new keys are still counted; but all of them set bits. */
        seen_stats st;
        seen_get_stats(u->seen->filter, &st);
        double more = st.keys_estimate - (double)st.added - u->short_base;
        u->error = st.error_now;
        u->lost = more > u->lost ? more : u->lost;
    }
    named_lost_range(u->seen, named_lost(u->seen) - u->lost, &u->lost_low,
                     &u->lost_high);
}

void uniq_one_pass(uniq *u)
{
    feed_spec spec = {.files = u->files,
                      .nfiles = u->nfiles,
                      .keys = u->keys,
                      .hash = u->shards || u->seen->hashes,
                      .threads = u->threads,
                      .steps = true,
                      .own_size = sizeof(work),
                      .own_free = free_work};
    if (u->shards)
        spec.hasher = *shards_hasher(u->shards);
    else if (spec.hash)
        seen_get_hasher(u->seen->filter, &spec.hasher);
    pass w = {.u = u, .f = feed_open(&spec)};
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
