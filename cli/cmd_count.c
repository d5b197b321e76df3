/* cmd_count.c - `seen count`: counts distinct values, in all or in each group. What
 * sketches answer is in count_sketch.h.
 *
 * One filter serves all groups: what is added is a hash of the value and of its
 * group, so the same visitor on two days is two keys. A group costs only its name. */
#include "commands.h"
#include "count_sketch.h"
#include "lines/emit.h"
#include "json.h"
#include "progress.h"
#include "messages.h"
#include "seed.h"
#include "human_numbers.h"
#include "filters/named_filter.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 300, OPT_TOP, OPT_QUANTILES };

static const kit_option options[] = {
    KEY_OPTIONS,
    {'b', "by", "N", "Count separately for each value of field N, such as the day.",
     .brief = "count for each value of field N"},
    {'w', "width", "N",
     "Use only the first N bytes of that field: 10 of 2026-11-15T05:58:52 are the "
     "day."},
    {OPT_TOP, "top", "N",
     "Print the N most frequent values instead, each after the least and the most it "
     "can have occurred.",
     .brief = "the N most frequent instead"},
    {OPT_QUANTILES, "quantiles", "[LIST]",
     "Values are numbers: print their quantiles instead, those of LIST (0.5,99%) or "
     "the "
     "usual ones.",
     .brief = "quantiles of numbers instead"},
    OPTION_ERROR,
    OPTION_EXPECT,
    OPTION_NO_SCRATCH,
    {'m', "memory", "SIZE",
     "Use at most SIZE, however many values come: 16K gives a standard error of 0.8%. "
     "The values of --top are kept in addition.",
     .brief = "use at most SIZE"},
    {OPT_JSON, "json", NULL, "Print JSON, with the error.",
     .brief = "print JSON"},
    THREAD_OPTION,
    {'q', "quiet", NULL, "Show neither progress nor the error."},
    {0},
};

typedef struct group {
    char *name;
    size_t len;
    uint64_t hash, count, lines;
} group;

typedef struct groups {
    group *all; /* in the order of their first lines */
    size_t n, room;
    uint32_t *slot; /* number + 1 of a group, 0 if empty */
    size_t slots;
} groups;

static void grow_slots(groups *g)
{
    size_t slots = g->slots ? g->slots * 2 : 256;
    free(g->slot);
    g->slot = kit_alloc(slots * sizeof *g->slot);
    g->slots = slots;
    for (size_t i = 0; i < g->n; i++) {
        size_t at = g->all[i].hash & (slots - 1);
        while (g->slot[at])
            at = (at + 1) & (slots - 1);
        g->slot[at] = (uint32_t)i + 1;
    }
}

static group *find_group(groups *g, uint64_t hash, seen_key name)
{
    if (g->n * 2 >= g->slots)
        grow_slots(g);
    size_t at = hash & (g->slots - 1);
    for (; g->slot[at]; at = (at + 1) & (g->slots - 1)) {
        group *x = g->all + g->slot[at] - 1;
        if (x->hash == hash && x->len == name.len &&
            !memcmp(x->name, name.data, name.len))
            return x;
    }
    if (g->n == UINT32_MAX - 1)
        kit_die("more than four billion groups");
    if (g->n == g->room) {
        g->room = g->room ? g->room * 2 : 256;
        g->all = kit_grow(g->all, g->room, sizeof *g->all);
    }
    group *x = g->all + g->n;
    *x = (group){.name = kit_alloc(name.len + 1), .len = name.len, .hash = hash};
    memcpy(x->name, name.data, name.len);
    g->slot[at] = (uint32_t)++g->n;
    return x;
}

static void free_groups(groups *g)
{
    for (size_t i = 0; i < g->n; i++)
        free(g->all[i].name);
    free(g->all);
    free(g->slot);
}

typedef struct job {
    keyspec keys;
    sizing size;
    uint64_t by, width; /* field of the group, and how much of it */
    char *const *files;
    size_t nfiles;
    unsigned threads;
    bool json, quiet;
    uint64_t top;
    bool quantiles;
    const char *quantile_list; /* NULL: the usual ones */

    seen_hasher hasher;
    uint64_t lines;
    named_filter *seen; /* what was counted */
    groups groups;
} job;

/* What the filter is expected to have lost is added to the counts, in proportion. */
typedef struct estimate {
    double lost, low, high; /* and the interval it lies in */
    double scale, sigma;
} estimate;

static uint64_t scaled(uint64_t count, const estimate *e)
{
    return (uint64_t)((double)count * e->scale + 0.5);
}

