/* cmd_merge.c - `seen merge`: writes the union of filters. */
#include "commands.h"
#include "filters/format.h"
#include "messages.h"
#include "filters/named_filter.h"

enum { OPT_MIXED = 300 };

static const kit_option options[] = {
    {'o', "output", "FILTER",
     "Write the union to FILTER, which is replaced; it may be one of the inputs, and - "
     "is standard output."},
    {OPT_MIXED, "mixed", NULL,
     "The union may hold keys of several types, such as text and integers, and is "
     "asked "
     "with any; without this, filters of different types are refused."},
    FILE_OPTIONS,
    OPTION_FORMAT,
    {0},
};

/* Opens NAME as HOW and checks it: a damaged body would spread. */
static named_filter *open_whole(const char *name, unsigned how)
{
    named_filter *s = named_open(name, how);
    if (!s->filter)
        kit_die("%s: a %s filter cannot be merged here", name, s->ops->kind);
    int rc = seen_verify(s->filter);
    if (rc < 0)
        named_die(name, rc);
    return s;
}

static int merge_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen merge", self, argc, argv);
    const char *out = NULL;
    bool mixed = false;
    for (int o; (o = kit_next(&p));)
        if (o == OPT_MIXED)
            mixed = true;
        else if (!format_option(&p, o) && !file_option(&p, o))
            out = p.arg;
    if (!out)
        kit_usage(&p, "where to? -o FILTER");
    if (p.at == argc)
        kit_usage(&p, "which FILTERs?");
    /* Claimed before the first is read: it may be one of them. */
    named_target target = named_claim(out, true);
    named_filter *sum = open_whole(argv[p.at], NAMED_COPY);
    if (mixed)
        seen_set_keys(sum->filter, SEEN_KEYS_MIXED);
    for (int i = p.at + 1; i < argc; i++) {
        named_filter *s = open_whole(argv[i], NAMED_ASK);
        if (seen_check_keys(sum->filter, seen_keys_of(s->filter)) < 0)
            kit_die("%s holds keys of the type %s, %s of the type %s: --mixed makes a "
                    "filter of both",
                    argv[i], seen_keys_name(seen_keys_of(s->filter)), argv[p.at],
                    seen_keys_name(seen_keys_of(sum->filter)));
        if (seen_merge(sum->filter, s->filter) < 0)
            kit_die("%s does not fit %s: %s (filters to be merged are made with 'seen "
                    "new --like OLD NEW')",
                    argv[i], argv[p.at], seen_reason());
        named_close(s);
    }
    named_fulfil(&target, sum->filter);
    named_close(sum);
    return 0;
}

const kit_command cmd_merge = {
    .name = "merge",
    .summary = "make the union of filters",
    .usage = "[OPTION]... -o FILTER FILTER...",
    .about =
        "Writes a filter that holds the keys of all the FILTERs. They must have the "
        "same seed and, except for sets, the same kind and shape: make each but the "
        "first with 'seen new --like OLD NEW'. Size them for the keys of the union: "
        "more keys raise the error, and a cuckoo filter that is fixed or removes keys "
        "refuses them. "
        "Other systems' filters are merged if they are of one format, size and number "
        "of probes.",
    .options = options,
    .examples = "# What two crawlers have visited\n"
                "$ seen merge -o both.seen east.seen west.seen\n",
    .run = merge_main,
};
