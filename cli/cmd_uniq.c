/* cmd_uniq.c - `seen uniq`: each distinct line once, in order, in little memory.
 *
 * Nothing that was read may get lost: a line is remembered in the state only after it
 * was written out, files are replaced only when they are whole, and whatever fails
 * says so with status 2. */
#include "budget.h"
#include "commands.h"
#include "json.h"
#include "progress.h"
#include "say.h"
#include "size.h"
#include "source.h"
#include "store_remote.h"
#include "uniq.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_AGAINST = 300, OPT_STATS, OPT_JSON, OPT_MAX_LOST, OPT_PRINT_FIRST };

/* A set that begins with this many doubles through powers of two, which waste least of
 * a last huge page. */
enum { FIRST_KEYS = 8191 * 7, LEAST_MEMORY = 4096 };

static const kit_option options[] = {
    {'s', "state", "FILE",
     "Remember the lines in FILE across runs; it is created when missing. A killed run "
     "may repeat lines next time but never loses one. Sizes (-n, -e, -m) count when it "
     "is created."},
    OPTION_REDIS("Remember the lines in a filter"),
    OPTION_REDIS_MODULE,
    {OPT_PRINT_FIRST, "print-first", NULL,
     "With --redis: ask, print, and only then record, so that a killed run may repeat "
     "lines next time but never loses one. Others who ask meanwhile may print the same "
     "line; without this option exactly one does."},
    {'x', "exact", NULL,
     "Compare bytes wherever a hash says 'seen', so that no distinct line is ever "
     "dropped. Reads files twice, or three times if they are larger than half of the "
     "machine's memory, and copies pipes to TMPDIR."},
    {'e', "error", "P",
     "Take a filter that drops a new line with probability at most P (0.001, 0.1%), in "
     "a few bits a line, instead of 64-bit fingerprints."},
    OPTION_EXPECT,
    {'m', "memory", "SIZE",
     "Stay within SIZE (64M, 1G). With -n, the best filter for N lines; without, "
     "fingerprints until they reach SIZE, then, with a warning, the best filter that "
     "fits."},
    {OPT_MAX_LOST, "max-lost", "N",
     "Stop with an error before more than N distinct lines are expected to be lost."},
    {'d', "repeated", NULL, "Print only lines seen before, each time."},
    {'D', "repeated-to", "FILE", "Write the lines seen before to FILE as well."},
    {OPT_AGAINST, "against", "FILE",
     "Treat what is in FILE, a filter or a list of keys, as seen before; FILE stays as "
     "it is. May be given several times."},
    KEY_OPTIONS,
    {'o', "output", "FILE",
     "Write to FILE, which is replaced when all is done; it may be one of the inputs."},
    THREAD_OPTION,
    {OPT_STATS, "stats", NULL,
     "At the end tell on standard error: lines in and out, expected losses, memory."},
    {OPT_JSON, "json", NULL, "The same as JSON, with kind and error."},
    {'q', "quiet", NULL, "No progress on a terminal and no warnings."},
    {0},
};

/* ---- setting up ------------------------------------------------------------------ */

static void parse(uniq *u, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen uniq", self, argc, argv);
    uint64_t n;
    for (int o; (o = kit_next(&p));) {
        if (remote_option(o, p.arg, &u->state_name) ||
            keyspec_option(&u->keys, &p, o) || sizing_option(&u->size, &p, o) ||
            thread_option(&u->threads, &p, o))
            continue;
        switch (o) {
        case 's':
            u->state_name = p.arg;
            break;
        case 'x':
            u->exact = true;
            break;
        case 'd':
            u->repeated = true;
            break;
        case 'D':
            u->dup_name = p.arg;
            break;
        case 'o':
            u->out_name = p.arg;
            break;
        case 'q':
            u->quiet = true;
            break;
        case OPT_STATS:
            u->stats = true;
            break;
        case OPT_JSON:
            u->json = true;
            break;
        case OPT_PRINT_FIRST:
            u->print_first = true;
            break;
        case OPT_AGAINST:
            u->against_name =
                kit_grow(u->against_name, u->nagainst + 1, sizeof(char *));
            u->against_name[u->nagainst++] = (char *)p.arg;
            break;
        case OPT_MAX_LOST:
            if (strcmp(p.arg, "0") == 0)
                u->max_lost = 0;
            else if (kit_parse_count(p.arg, &n))
                u->max_lost = (double)n;
            else
                kit_bad_value(&p, o, "a number of lines");
            break;
        }
    }
    u->files = argv + p.at;
    u->nfiles = (size_t)(argc - p.at);
    if (u->exact && u->state_name)
        kit_usage(&p, "-x needs the lines themselves, which a state does not keep: "
                      "leave out -x or --state");
    if (u->exact && (u->size.error > 0 || u->max_lost >= 0))
        kit_usage(&p, "-x loses nothing: leave out -e and --max-lost");
    if (u->print_first && !(u->state_name && remote_is_url(u->state_name)))
        kit_usage(&p, "--print-first is for --redis: all else prints first anyway");
    if (u->print_first && u->repeated)
        kit_usage(&p, "--print-first is about new lines, which -d does not print");
    if (u->size.error > 0 && u->size.memory)
        kit_usage(&p, "-e and -m both decide the size: give one of them");
    if (u->size.memory && u->size.memory < LEAST_MEMORY)
        kit_die("--memory: %llu bytes are too few, %d is the least",
                (unsigned long long)u->size.memory, LEAST_MEMORY);
    /* Each is put in its place whole, so the last would be all that remains. */
    const struct {
        const char *option, *name;
    } made[] = {{"-o", u->out_name}, {"-D", u->dup_name}, {"--state", u->state_name}};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < i; j++)
            if (made[i].name && made[j].name &&
                kit_output_same(made[i].name, made[j].name))
                kit_die("%s and %s are one file, %s: give them different ones",
                        made[j].option, made[i].option, made[i].name);
}