static void report_json(const job *j, const estimate *e)
{
    kit_json o = {.to = stdout};
    kit_json_open(&o, NULL, '{');
    kit_json_count(&o, "lines", j->lines);
    kit_json_count(&o, "distinct", scaled(named_added(j->seen), e));
    kit_json_text(&o, "kind", seen_kind_name(seen_kind_of(j->seen->filter)));
    kit_json_count(&o, "memory", named_bytes(j->seen));
    kit_json_real(&o, "expected_lost", e->lost);
    kit_json_count(&o, "lost_at_least", (uint64_t)e->low);
    kit_json_count(&o, "lost_at_most", (uint64_t)e->high);
    kit_json_real(&o, "relative_error", e->sigma);
    if (j->by) {
        kit_json_open(&o, "groups", '[');
        for (size_t i = 0; i < j->groups.n; i++) {
            const group *g = j->groups.all + i;
            kit_json_open(&o, NULL, '{');
            kit_json_bytes(&o, "value", g->name, g->len);
            kit_json_count(&o, "lines", g->lines);
            kit_json_count(&o, "distinct", scaled(g->count, e));
            kit_json_close(&o, '}');
        }
        kit_json_close(&o, ']');
    }
    kit_json_close(&o, '}');
}

static void report(const job *j)
{
    uint64_t added = named_added(j->seen);
    estimate e = {.lost = named_lost(j->seen), .scale = 1};
    named_lost_range(j->seen, 0, &e.low, &e.high);
    if (added) {
        e.scale = 1 + e.lost / (double)added;
        /* The interval is some six sigma wide. */
        e.sigma = fmax(sqrt(e.lost), (e.high - e.low) / 6) / ((double)added + e.lost);
    }
    if (j->json) {
        report_json(j, &e);
        return;
    }
    for (size_t i = 0; j->by && i < j->groups.n; i++) {
        const group *g = j->groups.all + i;
        fwrite(g->name, 1, g->len, stdout);
        printf("\t%" PRIu64 "\n", scaled(g->count, &e));
    }
    if (!j->by)
        printf("%" PRIu64 "\n", scaled(added, &e));
    if (j->quiet)
        return;
    kit_stdout_flush();
    if (e.lost < 1e-12)
        kit_warn("exact");
    else if (e.lost < 0.5)
        kit_warn("exact, but for a chance of %.1g", e.lost);
    else
        kit_warn("%s (%s to %s) of %s are expected to be lost and were added to the "
                 "counts; standard error of the total %.2g%%",
                 kit_counted((uint64_t)(e.lost + 0.5)), kit_counted((uint64_t)e.low),
                 kit_counted((uint64_t)e.high), kit_counted(added), 100 * e.sigma);
}

static void parse(job *j, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen count", self, argc, argv);
    for (int o; (o = kit_next(&p));) {
        if (keyspec_option(&j->keys, &p, o) || sizing_option(&j->size, &p, o) ||
            thread_option(&j->threads, &p, o))
            continue;
        if (o == 'b' && !kit_parse_count(p.arg, &j->by))
            kit_bad_value(&p, o, "a field number from 1 on");
        if (o == 'w' && !kit_parse_count(p.arg, &j->width))
            kit_bad_value(&p, o, "a number of bytes");
        if (o == OPT_TOP && (!kit_parse_count(p.arg, &j->top) || j->top > 1 << 24))
            kit_bad_value(&p, o, "a number of values, such as 20");
        if (o == OPT_QUANTILES) {
            double *q;
            j->quantiles = true;
            j->quantile_list = p.arg;
            if (!count_parse_quantiles(p.arg, &q))
                kit_bad_value(&p, o,
                              "a list of quantiles, such as 0.5,0.99 or "
                              "50%,99%");
            free(q);
        }
        if (o == OPT_JSON)
            j->json = true;
        if (o == 'q')
            j->quiet = true;
    }
    if (j->width && !j->by)
        kit_usage(&p, "-w shortens the field of --by: give --by too");
    bool memory = j->size.memory && !j->top;
    if (!!j->top + j->quantiles + memory > 1)
        kit_usage(&p, "--top, --quantiles and -m are different questions");
    if ((j->top || j->quantiles || memory) && (j->by || j->size.error > 0))
        kit_usage(&p, "-b and -e do not go with --top, --quantiles or -m");
    j->files = argv + p.at;
    j->nfiles = (size_t)(argc - p.at);
}

/* Room for the groups of a batch, and the hashes of its keys within them. */
typedef struct by_group {
    keyspec name; /* where the group's name is in a line */
    arena words;
    uint64_t *hash;
    uint32_t *group;
    size_t room;
} by_group;

