/* cmd_convert.c - `seen convert`: writes a filter's bits in another container. */
#include "commands.h"
#include "filters/format.h"
#include "messages.h"
#include "filters/named_filter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPT_TO = 300 };

static const char *target_names(void)
{
    static char list[1024];
    snprintf(list, sizeof list, "native %s", format_names());
    return list;
}

static const kit_option options[] = {
    {OPT_TO, "to", "NAME", "The format of OUT: 'native', or one of 'seen formats'.",
     .list = target_names},
    OPTION_FORMAT,
    {'f', "force", NULL, "Replace OUT if it exists."},
    FILE_OPTIONS,
    {0},
};

static const seen_format *named(const char *name)
{
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

/* Bits cannot be converted without the keys: says which commands rebuild the filter
 * from them. */
static void refuse(const seen_filter *f, const char *in, const char *out,
                   const char *to)
{
    seen_stats st;
    char why[400], new[200], add[200] = "";
    snprintf(why, sizeof why, "%s", seen_reason());
    const seen_format *format = named(to);
    seen_get_stats(f, &st);
    double keys = st.capacity ? (double)st.capacity : ceil(st.keys_estimate);
    double error = st.error_wanted > 0 ? st.error_wanted : 0.01;
    unsigned long long n = keys > 1000 && keys < 1e12 ? (unsigned long long)keys : 1000;
    unsigned long long m = seen_classic_bits(n, error);
    unsigned k = seen_classic_probes(m, n);
    if (!strcmp(to, "scrapy-redis")) /* takes powers of two */
        m = 1ull << (64 - __builtin_clzll(m - 1));
    if (format && !(format->can & SEEN_FORMAT_NEW))
        kit_die("%s: %s (and %s is only read)", in, why, to);
    bool raw = format && !(format->can & SEEN_FORMAT_KNOWN);
    if (!format)
        snprintf(new, sizeof new, "-n %llu -e %g", n, error);
    else if (!strcmp(to, "leveldb"))
        snprintf(new, sizeof new, "--kind %s -n %llu", to, n);
    else if (*format->to_make == 'm')
        snprintf(new, sizeof new, "--kind %s -m %llu -k %u", to, m, k);
    else
        snprintf(new, sizeof new, "--kind %s -n %llu -e %g", to, n, error);
    if (raw && *format->to_open == 'm')
        snprintf(add, sizeof add, "--format %s:m=%llu,k=%u ", to, m, k);
    else if (raw && *format->to_open == 'k')
        snprintf(add, sizeof add, "--format %s:n=%llu,p=%g ", to, n, error);
    else if (raw)
        snprintf(add, sizeof add, "--format %s ", to);
    kit_die("%s: %s; rebuild it from the keys: seen new %s %s && seen add %s%s KEYS",
            in, why, new, out, add, out);
}

static int convert_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen convert", self, argc, argv);
    const char *to = NULL;
    bool force = false;
    for (int o; (o = kit_next(&p));) {
        if (format_option(&p, o) || file_option(&p, o))
            continue;
        if (o == OPT_TO)
            to = p.arg;
        if (o == 'f')
            force = true;
    }
    if (p.at + 2 != argc)
        kit_usage(&p, "give IN and OUT");
    if (!to)
        kit_usage(
            &p, "--to which format? ('seen formats' lists them; 'native' is our own)");
    if (strcmp(to, "native") && !named(to))
        kit_usage(&p, "--to %s: no such format%s ('seen formats' lists them)", to,
                  format_meant(to, false));
    const char *in = argv[p.at], *out = argv[p.at + 1];
    named_target t = named_claim(out, force);
    named_filter *s = named_open(in, NAMED_ASK);
    if (!s->filter)
        kit_die("%s: a %s cannot be converted", in, s->ops->kind);
    seen_filter *f;
    int rc = seen_convert(s->filter, to, &f);
    if (rc == SEEN_EKIND)
        refuse(s->filter, in, out, to);
    if (rc < 0)
        named_die(in, rc);
    named_fulfil(&t, f);
    seen_free(f);
    named_close(s);
    return 0;
}

const kit_command cmd_convert = {
    .name = "convert",
    .summary = "put a filter's bits into another system's container",
    .usage = "[OPTION]... --to NAME IN OUT",
    .about =
        "Writes the filter IN as OUT in another format in which the same key sets the "
        "same bits: Parquet and a native split filter, a column of a Parquet file and "
        "its filter alone, the binary and JSON forms of bits-and-blooms, mmh3-17 and a "
        "Redis bitmap with these seeds. Between other formats bits cannot be converted "
        "without the keys; the error then shows the commands that rebuild the filter "
        "from them.",
    .options = options,
    .examples = "# A Parquet filter as a native filter, and back\n"
                "$ seen new --kind parquet -n 1M -e 0.01 ids.sbbf\n"
                "$ seen convert --to native ids.sbbf ids.seen\n"
                "$ seen convert -f --to parquet ids.seen ids.sbbf\n",
    .run = convert_main,
};
