/* sizing.c - reads the options of size, and makes filters from them. */
#include "sizing.h"
#include "say.h"
#include "seed.h"
#include "human_numbers.h"

bool sizing_option(sizing *s, const kit_parse *p, int key)
{
    switch (key) {
    case 'n':
        if (!kit_parse_count(p->arg, &s->keys))
            kit_bad_value(p, key, "a number of keys, such as 20000000 or 20M");
        return true;
    case 'e':
        if (!kit_parse_error(p->arg, &s->error))
            kit_bad_value(p, key, "a probability between 0 and 1, such as 0.001");
        return true;
    case 'm':
        if (!kit_parse_bytes(p->arg, &s->memory))
            kit_bad_value(p, key, "a size, such as 64M or 1.5G");
        return true;
    case OPT_KIND:
        s->kind = seen_kind_named(p->arg);
        if (s->kind == SEEN_KIND_UNKNOWN)
            kit_bad_value(p, key, "a kind of filter (see 'seen plan')");
        return true;
    }
    return false;
}

seen_filter *sizing_make(const seen_spec *spec)
{
    seen_spec fresh = *spec;
    seen_filter *f;
    if (!fresh.seed && !fresh.hasher) {
        kit_secret s = kit_new_secret();
        fresh.seed = s.low;
        fresh.seed_high = s.high;
    }
    if (seen_new(&fresh, &f) < 0)
        kit_die("%s", seen_reason());
    return f;
}