static void hash_by_group(job *j, by_group *g, const batch *b)
{
    uint64_t missing = 0;
    if (b->n > g->room) {
        g->room = b->n;
        g->hash = kit_grow(g->hash, g->room, sizeof *g->hash);
        g->group = kit_grow(g->group, g->room, sizeof *g->group);
    }
    arena_reset(&g->words);
    for (size_t i = 0; i < b->n; i++) {
        seen_key name = keyspec_key(&g->name, &g->words, b->line[i], &missing);
        if (j->width && name.len > j->width)
            name.len = j->width;
        uint64_t both[2] = {
            seen_hasher_hash(&j->hasher, name.data, name.len),
            seen_hasher_hash(&j->hasher, b->key[i].data, b->key[i].len)};
        g->group[i] = (uint32_t)(find_group(&j->groups, both[0], name) - j->groups.all);
        g->hash[i] = seen_hasher_hash(&j->hasher, both, sizeof both);
    }
}

static feed_spec input_of(const job *j)
{
    return (feed_spec){.files = j->files,
                       .nfiles = j->nfiles,
                       .keys = j->keys,
                       .hash = !j->by && !j->quantiles,
                       .hasher = j->hasher,
                       .threads = j->threads};
}

uint64_t count_batches(const sketch_job *j, void (*take)(void *ctx, const batch *b),
                       void *ctx)
{
    uint64_t lines = 0;
    feed *in = feed_open(&j->input);
    kit_progress_start(j->quiet);
    for (batch *b; (b = feed_next(in)); feed_done(in, b)) {
        take(ctx, b);
        lines += b->n;
        feed_progress(in, lines, 0, 0);
    }
    kit_progress_end();
    feed_close(in);
    return lines;
}

static void count_lines(job *j)
{
    feed_spec spec = input_of(j);
    by_group g = {.name = {.field = j->by,
                           .separator = j->keys.separator,
                           .term = j->keys.term,
                           .csv = j->keys.csv}};
    feed *in = feed_open(&spec);
    kit_progress_start(j->quiet);
    for (batch *b; (b = feed_next(in)); feed_done(in, b)) {
        j->lines += b->n;
        if (j->by)
            hash_by_group(j, &g, b);
        named_add(j->seen, NULL, j->by ? g.hash : b->hash, b->n, b->dup);
        if (!j->quiet)
            sizing_say_ended(j->seen->scratch);
        for (size_t i = 0; j->by && i < b->n; i++) {
            j->groups.all[g.group[i]].lines++;
            j->groups.all[g.group[i]].count += !b->dup[i];
        }
        feed_progress(in, j->lines, named_added(j->seen), named_bytes(j->seen));
    }
    kit_progress_end();
    feed_close(in);
    arena_free(&g.words);
    free(g.hash);
    free(g.group);
}

static int count_main(const kit_command *self, int argc, char **argv)
{
    job j = {.keys = KEYSPEC_INIT, .hasher = kit_new_hasher(0)};
    parse(&j, self, argc, argv);
    if (j.top || j.quantiles || j.size.memory) {
        sketch_job s = {.input = input_of(&j),
                        .top = j.top,
                        .quantiles = j.quantile_list,
                        .memory = j.size.memory,
                        .json = j.json,
                        .quiet = j.quiet};
        s.seed = kit_new_seed();
        seen_hasher_init(&s.input.hasher, SEEN_HASH_XXH3, s.seed, 0);
        (j.top ? count_top : j.quantiles ? count_quantiles : count_within_memory)(&s);
        return 0;
    }
    seen_spec spec = {.kind = j.size.error > 0 ? SEEN_AUTO : SEEN_SET,
                      .keys = j.size.keys,
                      .error = j.size.error,
                      .hasher = &j.hasher};
    j.seen = kit_alloc(sizeof *j.seen);
    *j.seen = (named_filter){.lock = -1};
    named_make(j.seen, &j.size, &spec, false);
    count_lines(&j);
    report(&j);
    free_groups(&j.groups);
    named_close(j.seen);
    return 0;
}

const kit_command cmd_count = {
    .name = "count",
    .summary = "count distinct values, find the most frequent ones, or quantiles",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Prints the number of distinct lines, or with -k of distinct values of a "
        "field; "
        "with -b, one number for each value of another field, in the order in which "
        "the values first occur. Standard error says how exact it is.\n"
        "\n"
        "The options --top, --quantiles and -m take a stream of any length in a fixed "
        "amount of memory. The two counts that --top prints are bounds: the true one "
        "is "
        "between them. Every value that occurs more often than the message says is in "
        "the list.",
    .options = options,
    .examples =
        "# How many different addresses\n"
        "$ seen count urls.txt\n"
        "# Daily unique visitors: field 2 is the visitor, the day is in field 1\n"
        "$ seen count -k 2 -b 1 -w 10 visits.log\n"
        "# The visitors that come most often\n"
        "$ seen count --top 20 -k 2 visits.log\n"
        "# Median and tail of a column of numbers\n"
        "$ seen count --quantiles=50%,99% numbers.txt\n",
    .run = count_main,
};
