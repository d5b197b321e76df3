/* cmd_count.c - `seen count`: distinct values, in all or in each group.
 *
 * One filter serves all groups: the hash of a value is seeded with the hash of its
 * group, so the same visitor on two days is two keys. A group costs only its name. */
#include "commands.h"
#include "uniq/emit.h"
#include "json.h"
#include "progress.h"
#include "say.h"
#include "seed.h"
#include "human_numbers.h"
#include "sizing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 300 };

static const kit_option options[] = {
    KEY_OPTIONS,
    {'b', "by", "N", "Count separately for each value of field N, such as the day."},
    {'w', "width", "N",
     "Only the first N bytes of that field count: 10 of "
     "2026-11-15T05:58:52 are the day."},
    OPTION_ERROR,
    OPTION_EXPECT,
    {OPT_JSON, "json", NULL, "As JSON, with the error."},
    THREAD_OPTION,
    {'q', "quiet", NULL, "No progress on a terminal, no word about the error."},
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

static void report(const groups *g, const seen_filter *f, uint64_t lines, bool json,
                   bool quiet, bool by)
{
    /* What the filter is expected to have lost is put back, in proportion. */
    uint64_t added = seen_added(f);
    double lost = seen_lost_expected(f);
    double scale = added ? 1 + lost / (double)added : 1;
    double sigma = added ? sqrt(lost) / ((double)added + lost) : 0;
    if (json) {
        kit_json j = {.to = stdout};
        kit_json_open(&j, NULL, '{');
        kit_json_count(&j, "lines", lines);
        kit_json_count(&j, "distinct", (uint64_t)((double)added * scale + 0.5));
        kit_json_text(&j, "kind", seen_kind_name(seen_kind_of(f)));
        kit_json_count(&j, "memory", seen_bytes(f));
        kit_json_real(&j, "expected_lost", lost);
        kit_json_real(&j, "relative_error", sigma);
        if (by) {
            kit_json_open(&j, "groups", '[');
            for (size_t i = 0; i < g->n; i++) {
                kit_json_open(&j, NULL, '{');
                kit_json_bytes(&j, "value", g->all[i].name, g->all[i].len);
                kit_json_count(&j, "lines", g->all[i].lines);
                kit_json_count(&j, "distinct",
                               (uint64_t)((double)g->all[i].count * scale + 0.5));
                kit_json_close(&j, '}');
            }
            kit_json_close(&j, ']');
        }
        kit_json_close(&j, '}');
        return;
    }
    if (by)
        for (size_t i = 0; i < g->n; i++) {
            fwrite(g->all[i].name, 1, g->all[i].len, stdout);
            printf("\t%" PRIu64 "\n",
                   (uint64_t)((double)g->all[i].count * scale + 0.5));
        }
    else
        printf("%" PRIu64 "\n", (uint64_t)((double)added * scale + 0.5));
    if (quiet)
        return;
    kit_stdout_flush();
    if (lost < 1e-12)
        kit_warn("exact");
    else if (lost < 0.5)
        kit_warn("exact, but for a chance of %.1g", lost);
    else
        kit_warn("%.0f of %" PRIu64
                 " were expected lost and are put back in the counts; "
                 "standard error of the total %.2g%%",
                 lost, added, 100 * sigma);
}

static int count_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen count", self, argc, argv);
    keyspec keys = KEYSPEC_INIT;
    sizing z = {0};
    uint64_t by = 0, width = 0;
    unsigned threads = 0;
    bool json = false, quiet = false;
    for (int o; (o = kit_next(&p));) {
        if (keyspec_option(&keys, &p, o) || sizing_option(&z, &p, o) ||
            thread_option(&threads, &p, o))
            continue;
        if (o == 'b' && !kit_parse_count(p.arg, &by))
            kit_bad_value(&p, o, "a field number from 1 on");
        if (o == 'w' && !kit_parse_count(p.arg, &width))
            kit_bad_value(&p, o, "a number of bytes");
        if (o == OPT_JSON)
            json = true;
        if (o == 'q')
            quiet = true;
    }
    if (width && !by)
        kit_usage(&p, "-w is about the field of --by, which is not given");
    seen_spec spec = {.kind = z.error > 0 ? SEEN_AUTO : SEEN_SET,
                      .keys = z.keys,
                      .error = z.error,
                      .seed = kit_new_seed()};
    seen_filter *filter = sizing_make(&spec);
    feed_spec in = {.files = argv + p.at,
                    .nfiles = (size_t)(argc - p.at),
                    .keys = keys,
                    .hash = !by,
                    .seed = spec.seed,
                    .threads = threads};
    feed *f = feed_open(&in);
    keyspec name_of = {
        .field = by, .separator = keys.separator, .term = keys.term, .csv = keys.csv};
    groups g = {0};
    arena words = {0};
    uint64_t *hash = NULL, lines = 0, missing = 0;
    uint32_t *which = NULL;
    size_t room = 0;
    kit_progress_start(quiet);
    for (batch *b; (b = feed_next(f)); feed_done(f, b)) {
        lines += b->n;
        if (by && b->n > room) {
            room = b->n;
            hash = kit_grow(hash, room, sizeof *hash);
            which = kit_grow(which, room, sizeof *which);
        }
        arena_reset(&words);
        for (size_t i = 0; by && i < b->n; i++) {
            seen_key name = keyspec_key(&name_of, &words, b->line[i], &missing);
            if (width && name.len > width)
                name.len = width;
            uint64_t h = seen_hash_seeded(spec.seed, name.data, name.len);
            group *x = find_group(&g, h, name);
            which[i] = (uint32_t)(x - g.all);
            hash[i] = seen_hash_seeded(h, b->key[i].data, b->key[i].len);
        }
        if (seen_add_hashes(filter, by ? hash : b->hash, b->n, b->dup) < b->n)
            kit_die("%s", seen_reason());
        for (size_t i = 0; by && i < b->n; i++) {
            g.all[which[i]].lines++;
            g.all[which[i]].count += !b->dup[i];
        }
        if (kit_progress_due())
            kit_progress_show(&(kit_progress){.taken = kit_lines_taken(feed_lines(f)),
                                              .total = kit_lines_total(feed_lines(f)),
                                              .lines = lines,
                                              .distinct = seen_added(filter),
                                              .memory = seen_bytes(filter)});
    }
    kit_progress_end();
    feed_close(f);
    report(&g, filter, lines, json, quiet, by != 0);
    for (size_t i = 0; i < g.n; i++)
        free(g.all[i].name);
    free(g.all);
    free(g.slot);
    free(hash);
    free(which);
    arena_free(&words);
    seen_free(filter);
    return 0;
}

const kit_command cmd_count = {
    .name = "count",
    .summary = "count distinct values, in all or for each day",
    .usage = "[OPTION]... [FILE]...",
    .about =
        "Prints how many distinct lines, or with -k distinct values of a field, there "
        "are; with -b, for each value of another field, in the order in which they "
        "first occur. A word about the error goes to standard error.",
    .options = options,
    .examples =
        "# How many different addresses\n"
        "$ seen count urls.txt\n"
        "# Daily unique visitors: field 2 is the visitor, the day is in field 1\n"
        "$ seen count -k 2 -b 1 -w 10 visits.log\n",
    .run = count_main,
};
