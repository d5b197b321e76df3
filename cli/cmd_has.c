/* cmd_has.c - `seen has`: prints the lines that are in a filter, as grep would. */
#include "commands.h"
#include "lines/emit.h"
#include "filters/format.h"
#include "messages.h"
#include "filters/named_filter.h"
#include "filters/remote_filter.h"

#include <stdlib.h>

static const kit_option options[] = {
    {'v', "invert", NULL,
     "Print the lines that are not in the filter; these are always right.",
     .brief = "print the lines that are not in it"},
    {'c', "count", NULL, "Print only the number of lines.",
     .brief = "print only their number"},
    {'q', "quiet", NULL, "Print nothing, and stop at the first line found.",
     .brief = "only the exit status"},
    WORD_OPTION,
    OPTION_REDIS("Instead of FILTER: use one"),
    OPTION_REDIS_MODULE,
    KEY_OPTIONS,
    OPTION_FORMAT,
    {'o', "output", "FILE", "Write to FILE, which is replaced at the end.",
     .brief = "write to FILE"},
    THREAD_OPTION,
    {0},
};

typedef struct job {
    keyspec keys;
    words words;
    const char *name, *out_name;
    char *const *files;
    size_t nfiles;
    unsigned threads;
    bool invert, count, quiet;

    named_filter *f;
    emitter out;
    uint64_t selected;
} job;

static void parse(job *j, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen has", self, argc, argv);
    for (int o; (o = kit_next(&p));) {
        if (remote_option(&p, o, &j->name) || keyspec_option(&j->keys, &p, o) ||
            format_option(&p, o) || thread_option(&j->threads, &p, o) ||
            word_option(&j->words, &p, o))
            continue;
        switch (o) {
        case 'v':
            j->invert = true;
            break;
        case 'c':
            j->count = true;
            break;
        case 'q':
            j->quiet = true;
            break;
        case 'o':
            j->out_name = p.arg;
            break;
        }
    }
    if (p.at == argc && !j->name)
        kit_usage(&p, "which FILTER?");
    j->name = j->name ? j->name : argv[p.at++];
    j->files = argv + p.at;
    j->nfiles = (size_t)(argc - p.at);
    if (j->words.n && j->nfiles)
        kit_usage(&p, "--word or FILEs, not both");
    const char *bad = kit_lines_check(j->files, j->nfiles);
    if (bad)
        kit_die("%s", bad);
}

static void ask_words(job *j)
{
    arena spelled = {0};
    for (size_t i = 0; i < j->words.n; i++) {
        seen_key word = j->words.key[i];
        seen_key key = keyspec_bare(&j->keys, &spelled, word);
        char term = (char)j->keys.term;
        bool found;
        named_has(j->f, &key, NULL, 1, &found);
        if (found == j->invert)
            continue;
        j->selected++;
        if (!j->quiet && !j->count) {
            emit_bytes(&j->out, word.data, word.len, false);
            emit_bytes(&j->out, &term, 1, false);
        }
    }
    arena_free(&spelled);
}

static void ask_lines(job *j)
{
    feed_spec spec = {.files = j->files,
                      .nfiles = j->nfiles,
                      .keys = j->keys,
                      .hash = j->f->hashes,
                      .threads = j->threads};
    if (spec.hash)
        seen_get_hasher(j->f->filter, &spec.hasher);
    feed *in = feed_open(&spec);
    for (batch *b; (b = feed_next(in)); feed_done(in, b)) {
        named_has(j->f, b->key, b->hash, b->n, b->dup);
        if (!j->quiet && !j->count) {
            emit_header(&j->out, &j->keys);
            emit_lines(&j->out, b, !j->invert, true);
            continue;
        }
        for (size_t i = 0; i < b->n; i++)
            j->selected += b->dup[i] != j->invert;
        if (j->quiet && j->selected)
            exit(0);
    }
    feed_close(in);
    j->selected += j->out.lines;
}

static int has_main(const kit_command *self, int argc, char **argv)
{
    job j = {.keys = KEYSPEC_INIT};
    parse(&j, self, argc, argv);
    j.f = named_open(j.name, NAMED_ASK);
    j.keys.crlf |= named_drops_cr(j.f);
    j.out = emit_open(j.quiet || j.count ? NULL : j.out_name, j.keys.term);
    if (j.words.n)
        ask_words(&j);
    else
        ask_lines(&j);
    if (j.count) {
        char text[32];
        int n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)j.selected);
        emit_bytes(&j.out, text, (size_t)n, false);
    }
    emit_finish(&j.out, false);
    emit_commit(&j.out);
    emit_close(&j.out);
    named_close(j.f);
    free(j.words.key);
    return j.selected ? 0 : 1;
}

const kit_command cmd_has = {
    .name = "has",
    .summary = "print the lines that are in a filter",
    .usage = "[OPTION]... FILTER [FILE]...\n[OPTION]... --word KEY FILTER\n"
             "[OPTION]... --redis URL [FILE]...",
    .about =
        "Prints each line of the FILEs, or of standard input, that is in FILTER. A "
        "line "
        "that is not printed is certainly not in the filter; a line that is printed "
        "may be a false positive, with the error that 'seen info' shows.",
    .options = options,
    .status = "0 if a line was selected, 1 if none was, 2 if something failed.",
    .examples =
        "# Words that are in no dictionary\n"
        "$ seen has -v words.seen text.txt\n"
        "# In a script\n"
        "$ seen has -q --word http://bad.example/ blocked.seen && echo refused\n",
    .run = has_main,
};