static void on_signal(int sig)
{
    kit_stop(sig);
}

/* A run that would leave a state or a file behind ends at a line, not in one. */
static void catch_signals(void)
{
    static const int which[] = {SIGINT, SIGTERM, SIGHUP};
    kit_stop_ready();
    for (size_t i = 0; i < 3; i++) {
        struct sigaction a = {.sa_handler = on_signal}, before;
        sigaction(which[i], NULL, &before);
        if (before.sa_handler != SIG_IGN)
            sigaction(which[i], &a, NULL);
    }
}

static seen_filter *new_filter(const uniq *u)
{
    const sizing *z = &u->size;
    seen_spec spec = {.kind = SEEN_SET, .keys = z->keys};
    if (!spec.keys)
        spec.keys = FIRST_KEYS;
    if (z->error > 0) {
        spec.keys = z->keys;
        spec.kind = z->kind;
        spec.error = z->error;
    } else if (z->memory) {
        spec = budget_spec(z->memory, z->keys);
    }
    return sizing_make(&spec);
}

/* A list of keys becomes a set with SEED, so that one hash serves both; with a seed of
 * its own if SEED is 0. */
static store *open_list(const uniq *u, const char *name, uint64_t seed)
{
    char *const files[] = {(char *)name};
    feed_spec spec = {.files = files, .nfiles = 1, .keys = u->keys, .hash = true};
    spec.keys.field = 0; /* each line of a list is a key */
    spec.keys.csv = false;
    seen_spec set = {.kind = SEEN_SET, .seed = seed};
    store *s = kit_alloc(sizeof *s);
    *s = (store){.name = name, .filter = sizing_make(&set), .hashes = true, .lock = -1};
    spec.seed = seen_seed(s->filter);
    feed *f = feed_open(&spec);
    for (batch *b; (b = feed_next(f)); feed_done(f, b))
        store_add(s, b->key, b->hash, b->n, b->dup);
    feed_close(f);
    return s;
}

/* Fingerprints in memory and nothing else that would have to be asked in order. */
static bool may_shard(const uniq *u)
{
    return u->threads > 1 && !u->state_name && !u->nagainst && !(u->size.error > 0) &&
           !u->size.memory && u->max_lost < 0;
}

static void open_filters(uniq *u)
{
    if (may_shard(u)) {
        u->shards = shards_new(u->size.keys);
        return;
    }
    if (u->state_name) {
        u->seen = store_open(u->state_name, STORE_CHANGE | STORE_MAY_MAKE);
    } else {
        u->seen = kit_alloc(sizeof *u->seen);
        *u->seen = (store){.lock = -1};
    }
    if (!u->seen->filter && !u->seen->ops) {
        u->seen->filter = new_filter(u);
        u->seen->hashes = true;
    } else if (u->seen->filter) {
        seen_kind kind = seen_kind_of(u->seen->filter);
        if (!(seen_kind_can(kind) & SEEN_CAN_ADD) && kind != SEEN_FOREIGN)
            kit_die("%s: a %s filter cannot take new lines", u->state_name,
                    seen_kind_name(kind));
    }
    u->lost_base = store_lost(u->seen);
    uint64_t seed = u->seen->hashes ? seen_seed(u->seen->filter) : 0;
    u->against = kit_alloc(u->nagainst * sizeof *u->against);
    for (size_t i = 0; i < u->nagainst; i++) {
        store *s = store_open_if_filter(u->against_name[i]);
        if (!s)
            s = open_list(u, u->against_name[i], seed);
        else if (s->hashes)
            s->hashes = u->seen->hashes && seen_seed(s->filter) == seed;
        u->against[i] = s;
    }
}

/* ---- the run --------------------------------------------------------------------- */

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

/* A server's filter hears of lines at once, unless they are to be printed first. A file
 * that is replaced at the end prints nothing before that, so then it is so in any case.
 */
static void put_off(uniq *u)
{
    bool file = kit_output_replaces(u->out.out);
    if (!u->seen || !u->seen->ops || u->repeated || !(u->print_first || file))
        return;
    u->later = later_new(!file);
    u->threads = 1; /* a batch is recorded before the next is asked for */
}

