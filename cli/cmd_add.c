/* cmd_add.c - `seen add` and `seen rm`: keys into a filter and out of it. */
#include "commands.h"
#include "uniq/feed.h"
#include "format.h"
#include "progress.h"
#include "say.h"
#include "store.h"
#include "store_remote.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_STATS = 300, OPT_KEY };

/* Asks and changes FILTER for the keys given on the command line. */
typedef struct given {
    seen_key *key;
    size_t n;
} given;

#define OPTION_GIVEN                                                                   \
    {                                                                                  \
        OPT_KEY, "word", "KEY",                                                        \
            "Take this key instead of reading lines; may be repeated."                 \
    }
#define OPTION_STATS                                                                   \
    {                                                                                  \
        OPT_STATS, "stats", NULL, "At the end tell the counts on standard error."      \
    }

static const kit_option add_options[] = {
    OPTION_GIVEN,
    OPTION_REDIS("Instead of FILTER: one"),
    OPTION_REDIS_MODULE,
    KEY_OPTIONS,
    OPTION_FORMAT,
    THREAD_OPTION,
    OPTION_STATS,
    {'q', "quiet", NULL, "No progress on a terminal."},
    {0},
};

static const kit_option rm_options[] = {
    OPTION_GIVEN,
    KEY_OPTIONS,
    OPTION_FORMAT,
    OPTION_STATS,
    {'q', "quiet", NULL, "No progress on a terminal."},
    {0},
};

typedef struct job {
    keyspec keys;
    given words;
    unsigned threads;
    bool stats, quiet;
    store *s;
    uint64_t lines, changed;
    bool *done;
    size_t room;
} job;

static void take(job *j, bool removes, const seen_key *key, const uint64_t *hash,
                 size_t n, bool *dup)
{
    j->lines += n;
    if (!removes) {
        store_add(j->s, key, hash, n, dup);
        for (size_t i = 0; i < n; i++)
            j->changed += !dup[i];
        return;
    }
    if (j->s->ops) {
        if (!j->s->ops->remove)
            kit_die("%s: cannot remove keys", j->s->name);
        if (!j->s->ops->remove(j->s, key, n, dup))
            exit(2);
        for (size_t i = 0; i < n; i++)
            j->changed += dup[i];
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int rc = seen_remove(j->s->filter, key[i].data, key[i].len);
        if (rc < 0)
            store_die(j->s->name, rc);
        j->changed += rc == 1;
    }
}

static int change(const kit_command *self, int argc, char **argv, bool removes)
{
    kit_parse p = kit_parse_start(removes ? "seen rm" : "seen add", self, argc, argv);
    job j = {.keys = KEYSPEC_INIT};
    const char *name = NULL;
    for (int o; (o = kit_next(&p));) {
        if (remote_option(o, p.arg, &name))
            continue;
        if (keyspec_option(&j.keys, &p, o) || format_option(&p, o) ||
            thread_option(&j.threads, &p, o))
            continue;
        if (o == 'q')
            j.quiet = true;
        if (o == OPT_STATS)
            j.stats = true;
        if (o == OPT_KEY) {
            j.words.key = kit_grow(j.words.key, j.words.n + 1, sizeof(seen_key));
            j.words.key[j.words.n++] = (seen_key){p.arg, strlen(p.arg)};
        }
    }
    if (p.at == argc && !name)
        kit_usage(&p, "which FILTER?");
    name = name ? name : argv[p.at++];
    const char *bad = kit_lines_check(argv + p.at, (size_t)(argc - p.at));
    if (bad)
        kit_die("%s", bad);
    if (j.words.n && p.at < argc)
        kit_usage(&p, "--word or FILEs, not both");
    j.s = store_open(name, STORE_CHANGE);
    uint64_t before = j.s->filter ? seen_added(j.s->filter) : 0;
    if (j.words.n) {
        bool *dup = kit_alloc(j.words.n);
        arena words = {0};
        for (size_t i = 0; i < j.words.n; i++)
            j.words.key[i] = keyspec_bare(&j.keys, &words, j.words.key[i]);
        take(&j, removes, j.words.key, NULL, j.words.n, dup);
        arena_free(&words);
        free(dup);
    } else {
        feed_spec spec = {.files = argv + p.at,
                          .nfiles = (size_t)(argc - p.at),
                          .keys = j.keys,
                          .hash = j.s->hashes && !removes,
                          .seed = j.s->hashes ? seen_seed(j.s->filter) : 0,
                          .threads = j.threads};
        feed *f = feed_open(&spec);
        kit_progress_start(j.quiet);
        for (batch *b; (b = feed_next(f)); feed_done(f, b)) {
            take(&j, removes, b->key, b->hash, b->n, b->dup);
            if (kit_progress_due())
                kit_progress_show(
                    &(kit_progress){.taken = kit_lines_taken(feed_lines(f)),
                                    .total = kit_lines_total(feed_lines(f)),
                                    .lines = j.lines,
                                    .distinct = j.changed,
                                    .memory = store_bytes(j.s)});
        }
        kit_progress_end();
        feed_close(f);
    }
    /* A cuckoo filter keeps a copy of a key that it had already. */
    if (j.changed || j.s->ops || (j.s->filter && seen_added(j.s->filter) != before))
        store_save(j.s);
    if (j.stats)
        fprintf(stderr, "%llu in, %llu %s\n", (unsigned long long)j.lines,
                (unsigned long long)j.changed, removes ? "removed" : "new");
    store_close(j.s);
    free(j.words.key);
    return removes && !j.changed ? 1 : 0;
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
        "new' has made. The file is replaced when all were added; until then, and "
        "after any failure, it is as it was.",
    .options = add_options,
    .examples = "# Addresses to be refused\n"
                "$ seen add blocked.seen blocked.txt\n"
                "# One more\n"
                "$ seen add --word http://bad.example/ blocked.seen\n",
    .run = add_main,
};

const kit_command cmd_rm = {
    .name = "rm",
    .summary = "remove keys from a filter that can",
    .usage = "[OPTION]... FILTER [FILE]...\n[OPTION]... --word KEY FILTER",
    .about =
        "Removes each line of the FILEs, or of standard input, from FILTER, if its "
        "kind can: set and cuckoo ('seen new -r' makes one). Remove only keys that "
        "were added: in a cuckoo filter a stranger may take away another key that "
        "shares its fingerprint.",
    .options = rm_options,
    .status = "0 if a key was removed, 1 if none was there, 2 if something failed.",
    .examples = "# No longer blocked\n"
                "$ seen rm --word http://good.example/ members.seen\n",
    .run = rm_main,
};
