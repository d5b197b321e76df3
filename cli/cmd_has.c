/* cmd_has.c - `seen has`: the lines that are in a filter, as grep would tell them. */
#include "commands.h"
#include "uniq/emit.h"
#include "format.h"
#include "say.h"
#include "store.h"
#include "store_remote.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_KEY = 300 };

static const kit_option options[] = {
    {'v', "invert", NULL,
     "Print the lines that are not in the filter: these are certain."},
    {'c', "count", NULL, "Print only the number of lines."},
    {'q', "quiet", NULL, "Print nothing; stop at the first line found."},
    {OPT_KEY, "word", "KEY",
     "Ask for this key instead of reading lines; may be repeated."},
    OPTION_REDIS("Instead of FILTER: one"),
    OPTION_REDIS_MODULE,
    KEY_OPTIONS,
    OPTION_FORMAT,
    {'o', "output", "FILE", "Write to FILE, which is replaced when all is done."},
    THREAD_OPTION,
    {0},
};

static int has_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen has", self, argc, argv);
    keyspec keys = KEYSPEC_INIT;
    bool invert = false, count = false, quiet = false;
    unsigned threads = 0;
    const char *out_name = NULL, *name = NULL;
    seen_key *word = NULL;
    size_t words = 0;
    for (int o; (o = kit_next(&p));) {
        if (remote_option(o, p.arg, &name))
            continue;
        if (keyspec_option(&keys, &p, o) || format_option(&p, o) ||
            thread_option(&threads, &p, o))
            continue;
        switch (o) {
        case 'v':
            invert = true;
            break;
        case 'c':
            count = true;
            break;
        case 'q':
            quiet = true;
            break;
        case 'o':
            out_name = p.arg;
            break;
        case OPT_KEY:
            word = kit_grow(word, words + 1, sizeof *word);
            word[words++] = (seen_key){p.arg, strlen(p.arg)};
            break;
        }
    }
    if (p.at == argc && !name)
        kit_usage(&p, "which FILTER?");
    name = name ? name : argv[p.at++];
    if (words && p.at < argc)
        kit_usage(&p, "--word or FILEs, not both");
    const char *bad = kit_lines_check(argv + p.at, (size_t)(argc - p.at));
    if (bad)
        kit_die("%s", bad);
    store *s = store_open(name, STORE_ASK);
    sink out = sink_open(quiet || count ? NULL : out_name, keys.term);
    uint64_t selected = 0;
    if (words) {
        arena a = {0};
        for (size_t i = 0; i < words; i++) {
            seen_key k = keyspec_bare(&keys, &a, word[i]);
            char t = (char)keys.term;
            bool found;
            store_has(s, &k, NULL, 1, &found);
            if (found == invert)
                continue;
            selected++;
            if (!quiet && !count) {
                sink_bytes(&out, word[i].data, word[i].len, false);
                sink_bytes(&out, &t, 1, false);
            }
        }
        arena_free(&a);
        free(word);
    } else {
        feed_spec spec = {.files = argv + p.at,
                          .nfiles = (size_t)(argc - p.at),
                          .keys = keys,
                          .hash = s->hashes,
                          .seed = s->hashes ? seen_seed(s->filter) : 0,
                          .threads = threads};
        feed *f = feed_open(&spec);
        for (batch *b; (b = feed_next(f)); feed_done(f, b)) {
            store_has(s, b->key, b->hash, b->n, b->dup);
            if (quiet || count) {
                for (size_t i = 0; i < b->n; i++)
                    selected += b->dup[i] != invert;
                if (quiet && selected)
                    exit(0);
            } else {
                sink_lines(&out, b, !invert, true);
            }
        }
        feed_close(f);
        selected += out.lines;
    }
    if (count) {
        char text[32];
        int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)selected);
        sink_bytes(&out, text, (size_t)n, false);
    }
    sink_finish(&out, false);
    sink_commit(&out);
    sink_close(&out);
    store_close(s);
    return selected ? 0 : 1;
}

const kit_command cmd_has = {
    .name = "has",
    .summary = "print the lines that are in a filter",
    .usage = "[OPTION]... FILTER [FILE]...\n[OPTION]... --word KEY FILTER\n"
             "[OPTION]... --redis URL [FILE]...",
    .about =
        "Prints each line of the FILEs, or of standard input, that is in FILTER. What "
        "is said not to be there certainly is not; what is said to be there is "
        "wrong with the error of the filter ('seen info' tells it).",
    .options = options,
    .status = "0 if a line was selected, 1 if none was, 2 if something failed.",
    .examples =
        "# Words that are in no dictionary\n"
        "$ seen has -v words.seen text.txt\n"
        "# In a script\n"
        "$ seen has -q --word http://bad.example/ blocked.seen && echo refused\n",
    .run = has_main,
};
