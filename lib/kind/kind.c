/* kind.c - the kinds by number and by name. */
#include "kind/kind.h"
#include <math.h>
#include <string.h>

static const sn_kind *const kinds[] = {
    [SEEN_CLASSIC] = &sn_classic,
    [SEEN_BLOCKED] = &sn_blocked,
    [SEEN_SPLIT] = &sn_split,
    [SEEN_CUCKOO] = &sn_cuckoo,
    [SEEN_RIBBON] = &sn_ribbon,
    [SEEN_SET] = &sn_set,
    [SEEN_QUOTIENT] = &sn_quotient_kind,
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const sn_kind *sn_kind_of(seen_kind id)
{
    return (unsigned)id < KINDS ? kinds[id] : NULL;
}

uint32_t sn_probes(const sn_shape *s)
{
    if (s->kind != SEEN_RIBBON)
        return s->k;
    /* Keys have prints of two lengths, which need not be whole. */
    double bits = ceil(-log2(sn_ribbon.error_at(s, 1)) - 1e-6);
    return bits > 0 ? (uint32_t)bits : 0;
}

unsigned seen_kind_can(seen_kind id)
{
    const sn_kind *k = sn_kind_of(id);
    return k ? k->can : 0;
}

const char *seen_kind_name(seen_kind id)
{
    const sn_kind *k = sn_kind_of(id);
    return k ? k->name : id == SEEN_FOREIGN ? "foreign" : NULL;
}

seen_kind seen_kind_named(const char *name)
{
    if (name && strcmp(name, "auto") == 0)
        return SEEN_AUTO;
    for (int i = 0; name && i < KINDS; i++)
        if (kinds[i] && strcmp(kinds[i]->name, name) == 0)
            return (seen_kind)i;
    return SEEN_KIND_UNKNOWN;
}
