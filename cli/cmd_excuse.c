/* cmd_excuse.c - `seen excuse`: known false positives, answered with no. */
#include "commands.h"
#include "lines/feed.h"
#include "filters/format.h"
#include "filters/named_filter.h"
#include "messages.h"
#include "human_numbers.h"

#include <stdio.h>
#include <string.h>

enum { OPT_LIST = 300, OPT_UNDO };

static const kit_option options[] = {
    {'i', "input", "FILE",
     "Excuse also the lines of FILE; - is standard input. May be repeated."},
    {OPT_UNDO, "undo", NULL, "Stop excusing these keys."},
    {OPT_LIST, "list", NULL, "Print the keys that are excused, one a line."},
    OPTION_FORMAT,
    {'q', "quiet", NULL, "Do not say how many were excused."},
    {0},
};

typedef struct job {
    char **files;
    size_t nfiles;
    bool undo, list, quiet;
    named_filter *f;
    uint64_t changed, absent;
} job;

static void excuse(job *j, const void *key, size_t len)
{
    const seen_key given = {key, len};
    const seen_key *k =
        typed_convert(&j->f->typed, j->f->name, j->f->filter, &given, 1, false);
    int rc = j->undo ? seen_unexcuse(j->f->filter, k->data, k->len)
                     : seen_excuse(j->f->filter, k->data, k->len);
    if (rc < 0)
        named_die(j->f->name, rc);
    j->changed += rc != 0;
    j->absent += rc == 0;
}

static void excuse_lines(job *j)
{
    keyspec whole = KEYSPEC_INIT;
    feed_spec spec = {.files = j->files, .nfiles = j->nfiles, .keys = whole};
    feed *in = feed_open(&spec);
    for (batch *b; (b = feed_next(in)); feed_done(in, b))
        for (size_t i = 0; i < b->n; i++)
            excuse(j, b->key[i].data, b->key[i].len);
    feed_close(in);
}

static int print_key(void *ctx, const void *key, size_t len)
{
    typed_print(stdout, ctx, key, len);
    putchar('\n');
    return 0;
}

static int excuse_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen excuse", self, argc, argv);
    job j = {0};
    for (int o; (o = kit_next(&p));) {
        if (format_option(&p, o))
            continue;
        if (o == 'i') {
            j.files = kit_grow(j.files, j.nfiles + 1, sizeof *j.files);
            j.files[j.nfiles++] = (char *)p.arg;
        }
        j.undo |= o == OPT_UNDO;
        j.list |= o == OPT_LIST;
        j.quiet |= o == 'q';
    }
    if (p.at == argc)
        kit_usage(&p, "which FILTER?");
    const char *name = argv[p.at++];
    if (p.at == argc && !j.nfiles && !j.list)
        kit_usage(&p, "which KEYs?");
    const char *bad = kit_lines_check(j.files, j.nfiles);
    if (bad)
        kit_die("%s", bad);
    j.f = named_open(name, NAMED_ASK);
    if (!j.f->filter)
        kit_die("%s: keys of a %s filter cannot be excused", name, j.f->ops->kind);
    for (; p.at < argc; p.at++)
        excuse(&j, argv[p.at], strlen(argv[p.at]));
    if (j.nfiles)
        excuse_lines(&j);
    int rc = j.changed ? seen_excused_save(j.f->filter) : 0;
    if (rc < 0)
        named_die(name, rc);
    if (j.list)
        seen_excused_each(j.f->filter, print_key, j.f->filter);
    else if (!j.quiet && j.undo)
        kit_warn("%s excused no longer, %s were not excused", kit_counted(j.changed),
                 kit_counted(j.absent));
    else if (!j.quiet)
        kit_warn("%s excused, %s are not in the filter anyway", kit_counted(j.changed),
                 kit_counted(j.absent));
    named_close(j.f);
    return 0;
}

const kit_command cmd_excuse = {
    .name = "excuse",
    .summary = "make a filter say no to known false positives",
    .usage = "[OPTION]... FILTER KEY...\n[OPTION]... -i FILE FILTER\n--list FILTER",
    .about =
        "Puts each KEY on a small exact list, FILTER.excused beside FILTER: from then "
        "on "
        "FILTER says no to it, for every program that opens the file. Excuse only keys "
        "that were certainly never added; adding a key takes it off the list. The list "
        "belongs to the file as it is: if another program replaces FILTER, the list "
        "is ignored.",
    .options = options,
    .examples = "# A good address that the list of bad ones refuses by chance\n"
                "$ seen excuse blocked.seen http://good.example/\n"
                "# What is excused\n"
                "$ seen excuse --list blocked.seen\n",
    .run = excuse_main,
};