/* The lines of the file that is now in place, to a filter that was put off. */
static void record_file(uniq *u)
{
    char *const files[] = {(char *)u->out_name};
    feed_spec spec = {.files = files, .nfiles = 1, .keys = u->keys, .raw = true};
    feed *f = feed_open(&spec);
    for (batch *b; (b = feed_next(f)); feed_done(f, b))
        store_add(u->seen, b->key, NULL, b->n, b->dup);
    feed_close(f);
}

static void run(uniq *u)
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

void uniq_report(const uniq *u)
{
    char size[24];
    uint64_t distinct = u->repeated ? u->lines - u->out.lines : u->out.lines;
    if (u->json) {
        kit_json j = {.to = stderr};
        kit_json_open(&j, NULL, '{');
        kit_json_count(&j, "lines", u->lines);
        kit_json_count(&j, "distinct", distinct);
        kit_json_count(&j, "duplicates", u->lines - distinct);
        kit_json_count(&j, "printed", u->out.lines);
        if (u->keys.field)
            kit_json_count(&j, "without_key", u->missing);
        kit_json_text(&j, "kind", u->kind);
        kit_json_count(&j, "memory", u->memory);
        kit_json_real(&j, "error", u->error);
        kit_json_real(&j, "expected_lost", u->lost);
        kit_json_close(&j, '}');
    } else if (u->stats) {
        fprintf(stderr, "%llu in, %llu out, expected lost %.*g, %s\n",
                (unsigned long long)u->lines, (unsigned long long)u->out.lines,
                u->lost < 10 ? 2 : 6, u->lost < 10 ? u->lost : floor(u->lost + 0.5),
                kit_show_bytes((double)u->memory, size));
        if (u->missing)
            fprintf(stderr, "%llu lines had no field %llu: their key is empty\n",
                    (unsigned long long)u->missing, (unsigned long long)u->keys.field);
    }
}

static int uniq_main(const kit_command *self, int argc, char **argv)
{
    uniq u = {.keys = KEYSPEC_INIT, .max_lost = -1};
    parse(&u, self, argc, argv);
    const char *bad = kit_lines_check(u.files, u.nfiles);
    if (bad)
        kit_die("%s", bad);
    if (u.state_name || u.out_name || u.dup_name)
        catch_signals();
    if (!u.exact)
        open_filters(&u);
    u.out = sink_open(u.out_name, u.keys.term);
    if (u.dup_name)
        u.dup = sink_open(u.dup_name, u.keys.term);
    if (u.exact)
        uniq_exact(&u);
    else {
        put_off(&u);
        run(&u);
    }

    /* The order that loses nothing: lines out, files in place, then the state. A run
     * that was stopped keeps what it has printed, but replaces no file by a part. */
    bool files = u.out_name || u.dup_name;
    if (!kit_stopped || !files) {
        sink_finish(&u.dup, u.state_name != NULL);
        sink_finish(&u.out, u.state_name != NULL);
        sink_commit(&u.dup);
        sink_commit(&u.out);
        if (u.later && kit_output_replaces(u.out.out))
            record_file(&u);
        if (u.state_name)
            store_save(u.seen);
    }
    uniq_report(&u);
    sink_close(&u.out);
    sink_close(&u.dup);
    later_free(u.later);
    store_close(u.seen);
    shards_free(u.shards);
    for (size_t i = 0; i < u.nagainst && u.against; i++)
        store_close(u.against[i]);
    free(u.against);
    free(u.against_name);
    if (kit_stopped) {
        signal(kit_stopped, SIG_DFL);
        raise(kit_stopped);
    }
    return 0;
}

const kit_command cmd_uniq = {
    .name = "uniq",
    .summary = "drop the lines already seen, keep the order",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Prints each distinct line of the FILEs, or of standard input, once: its first "
        "occurrence, in order. Files packed with gzip or zstd are unpacked. Lines may "
        "have any length and hold any bytes.\n\n"
        "By default a 64-bit fingerprint of each line is kept, 9 to 18 bytes: the "
        "chance "
        "that even one line of a billion is dropped wrongly is 3 in 100. With -e a "
        "filter takes a few bits a line instead, and --stats tells how many lines it "
        "is "
        "expected to have lost. With -x nothing is ever lost.",
    .options = options,
    .examples = "# Visited pages once each, in order of the first visit\n"
                "$ seen uniq urls.txt\n"
                "# Only what is new since the last run\n"
                "$ seen uniq --state visited.seen urls.txt\n"
                "# Twenty million lines in some 40 MB, with the losses told\n"
                "$ seen uniq -e 0.001 -n 20M --stats urls.txt\n"
                "# The first request of each client in a packed log\n"
                "$ seen uniq -k 1 access.log.gz\n"
                "# In place\n"
                "$ seen uniq -x -o urls.txt urls.txt\n",
    .run = uniq_main,
};
