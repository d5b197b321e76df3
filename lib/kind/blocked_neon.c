/* blocked_neon.c - NEON variant of blocked.c: the same bits, four pairs of lanes. */
#include "kind/blocked.h"
#if defined(__aarch64__)
#include <arm_neon.h>

static const int64_t right[8] = {0, -6, -12, -18, -24, -30, -36, -42};

/* The bits of G in the lanes of a rotation, K lanes from R. */
static inline void spread(uint64x2_t out[4], uint64_t g, unsigned r, uint32_t k)
{
    uint64_t one[8];
    for (unsigned i = 0; i < 8; i++)
        one[i] = ((i - r) & 7) < k;
    for (int i = 0; i < 4; i++) {
        uint64x2_t pos = vandq_u64(vshlq_u64(vdupq_n_u64(g), vld1q_s64(right + 2 * i)),
                                   vdupq_n_u64(63));
        uint64x2_t bit = vshlq_u64(vld1q_u64(one + 2 * i), vreinterpretq_s64_u64(pos));
        out[i] = vorrq_u64(out[i], bit);
    }
}

static inline void bits_of(uint64x2_t out[4], uint64_t h, uint32_t k)
{
    uint64_t g = sn_remix(h);
    unsigned r = (unsigned)(g >> 61);
    for (int i = 0; i < 4; i++)
        out[i] = vdupq_n_u64(0);
    spread(out, g, r, k < 8 ? k : 8);
    if (k > 8)
        spread(out, sn_remix(g), r, k - 8);
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t *line = (const uint64_t *)(const void *)sn_blocked_at(l, h[i]);
        uint64x2_t bits[4], missing = vdupq_n_u64(0);
        bits_of(bits, h[i], l->shape.k);
        for (int j = 0; j < 4; j++)
            missing = vorrq_u64(missing, vbicq_u64(bits[j], vld1q_u64(line + 2 * j)));
        found[i] = (vgetq_lane_u64(missing, 0) | vgetq_lane_u64(missing, 1)) == 0;
    }
}

static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *line = (uint64_t *)(void *)sn_blocked_at(l, h[i]);
        uint64x2_t bits[4], missing = vdupq_n_u64(0);
        bits_of(bits, h[i], l->shape.k);
        for (int j = 0; j < 4; j++) {
            uint64x2_t old = vld1q_u64(line + 2 * j);
            missing = vorrq_u64(missing, vbicq_u64(bits[j], old));
            vst1q_u64(line + 2 * j, vorrq_u64(old, bits[j]));
        }
        dup[i] = (vgetq_lane_u64(missing, 0) | vgetq_lane_u64(missing, 1)) == 0;
        fresh += !dup[i];
    }
    l->added += fresh;
    return n;
}

static const sn_variant variant = {sn_blocked_prefetch, has, add};
const sn_variant *const sn_blocked_neon[2] = {&variant, &variant};
#endif
