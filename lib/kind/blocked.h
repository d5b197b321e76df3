/* blocked.h - where the bits of a key are in its line; shared by the variants of
 * blocked.c.
 *
 * A line is eight 64-bit lanes (little-endian). With g = sn_remix(h):
 *   line      mulhi(h, lines)
 *   rotation  r = g >> 61
 *   lane i    is used if (i - r) mod 8 < k; its bit is (g >> 6i) mod 64
 * and for k > 8, with g2 = sn_remix(g), lanes with (i - r) mod 8 < k - 8 have a
 * second bit, (g2 >> 6i) mod 64. Every variant must do exactly this. */
#ifndef SN_BLOCKED_H
#define SN_BLOCKED_H
#include "kind/kind.h"
#include "base/bytes.h"
#include "hash/hash.h"

#define SN_BLOCKED_KMAX 16

static inline uint8_t *sn_blocked_at(const sn_layer *l, uint64_t h)
{
    return l->body + 64 * sn_mulhi(h, l->shape.units);
}

static inline void sn_blocked_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        SN_FETCH(sn_blocked_at(l, h[i]));
}

/* Variants for k up to 8 and above; NULL where the instructions are not compiled in. */
extern const sn_variant *const sn_blocked_avx2[2], *const sn_blocked_avx512[2],
                                                 *const sn_blocked_neon[2];
#endif
