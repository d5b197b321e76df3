/* probe.c - the one copy of probe.h's loops, for all probe rules, where bytes count
 * (SN_SMALL).
 *
 * There is no memory to fetch ahead, so keys go one by one; a call for each probe is
 * the price of the bytes. */
#include "foreign/probe.h"

#ifdef SN_SMALL
bool sn_probe_all(const sn_foreign *f, sn_state s, sn_next_fn *next)
{
    for (uint32_t i = 0; i < f->bits.k; i++)
        if (!sn_bit_get(&f->bits, next(f, &s, i)))
            return false;
    return true;
}

void sn_scan_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found,
                 sn_start_fn *start, sn_next_fn *next)
{
    for (; n; n--, keys++)
        *found++ = sn_probe_all(f, start(f, keys->data, keys->len), next);
}

size_t sn_scan_grow(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc,
                    sn_start_fn *start, sn_next_fn *next,
                    int (*grow)(sn_foreign *f, uint64_t bit))
{
    for (size_t i = 0; i < n; i++) {
        sn_state first = start(f, keys[i].data, keys[i].len);
        dup[i] = sn_probe_all(f, first, next);
        if (dup[i])
            continue;
        sn_state s = first;
        uint64_t top = 0;
        for (uint32_t j = 0; j < f->bits.k; j++) {
            uint64_t bit = next(f, &s, j);
            top = bit > top ? bit : top;
        }
        if (grow && top >> 3 >= f->bits.have && (*rc = grow(f, top)) < 0)
            return i;
        for (uint32_t j = 0; j < f->bits.k; j++)
            sn_bit_set(&f->bits, next(f, &first, j));
        f->dirty = true;
        sn_count_up(&f->added, 1);
    }
    return n;
}
#endif
