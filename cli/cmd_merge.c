/* cmd_merge.c - `seen merge`: writes the union of filters. */
#include "commands.h"
#include "format.h"
#include "say.h"
#include "named_filter.h"

static const kit_option options[] = {
    {'o', "output", "FILTER", "Where the union goes; it may be one of the inputs."},
    OPTION_FORMAT,
    {0},
};

static int merge_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen merge", self, argc, argv);
    const char *out = NULL;
    for (int o; (o = kit_next(&p));)
        if (!format_option(&p, o))
            out = p.arg;
    if (!out)
        kit_usage(&p, "where to? -o FILTER");
    if (p.at == argc)
        kit_usage(&p, "which FILTERs?");
    seen_filter *sum;
    int rc = format_or_native(argv[p.at], SEEN_LOAD, &sum);
    if (rc < 0)
        named_die(argv[p.at], rc);
    for (int i = p.at + 1; i < argc; i++) {
        seen_filter *f;
        rc = format_or_native(argv[i], SEEN_READ | SEEN_VERIFY, &f);
        if (rc < 0)
            named_die(argv[i], rc);
        rc = seen_merge(sum, f);
        if (rc < 0)
            kit_die("%s does not fit %s: %s", argv[i], argv[p.at], seen_reason());
        seen_free(f);
    }
    rc = seen_save(sum, out);
    if (rc < 0)
        named_die(out, rc);
    seen_free(sum);
    return 0;
}

const kit_command cmd_merge = {
    .name = "merge",
    .summary = "make the union of filters",
    .usage = "[OPTION]... -o FILTER FILTER...",
    .about =
        "Writes a filter that holds the keys of all the FILTERs. They must have the "
        "same seed and, except for sets, the same kind and shape: make them with the "
        "same 'seen new --seed', or as copies of one empty filter. Other systems' "
        "filters are merged if they are of one format, size and number of probes.",
    .options = options,
    .examples = "# What two crawlers have visited\n"
                "$ seen merge -o both.seen east.seen west.seen\n",
    .run = merge_main,
};
