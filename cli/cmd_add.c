/* cmd_add.c - `seen add` and `seen rm`: adds keys to a filter, and removes them. */
#include "commands.h"
#include "lines/feed.h"
#include "filters/format.h"
#include "progress.h"
#include "messages.h"
#include "filters/named_filter.h"
#include "filters/remote_filter.h"
#include "human_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_STATS = 300 };

#define OPTION_STATS                                                                   \
    {                                                                                  \
        OPT_STATS, "stats", NULL, "At the end print the counts on standard error."     \
    }

static const kit_option add_options[] = {
    WORD_OPTION,
    FILE_OPTIONS,
    OPTION_REDIS("Instead of FILTER: use one"),
    OPTION_REDIS_MODULE,
    KEY_OPTIONS,
    OPTION_FORMAT,
    OPTION_FORCE_FORMAT,
    THREAD_OPTION,
    OPTION_STATS,
    {'q', "quiet", NULL, "Show no progress on a terminal."},
    {0},
};

static const kit_option rm_options[] = {
    WORD_OPTION,
    FILE_OPTIONS,
    KEY_OPTIONS,
    OPTION_FORMAT,
    OPTION_FORCE_FORMAT,
    OPTION_STATS,
    {'q', "quiet", NULL, "Show no progress on a terminal."},
    {0},
};

typedef struct job {
    keyspec keys;
    words words;
    const char *name; /* of the filter */
    char *const *files;
    size_t nfiles;
    unsigned threads;
    bool removes, stats, quiet;

    named_filter *f;
    uint64_t lines, changed;
    uint64_t forever; /* keys that cannot be removed */
} job;

static void parse(job *j, const kit_command *self, int argc, char **argv)
{
    kit_parse p =
        kit_parse_start(j->removes ? "seen rm" : "seen add", self, argc, argv);
    for (int o; (o = kit_next(&p));) {
        if (remote_option(&p, o, &j->name) || keyspec_option(&j->keys, &p, o) ||
            format_option(&p, o) || thread_option(&j->threads, &p, o) ||
            word_option(&j->words, &p, o) || file_option(&p, o))
            continue;
        if (o == 'q')
            j->quiet = true;
        if (o == OPT_STATS)
            j->stats = true;
    }
    if (p.at == argc && !j->name)
        kit_usage(&p, "which FILTER?");
    j->name = j->name ? j->name : argv[p.at++];
    j->files = argv + p.at;
    j->nfiles = (size_t)(argc - p.at);
    const char *bad = kit_lines_check(j->files, j->nfiles);
    if (bad)
        kit_die("%s", bad);
    if (j->words.n && j->nfiles)
        kit_usage(&p, "--word or FILEs, not both");
}

/* Adds or removes N keys; DUP is room for so many answers. */
static void change_keys(job *j, const seen_key *key, const uint64_t *hash, size_t n,
                        bool *dup)
{
    j->lines += n;
    if (!j->removes) {
        named_add(j->f, key, hash, n, dup);
        for (size_t i = 0; i < n; i++)
            j->changed += !dup[i];
        return;
    }
    if (j->f->ops) {
        if (!j->f->ops->remove)
            kit_die("%s: cannot remove keys", j->f->name);
        if (!j->f->ops->remove(j->f, key, n, dup))
            exit(2);
        for (size_t i = 0; i < n; i++)
            j->changed += dup[i];
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int rc = named_remove(j->f, key + i);
        if (rc == SEEN_EFOREVER) {
            if (!j->forever++)
                kit_warn("%s: %s", j->f->name, seen_reason());
        } else if (rc < 0) {
            named_die(j->f->name, rc);
        }
        j->changed += rc == 1;
    }
}

static void change_words(job *j)
{
    bool *dup = kit_alloc(j->words.n);
    arena spelled = {0};
    for (size_t i = 0; i < j->words.n; i++)
        j->words.key[i] = keyspec_bare(&j->keys, &spelled, j->words.key[i]);
    change_keys(j, j->words.key, NULL, j->words.n, dup);
    arena_free(&spelled);
    free(dup);
}

static void change_lines(job *j)
{
    feed_spec spec = {.files = j->files,
                      .nfiles = j->nfiles,
                      .keys = j->keys,
                      .hash = j->f->hashes && !j->removes,
                      .threads = j->threads};
    if (spec.hash)
        seen_get_hasher(j->f->filter, &spec.hasher);
    feed *in = feed_open(&spec);
    kit_progress_start(j->quiet);
    for (batch *b; (b = feed_next(in)); feed_done(in, b)) {
        change_keys(j, b->key, b->hash, b->n, b->dup);
        feed_progress(in, j->lines, j->changed, named_bytes(j->f));
    }
    kit_progress_end();
    feed_close(in);
}

static int change(const kit_command *self, int argc, char **argv, bool removes)
{
    job j = {.keys = KEYSPEC_INIT, .removes = removes};
    parse(&j, self, argc, argv);
    j.f = named_open(j.name, NAMED_CHANGE);
    j.keys.crlf |= named_drops_cr(j.f);
    uint64_t before = j.f->filter ? seen_added(j.f->filter) : 0;
    if (j.words.n)
        change_words(&j);
    else
        change_lines(&j);
    /* A cuckoo filter counts a key again that it already holds. */
    if (j.changed || j.f->ops || (j.f->filter && seen_added(j.f->filter) != before))
        named_save(j.f);
    if (j.stats)
        fprintf(stderr, "%s in, %s %s\n", kit_counted(j.lines), kit_counted(j.changed),
                removes ? "removed" : "new");
    named_close(j.f);
    free(j.words.key);
    if (j.forever > 1)
        kit_warn("%s keys in all stay for that reason; the others are removed",
                 kit_counted(j.forever));
    return j.forever ? 2 : removes && !j.changed ? 1 : 0;
}

static int add_main(const kit_command *self, int argc, char **argv)
{
    return change(self, argc, argv, false);
}

static int rm_main(const kit_command *self, int argc, char **argv)
{
    return change(self, argc, argv, true);
}

const kit_command cmd_add = {
    .name = "add",
    .summary = "add keys to a filter",
    .usage = "[OPTION]... FILTER [FILE]...\n[OPTION]... --word KEY FILTER\n"
             "[OPTION]... --redis URL [FILE]...",
    .about =
        "Adds each line of the FILEs, or of standard input, to FILTER, which 'seen "
        "new' makes. The file is replaced when all lines are added; until then, and "
        "after any failure, it is as it was.",
    .options = add_options,
    .examples = "# Addresses to refuse\n"
                "$ seen add blocked.seen blocked.txt\n"
                "# One more\n"
                "$ seen add --word http://bad.example/ blocked.seen\n",
    .run = add_main,
};

const kit_command cmd_rm = {
    .name = "rm",
    .summary = "remove keys from a filter that allows it",
    .usage = "[OPTION]... FILTER [FILE]...\n[OPTION]... --word KEY FILTER",
    .about =
        "Removes each line of the FILEs, or of standard input, from FILTER, if its "
        "kind can: set, cuckoo, quotient ('seen new -r' makes one). Remove only keys "
        "that "
        "were added: in a cuckoo filter, removing any other key may remove one that "
        "shares its fingerprint.",
    .options = rm_options,
    .status = "0 if a key was removed, 1 if none was there, 2 if something failed or a "
              "key stays because it was added too often (the others are removed).",
    .examples = "# No longer blocked\n"
                "$ seen rm --word http://good.example/ members.seen\n",
    .run = rm_main,
};
