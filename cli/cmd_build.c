/* cmd_build.c - `seen build`: the smallest filter, from all its keys at once. */
#include "commands.h"
#include "lines/feed.h"
#include "progress.h"
#include "messages.h"
#include "seed.h"
#include "human_numbers.h"
#include "filters/sizing.h"
#include "filters/named_filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { OPT_WORK = 300, OPT_TMP, OPT_SEED, OPT_STATS };

static const kit_option options[] = {
    {'e', "error", "P",
     "Probability of a false positive (0.001, 0.1%, 1/1000) [0.01 without -m].",
     .brief = "allow this share of false positives [0.01]"},
    {'m', "memory", "SIZE",
     "The smallest error that fits into a file of SIZE (500MB is 500,000,000 bytes, "
     "500M is 500 times 2^20).",
     .brief = "the smallest error in a file of SIZE"},
    {'n', "expect", "N",
     "Expect N lines: a disk that is too small is then reported at once, not after an "
     "hour."},
    {OPT_WORK, "work", "SIZE", "Memory to work with, at least 64M [1G]."},
    {OPT_TMP, "tmp", "FOLDER",
     "Folder for keys that do not fit into that memory, eight bytes each [$TMPDIR, or "
     "/tmp]."},
    {OPT_SEED, "seed", "N", "Seed of the hash, instead of a fresh random one."},
    KEY_OPTIONS,
    THREAD_OPTION,
    {'f', "force", NULL, "Replace FILTER if it exists.",
     .brief = "replace FILTER"},
    FILE_OPTIONS,
    {OPT_STATS, "stats", NULL,
     "At the end print on standard error what was built and what it took."},
    {'q', "quiet", NULL, "Show no progress on a terminal."},
    {0},
};

typedef struct job {
    keyspec keys;
    seen_build_spec spec;
    const char *name;
    named_target target;
    char *const *files;
    size_t nfiles;
    unsigned threads;
    bool stats, quiet;

    feed *input;
    uint64_t lines;
} job;

static int show(void *ctx, const seen_build_progress *p)
{
    const job *j = ctx;
    char text[160], a[32], b[32], c[32];
    if (!kit_progress_due())
        return 0;
    if (p->phase == SEEN_BUILD_TAKING)
        snprintf(text, sizeof text, "%s lines, %s read, %s set aside",
                 kit_show_count(p->keys, c),
                 kit_show_bytes((double)kit_lines_taken(feed_lines(j->input)), a),
                 kit_show_bytes((double)p->temporary, b));
    else
        snprintf(text, sizeof text, "solving, %.1f%% of %s lines",
                 100.0 * (double)p->done / (double)(p->of ? p->of : 1),
                 kit_show_count(p->of, a));
    kit_progress_text(text);
    return 0;
}

static void tell(const seen_filter *f, uint64_t lines, const char *name)
{
    char a[32], b[32], c[32];
    fprintf(stderr,
            "%s lines, %s distinct keys, %s in %s: %.3f bits a key, error %.4g\n",
            kit_show_count(lines, a), kit_show_count(seen_added(f), b),
            kit_show_bytes((double)seen_bytes(f), c), name,
            seen_added(f) ? 8.0 * (double)seen_bytes(f) / (double)seen_added(f) : 0,
            seen_error_predicted(f));
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    double cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
    fprintf(stderr, "%.1f s of processor time, %.0f ns a line; at most %s of memory\n",
            cpu, lines ? cpu * 1e9 / (double)lines : 0,
            kit_show_bytes((double)u.ru_maxrss * 1024, a));
}

static void parse(job *j, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen build", self, argc, argv);
    sizing z = {0};
    bool force = false;
    for (int o; (o = kit_next(&p));) {
        if (keyspec_option(&j->keys, &p, o) || thread_option(&j->threads, &p, o) ||
            sizing_option(&z, &p, o) || file_option(&p, o))
            continue;
        switch (o) {
        case OPT_WORK:
            if (!kit_parse_bytes(p.arg, &j->spec.work))
                kit_bad_value(&p, o, "a size, such as 1G");
            break;
        case OPT_TMP:
            j->spec.tmp = p.arg;
            break;
        case OPT_SEED:
            if (!kit_parse_seed(p.arg, &j->spec.seed))
                kit_bad_value(&p, o, "a number from 1 to 2^64-1");
            break;
        case 'f':
            force = true;
            break;
        case OPT_STATS:
            j->stats = true;
            break;
        case 'q':
            j->quiet = true;
            break;
        }
    }
    if (p.at == argc)
        kit_usage(&p, "which FILTER to build?");
    if (z.memory && z.error > 0)
        kit_usage(&p, "-e and -m both decide the size: give one of them");
    j->name = argv[p.at++];
    j->files = argv + p.at;
    j->nfiles = (size_t)(argc - p.at);
    j->spec.error = z.error;
    j->spec.memory = z.memory;
    j->spec.keys = z.keys;
    j->target = named_claim(j->name, force);
    const char *bad = kit_lines_check(j->files, j->nfiles);
    if (bad)
        kit_die("%s", bad);
}

static seen_filter *build(job *j)
{
    seen_builder *b;
    seen_filter *f;
    j->spec.threads = j->threads;
    j->spec.progress = show;
    j->spec.ctx = j;
    seen_hasher hasher = kit_new_hasher(j->spec.seed);
    j->spec.seed = 0;
    j->spec.hasher = &hasher;
    if (seen_builder_new(&j->spec, &b) < 0)
        kit_die("%s", seen_reason());
    feed_spec in = {.files = j->files,
                    .nfiles = j->nfiles,
                    .keys = j->keys,
                    .hash = true,
                    .hasher = hasher,
                    .threads = j->threads};
    j->input = feed_open(&in);
    kit_progress_start_silent(j->quiet);
    for (batch *t; (t = feed_next(j->input)); feed_done(j->input, t)) {
        j->lines += t->n;
        if (seen_builder_add_hashes(b, t->hash, t->n) < 0)
            kit_die("%s", seen_reason());
    }
    if (seen_builder_finish(b, &f) < 0)
        kit_die("%s", seen_reason());
    kit_progress_end();
    seen_set_keys(f, SEEN_KEYS_TEXT);
    seen_builder_free(b);
    feed_close(j->input);
    return f;
}

static int build_main(const kit_command *self, int argc, char **argv)
{
    job j = {.keys = KEYSPEC_INIT};
    parse(&j, self, argc, argv);
    seen_filter *f = build(&j);
    named_fulfil(&j.target, f);
    if (j.stats)
        tell(f, j.lines, j.name);
    seen_free(f);
    return 0;
}

const kit_command cmd_build = {
    .name = "build",
    .summary = "build the smallest filter, which then never changes",
    .usage = "[OPTION]... FILTER [FILE]...",
    .about =
        "Builds FILTER from the lines of the FILEs, or of standard input: a ribbon, "
        "which at whole bits is within one percent of the smallest size that theory "
        "allows for its error (two bits a key for one false positive in four, eight "
        "for one in 256). Every command can ask it, but no key can be added "
        "later.\n\n"
        "There may be any number of lines, and repeats. Eight bytes of each are kept, "
        "in memory or in a nameless temporary file, and solved in pieces on all "
        "processors. FILTER is written whole at the end; any failure before that "
        "leaves the old file as it was and no other file behind.",
    .options = options,
    .examples = "# A list of refused addresses, one false positive in a thousand\n"
                "$ seen build -e 0.001 refused.seen blocked.txt\n"
                "# The best that fits into a megabyte\n"
                "$ seen build -f -m 1MB refused.seen blocked.txt\n",
    .run = build_main,
};
