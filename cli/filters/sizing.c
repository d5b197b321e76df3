/* sizing.c - reads the options of size, and makes filters from them. */
#include "sizing.h"
#include "messages.h"
#include "seed.h"
#include "human_numbers.h"

#include <math.h>
#include <string.h>

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
    case OPT_NO_SCRATCH:
        s->no_scratch = true;
        return true;
    case OPT_KIND:
        s->kind = seen_kind_named(p->arg);
        if (s->kind == SEEN_KIND_UNKNOWN)
            kit_bad_value(p, key, "a kind of filter (see 'seen plan')");
        return true;
    }
    return false;
}

kit_scratch *sizing_scratch(const sizing *s, seen_filter *f)
{
    return s->no_scratch || s->keys || s->memory || s->kind || !(s->error > 0)
               ? NULL
               : kit_scratch_for(f);
}

double fingerprint_bits(seen_kind kind, uint32_t probes, double error)
{
    return kind == SEEN_RIBBON && error > 0 ? -log2(error) : probes;
}

void sizing_say_ended(kit_scratch *s)
{
    int why = s ? kit_scratch_ended(s) : 0;
    if (why)
        kit_warn("no room for a scratch file in TMPDIR (%s): the filter grows in place "
                 "(--no-scratch says so from the start)",
                 strerror(why));
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
    if (fresh.seed && !fresh.seed_high) /* given, so that a run can be repeated */
        seen_name_by_content(f);
    return f;
}
