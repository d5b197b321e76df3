/* cmd_formats.c - `seen formats`: lists other systems' filters that can be opened. */
#include "commands.h"
#include "json.h"
#include "messages.h"
#include "seen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_JSON = 300 };

static const kit_option options[] = {
    {OPT_JSON, "json", NULL, "Print JSON."},
    {0},
};

static const char *yes(const seen_format *f, unsigned can)
{
    return f->can & can ? "yes" : "-";
}

static void row(const seen_format *f)
{
    printf("%-20s %-5s %-4s %-4s %-5s %-6s %s\n", f->name, yes(f, SEEN_FORMAT_KNOWN),
           yes(f, SEEN_FORMAT_ADD), yes(f, SEEN_FORMAT_NEW), yes(f, SEEN_FORMAT_WRITE),
           yes(f, SEEN_FORMAT_REMOVE), f->about);
    if (*f->to_open)
        printf("%-50sopened with %s\n", "", f->to_open);
    if (*f->to_make)
        printf("%-50smade from %s\n", "", f->to_make);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const seen_format *const *)a)->name,
                  (*(const seen_format *const *)b)->name);
}

static int formats_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen formats", self, argc, argv);
    kit_json j = {.to = stdout};
    bool json = false;
    size_t n;
    for (int o; (o = kit_next(&p));)
        json |= o == OPT_JSON;
    if (p.at != argc)
        kit_usage(&p, "it takes no operands");
    const seen_format *const *known = seen_formats(&n);
    const seen_format **all = kit_alloc(n * sizeof *all);
    memcpy(all, known, n * sizeof *all);
    qsort(all, n, sizeof *all, by_name);
    if (json)
        kit_json_open(&j, NULL, '[');
    else
        printf("%-20s %-5s %-4s %-4s %-5s %s\n", "FORMAT", "SHOWS", "ADD", "NEW",
               "WRITE", "REMOVE");
    for (size_t i = 0; i < n; i++) {
        if (!json) {
            row(all[i]);
            continue;
        }
        kit_json_open(&j, NULL, '{');
        kit_json_text(&j, "name", all[i]->name);
        kit_json_text(&j, "about", all[i]->about);
        kit_json_text(&j, "to_open", all[i]->to_open);
        kit_json_text(&j, "to_make", all[i]->to_make);
        kit_json_bool(&j, "recognised", all[i]->can & SEEN_FORMAT_KNOWN);
        kit_json_bool(&j, "add", all[i]->can & SEEN_FORMAT_ADD);
        kit_json_bool(&j, "new", all[i]->can & SEEN_FORMAT_NEW);
        kit_json_bool(&j, "write", all[i]->can & SEEN_FORMAT_WRITE);
        kit_json_bool(&j, "remove", all[i]->can & SEEN_FORMAT_REMOVE);
        kit_json_close(&j, '}');
    }
    if (json)
        kit_json_close(&j, ']');
    free(all);
    return 0;
}

const kit_command cmd_formats = {
    .name = "formats",
    .summary = "list the filters of other systems that can be opened",
    .usage = "[--json]",
    .about =
        "Lists every format, what it can do, and the parameters it needs to be opened "
        "or made. They follow the name: --format NAME:PARAM=VALUE,... with m (bits), "
        "k (probes), n (keys), p (error), b (bits per key), seeds "
        "(0-4 or 2+3+5), type (bytes, utf8, utf16, int32, int64, float, double: how "
        "the text of a key becomes the bytes that are hashed), column, row-group, "
        "expansion, and the words unsigned, msb, lsb, old, nonscaling. "
        "docs/foreign.md has a command for each.",
    .options = options,
    .examples = "# All of them\n$ seen formats\n"
                "# For programs\n$ seen formats --json\n",
    .run = formats_main,
};
