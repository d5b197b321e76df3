/* cmd_new.c - `seen new`: makes an empty filter to measure. */
#include "commands.h"
#include "filters/format.h"
#include "messages.h"
#include "seed.h"
#include "human_numbers.h"
#include "filters/sizing.h"
#include "filters/named_filter.h"
#include "filters/remote_filter.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_ERROR 0.01

enum { OPT_LIKE = 300, OPT_FIXED, OPT_SEED, OPT_BITS, OPT_KEY_TYPE };

static const kit_option options[] = {
    OPTION_EXPECT,
    OPTION_ERROR,
    {'m', "memory", "SIZE", "With -n: the smallest error that fits into SIZE.",
     .brief = "with -n: the smallest error in SIZE"},
    {OPT_KIND, "kind", "KIND",
     "Use this kind of filter instead of the best one: classic, blocked, split, set, "
     "cuckoo, quotient; 'seen plan' compares them. Or another system's format, "
     "NAME[:PARAM=VALUE,...] of 'seen formats'; then -m M is its number of bits.",
     .list = kind_names,
     .brief = "this kind, or another system's format"},
    {OPT_BITS, "bits", "M",
     "Exactly M bits (a classic filter unless --kind is given)."},
    {'k', "probes", "K", "Exactly K probes a key."},
    {OPT_LIKE, "like", "OLD",
     "The same kind, size and hash as the filter OLD, so that the two can be merged. "
     "OLD stays as it is, and nothing secret is shown.",
     .brief = "to be merged with OLD"},
    {OPT_KEY_TYPE, "key-type", "TYPE",
     "What its keys will be: text, int64, uint64, uuid, mixed, ... Without this, the "
     "first key decides."},
    {OPT_FIXED, "fixed", NULL, "Refuse more keys than expected instead of growing."},
    {'r', "removable", NULL, "Only kinds that can remove keys.",
     .brief = "keys can be removed"},
    {OPT_SEED, "seed", "N",
     "Seed of the hash, instead of a fresh random one. Filters can be merged only if "
     "their seeds agree. With a known seed, strangers can choose keys that collide."},
    {'f', "force", NULL, "Replace FILTER if it exists.",
     .brief = "replace FILTER"},
    FILE_OPTIONS,
    {OPT_REDIS, "redis", "URL",
     "Make it in Redis or Valkey, redis://host:port/name, for -n keys [1M] and -e; "
     "many "
     "machines may use it at once. It does not grow."},
    OPTION_REDIS_MODULE,
    {0},
};

typedef struct job {
    const char *name;
    sizing size;
    seen_spec spec;
    format_spec format; /* of another system, if it has a name */
    const char *like;
    seen_keys key_type;
    bool force;
} job;

static void set_option(job *j, const kit_parse *p, int key)
{
    uint64_t n;
    switch (key) {
    case 'f':
        j->force = true;
        break;
    case OPT_KEY_TYPE:
        while (seen_keys_name(j->key_type) &&
               strcmp(seen_keys_name(j->key_type), p->arg))
            j->key_type++;
        if (!seen_keys_name(j->key_type))
            kit_bad_value(p, key, "a type of keys: text, bytes, int64, uint64, float, "
                                  "uuid, date, timestamp, tuple or mixed");
        break;
    case OPT_LIKE:
        j->like = p->arg;
        break;
    case 'r':
        j->spec.flags |= SEEN_REMOVES;
        break;
    case OPT_FIXED:
        j->spec.flags |= SEEN_FIXED;
        break;
    case OPT_SEED:
        if (!kit_parse_seed(p->arg, &j->spec.seed))
            kit_bad_value(p, key, "a number from 1 to 2^64-1");
        break;
    case OPT_BITS:
        if (!kit_parse_count(p->arg, &j->spec.bits))
            kit_bad_value(p, key, "a number of bits");
        break;
    case 'k':
        if (!kit_parse_count(p->arg, &n) || n > 1000)
            kit_bad_value(p, key, "a number of probes");
        j->spec.probes = (uint32_t)n;
        break;
    }
}

