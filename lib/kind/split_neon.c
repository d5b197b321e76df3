/* split_neon.c - NEON variant of split.c: a block is two registers. */
#include "kind/split.h"
#if defined(__aarch64__)
#include <arm_neon.h>

static inline uint32x4_t bits_of(uint64_t h, const uint32_t *salt)
{
    uint32x4_t x = vmulq_u32(vdupq_n_u32((uint32_t)h), vld1q_u32(salt));
    return vshlq_u32(vdupq_n_u32(1), vreinterpretq_s32_u32(vshrq_n_u32(x, 27)));
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t *w = (const uint32_t *)(const void *)sn_split_at(l, h[i]);
        uint32x4_t missing =
            vorrq_u32(vbicq_u32(bits_of(h[i], sn_split_salt), vld1q_u32(w)),
                      vbicq_u32(bits_of(h[i], sn_split_salt + 4), vld1q_u32(w + 4)));
        found[i] = vmaxvq_u32(missing) == 0;
    }
}

static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t *w = (uint32_t *)(void *)sn_split_at(l, h[i]);
        uint32x4_t lo = vld1q_u32(w), hi = vld1q_u32(w + 4);
        uint32x4_t blo = bits_of(h[i], sn_split_salt),
                   bhi = bits_of(h[i], sn_split_salt + 4);
        uint32x4_t missing = vorrq_u32(vbicq_u32(blo, lo), vbicq_u32(bhi, hi));
        vst1q_u32(w, vorrq_u32(lo, blo));
        vst1q_u32(w + 4, vorrq_u32(hi, bhi));
        dup[i] = vmaxvq_u32(missing) == 0;
        fresh += !dup[i];
    }
    l->added += fresh;
    return n;
}

const sn_variant sn_split_neon = {sn_split_prefetch, has, add};
#endif
