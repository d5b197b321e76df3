/* cmd_new.c - `seen new`: makes an empty filter to measure. */
#include "commands.h"
#include "format.h"
#include "say.h"
#include "seed.h"
#include "human_numbers.h"
#include "sizing.h"
#include "named_filter.h"
#include "remote_filter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_FIXED = 300, OPT_SEED, OPT_BITS };

static const kit_option options[] = {
    OPTION_EXPECT,
    OPTION_ERROR,
    {'m', "memory", "SIZE", "With -n: the smallest error that fits into SIZE."},
    {OPT_KIND, "kind", "KIND",
     "Use this kind of filter instead of the best one: classic, blocked, split, set, "
     "cuckoo; 'seen plan' compares them. Or another system's format, "
     "NAME[:PARAM=VALUE,...] of 'seen formats'; then -m M is its number of bits."},
    {OPT_BITS, "bits", "M",
     "Exactly M bits (a classic filter unless --kind is given)."},
    {'k', "probes", "K", "Exactly K probes a key."},
    {OPT_FIXED, "fixed", NULL, "Refuse more keys than expected instead of growing."},
    {'r', "removable", NULL, "Only kinds that can remove keys."},
    {OPT_SEED, "seed", "N",
     "Seed of the hash, instead of a fresh random one. Filters can be merged only if "
     "their seeds agree. With a known seed, strangers can choose keys that collide."},
    {'f', "force", NULL, "Replace FILTER if it exists."},
    {OPT_REDIS, "redis", "URL",
     "Make it in Redis or Valkey, redis://host:port/name, for -n keys [1M] and -e; many "
     "machines may use it at once. It does not grow."},
    OPTION_REDIS_MODULE,
    {0},
};

static int make_foreign(const char *name, const format_spec *format)
{
    seen_filter *f;
    int rc = seen_new_foreign(format->name, &format->params, &f);
    if (rc < 0)
        kit_die("%s", seen_reason());
    rc = seen_save(f, name);
    if (rc < 0)
        named_die(name, rc);
    seen_free(f);
    return 0;
}

static int new_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen new", self, argc, argv);
    sizing z = {0};
    seen_spec spec = {0};
    bool force = false;
    format_spec format = {0};
    uint64_t n;
    const char *name = NULL;
    for (int o; (o = kit_next(&p));) {
        if (remote_option(o, p.arg, &name))
            continue;
        if (o == OPT_KIND && seen_kind_named(p.arg) == SEEN_KIND_UNKNOWN) {
            const char *bad = format_parse(p.arg, &format);
            if (bad)
                kit_usage(&p, "--kind %s: no such kind; %s", p.arg, bad);
            continue;
        }
        if (sizing_option(&z, &p, o))
            continue;
        switch (o) {
        case 'f':
            force = true;
            break;
        case 'r':
            spec.flags |= SEEN_REMOVES;
            break;
        case OPT_FIXED:
            spec.flags |= SEEN_FIXED;
            break;
        case OPT_SEED:
            if (!kit_parse_seed(p.arg, &spec.seed))
                kit_bad_value(&p, o, "a number from 1 to 2^64-1");
            break;
        case OPT_BITS:
            if (!kit_parse_count(p.arg, &spec.bits))
                kit_bad_value(&p, o, "a number of bits");
            break;
        case 'k':
            if (!kit_parse_count(p.arg, &n) || n > 1000)
                kit_bad_value(&p, o, "a number of probes");
            spec.probes = (uint32_t)n;
            break;
        }
    }
    if (p.at + !name != argc)
        kit_usage(&p, "give one FILTER to make");
    name = name ? name : argv[p.at];
    if (remote_is_url(name)) {
        if (spec.bits || spec.probes || spec.flags || z.memory || z.kind ||
            *format.name)
            kit_usage(&p, "a filter in Redis is made from -n and -e alone");
        remote_make(name, z.keys, z.error, spec.seed ? spec.seed : kit_new_seed(),
                    force);
        return 0;
    }
    spec.kind = z.kind;
    spec.keys = z.keys;
    spec.error = z.error;
    spec.memory = z.memory;
    named_check_new(name, force);
    if (*format.name) {
        seen_params *f = &format.params;
        f->keys = z.keys ? z.keys : f->keys;
        f->error = z.error > 0 ? z.error : f->error;
        f->bits = spec.bits ? spec.bits : z.memory ? z.memory : f->bits;
        f->probes = spec.probes ? spec.probes : f->probes;
        return make_foreign(name, &format);
    }
    if (z.memory && !z.keys)
        kit_usage(&p, "-m needs -n, the number of keys");
    if (z.memory && z.error > 0)
        kit_usage(&p, "-e and -m both decide the size: give one of them");
    seen_filter *f = sizing_make(&spec);
    int rc = seen_save(f, name);
    if (rc < 0)
        named_die(name, rc);
    seen_free(f);
    return 0;
}

const kit_command cmd_new = {
    .name = "new",
    .summary = "make an empty filter",
    .usage = "[OPTION]... FILTER\n[OPTION]... --redis URL",
    .about =
        "Makes the file FILTER: an empty filter for -n keys with error -e [0.01], or "
        "for -n keys in -m memory. seen chooses the kind that suits. Without -n the "
        "filter starts small and grows.",
    .options = options,
    .examples = "# For a million keys, one false positive in a thousand\n"
                "$ seen new -n 1M -e 0.001 new.seen\n"
                "# The best for ten million keys in 16 MB\n"
                "$ seen new -n 10M -m 16M big.seen\n"
                "# Another system's: Guava's, for Java strings\n"
                "$ seen new --kind guava:type=utf16 -n 1M -e 0.01 words.guava\n",
    .run = new_main,
};