static void parse(job *j, const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen new", self, argc, argv);
    const sizing *z = &j->size;
    for (int o; (o = kit_next(&p));) {
        if (o == OPT_KIND && seen_kind_named(p.arg) == SEEN_KIND_UNKNOWN) {
            const char *bad = format_parse(p.arg, &j->format);
            if (bad && !*j->format.name)
                kit_usage(&p, "--kind %s: no such kind or format%s", p.arg,
                          format_meant(p.arg, true));
            if (bad)
                kit_usage(&p, "--kind %s: %s", p.arg, bad);
        } else if (!remote_option(&p, o, &j->name) && !file_option(&p, o) &&
                   !sizing_option(&j->size, &p, o)) {
            set_option(j, &p, o);
        }
    }
    if (p.at + !j->name != argc)
        kit_usage(&p, "give one FILTER to make");
    j->name = j->name ? j->name : argv[p.at];
    bool sized = j->spec.bits || j->spec.probes || j->spec.flags || j->spec.seed ||
                 z->keys || z->error > 0 || z->memory || z->kind || *j->format.name;
    if (j->like && (sized || remote_is_url(j->name)))
        kit_usage(&p,
                  "--like decides kind, size and hash: leave out the other options");
    if (remote_is_url(j->name)) {
        if (j->spec.bits || j->spec.probes || j->spec.flags || z->memory || z->kind ||
            *j->format.name)
            kit_usage(&p, "a filter in Redis is made from -n and -e alone");
    } else if (!*j->format.name) {
        if (z->memory && !z->keys)
            kit_usage(&p, "-m needs -n, the number of keys");
        if (z->memory && z->error > 0)
            kit_usage(&p, "-e and -m both decide the size: give one of them");
    }
}

static seen_filter *make_like(const char *name)
{
    named_filter *old = named_open(name, NAMED_ASK);
    seen_filter *f;
    if (!old->filter)
        kit_die("%s: a %s filter has no likeness in a file", name, old->ops->kind);
    int rc = seen_new_like(old->filter, &f);
    if (rc < 0)
        named_die(name, rc);
    named_close(old);
    return f;
}

/* Sets the usual error if the format has one and nothing else decides the size. An
 * option that the format cannot use is refused, not ignored. */
static void use_what_it_takes(format_spec *f, bool sized)
{
    const char *from = "";
    size_t n;
    const seen_format *const *all = seen_formats(&n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i]->name, f->name))
            from = all[i]->to_make;
    if (!*from)
        return; /* it can only be opened: the library says so */
    if (f->params.error > 0 && !strstr(from, "error"))
        kit_die("a %s filter is made from %s: leave out -e", f->name, from);
    if (f->params.keys && !strstr(from, "keys"))
        kit_die("a %s filter is made from %s: leave out -n", f->name, from);
    if (!(f->params.error > 0) && f->params.keys && !sized && strstr(from, "error"))
        f->params.error = USUAL_ERROR;
}

static seen_filter *make(job *j)
{
    const sizing *z = &j->size;
    seen_filter *f;
    if (j->like)
        return make_like(j->like);
    if (!*j->format.name) {
        j->spec.kind = z->kind;
        j->spec.keys = z->keys;
        j->spec.error = z->error;
        j->spec.memory = z->memory;
        return sizing_make(&j->spec);
    }
    seen_params *p = &j->format.params;
    p->keys = z->keys ? z->keys : p->keys;
    p->error = z->error > 0 ? z->error : p->error;
    use_what_it_takes(&j->format, j->spec.bits || z->memory || p->bits);
    p->bits = j->spec.bits ? j->spec.bits : z->memory ? z->memory : p->bits;
    p->probes = j->spec.probes ? j->spec.probes : p->probes;
    if (seen_new_foreign(j->format.name, p, &f) < 0)
        kit_die("%s", seen_reason());
    return f;
}

static int new_main(const kit_command *self, int argc, char **argv)
{
    job j = {0};
    parse(&j, self, argc, argv);
    if (remote_is_url(j.name)) {
        kit_secret given = {.low = j.spec.seed};
        remote_make(j.name, j.size.keys, j.size.error,
                    j.spec.seed ? given : kit_new_secret(), j.force);
        return 0;
    }
    named_target t = named_claim(j.name, j.force);
    seen_filter *f = make(&j);
    if (j.key_type && seen_set_keys(f, j.key_type) < 0)
        kit_die("%s", seen_reason());
    named_fulfil(&t, f);
    seen_free(f);
    return 0;
}

const kit_command cmd_new = {
    .name = "new",
    .summary = "make an empty filter",
    .usage = "[OPTION]... FILTER\n--like OLD FILTER\n[OPTION]... --redis URL",
    .about =
        "Makes the file FILTER: an empty filter for -n keys with error -e [0.01], or "
        "for -n keys in -m memory. seen chooses the kind that suits. Without -n the "
        "filter starts small and grows.",
    .options = options,
    .examples = "# For a million keys, one false positive in a thousand\n"
                "$ seen new -n 1M -e 0.001 new.seen\n"
                "# The best for ten million keys in 16 MB\n"
                "$ seen new -n 10M -m 16M big.seen\n"
                "# One that can be merged with another later\n"
                "$ seen new --like new.seen more.seen\n"
                "# Another system's: Guava's, for Java strings\n"
                "$ seen new --kind guava:type=utf16 -n 1M -e 0.01 words.guava\n",
    .run = new_main,
};
