/* blocked_x86.c - AVX2 and AVX-512 variants of blocked.c: the same bits, one OR a key.
 */
#include "kind/blocked.h"
#if defined(__x86_64__)
#include <immintrin.h>

/* For rotation r, the eight words from ones[k][8 - r] on are 1 in used lanes, else
 * 0. */
#define W1 1, 1, 1, 1, 1, 1, 1, 1
#define ROW(a, b, c, d, e, f, g, h)                                                    \
    {                                                                                  \
        a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h                                 \
    }
static const uint64_t ones[9][16] = {
    ROW(0, 0, 0, 0, 0, 0, 0, 0),
    ROW(1, 0, 0, 0, 0, 0, 0, 0),
    ROW(1, 1, 0, 0, 0, 0, 0, 0),
    ROW(1, 1, 1, 0, 0, 0, 0, 0),
    ROW(1, 1, 1, 1, 0, 0, 0, 0),
    ROW(1, 1, 1, 1, 1, 0, 0, 0),
    ROW(1, 1, 1, 1, 1, 1, 0, 0),
    ROW(1, 1, 1, 1, 1, 1, 1, 0),
    {W1, W1},
};

/* ---- AVX-512: a line is one register ------------------------------------------- */

#define T512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,bmi2")))

/* Lanes of a rotation as a mask: k ones rotated left by r. */
T512 static inline __mmask8 lanes512(unsigned ones8, uint64_t r)
{
    return (__mmask8)((ones8 * 0x101u) >> (8 - r));
}

T512 static inline __attribute__((always_inline)) __m512i
bits512(uint64_t h, unsigned first, unsigned second)
{
    const __m512i shift = _mm512_setr_epi64(0, 6, 12, 18, 24, 30, 36, 42);
    const __m512i one = _mm512_set1_epi64(1);
    uint64_t g = sn_remix(h), r = g >> 61;
    /* The rotate instruction takes its count modulo 64, so positions need no mask. */
    __m512i pos = _mm512_srlv_epi64(_mm512_set1_epi64((long long)g), shift);
    __m512i bits = _mm512_maskz_rolv_epi64(lanes512(first, r), one, pos);
    if (second) {
        pos = _mm512_srlv_epi64(_mm512_set1_epi64((long long)sn_remix(g)), shift);
        bits = _mm512_or_si512(bits,
                               _mm512_maskz_rolv_epi64(lanes512(second, r), one, pos));
    }
    return bits;
}

T512 static inline __attribute__((always_inline)) void has512(const sn_layer *l,
                                                              const uint64_t *h,
                                                              size_t n, bool *found,
                                                              bool two, bool ahead)
{
    uint32_t k = l->shape.k;
    unsigned first = two ? 0xff : (1u << k) - 1, second = two ? (1u << (k - 8)) - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        if (ahead)
            SN_FETCH(sn_blocked_at(l, h[i + SN_AHEAD]));
        __m512i line = _mm512_load_si512(sn_blocked_at(l, h[i]));
        __m512i bits = bits512(h[i], first, second);
        __m512i missing = _mm512_andnot_si512(line, bits);
        found[i] = _mm512_test_epi64_mask(missing, missing) == 0;
    }
}

#define TURNS(m)                                                                       \
    {                                                                                  \
        (m) & 255, (m) >> 7 & 255, (m) >> 6 & 255, (m) >> 5 & 255, (m) >> 4 & 255,     \
            (m) >> 3 & 255, (m) >> 2 & 255, (m) >> 1 & 255                             \
    }
#define LANES(k) TURNS(((1u << (k)) - 1) * 0x101)

/* A single key, in as few instructions as possible: the more calls fit into the
 * processor's window, the more of them wait for memory in parallel. So constants are
 * operands in memory, and only registers from zmm16 on are used, which need no
 * vzeroupper before the return. Compilers do neither. */
T512 static inline __attribute__((always_inline)) bool ask512(const sn_layer *l,
                                                              uint64_t h, bool two)
{
    static const uint8_t lanes[9][8] = {LANES(0), LANES(1), LANES(2),
                                        LANES(3), LANES(4), LANES(5),
                                        LANES(6), LANES(7), LANES(8)};
    static const struct {
        _Alignas(64) uint64_t shift[8];
        uint64_t lowest;
    } fixed = {{0, 6, 12, 18, 24, 30, 36, 42}, 1};
    bool found;
    if (two) {
        has512(l, &h, 1, &found, two, false);
        return found;
    }
    const uint8_t(*line)[64] = (const uint8_t(*)[64])sn_blocked_at(l, h);
    uint64_t g = sn_remix(h);
    __asm__("vpbroadcastq %[g], %%zmm16\n\t"
            "vmovdqa64 %[line], %%zmm17\n\t"
            "vpsrlvq %[shift], %%zmm16, %%zmm16\n\t"
            "kmovb %[lanes], %%k1\n\t"
            "vprorvq %%zmm16, %%zmm17, %%zmm17\n\t"
            "vptestnmq %[lowest]%{1to8%}, %%zmm17, %%k1%{%%k1%}\n\t"
            "kortestb %%k1, %%k1"
            : "=@ccz"(found)
            : [g] "r"(g), [line] "m"(*line), [lanes] "m"(lanes[l->shape.k][g >> 61]),
              [shift] "m"(fixed.shift), [lowest] "m"(fixed.lowest)
            : "xmm16", "xmm17", "k1");
    return found;
}

T512 static inline __attribute__((always_inline)) void
add512(sn_layer *l, const uint64_t *h, size_t n, bool *dup, bool two, bool ahead)
{
    uint32_t k = l->shape.k;
    unsigned first = two ? 0xff : (1u << k) - 1, second = two ? (1u << (k - 8)) - 1 : 0;
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        if (ahead)
            SN_FETCH(sn_blocked_at(l, h[i + SN_AHEAD]));
        uint8_t *p = sn_blocked_at(l, h[i]);
        __m512i line = _mm512_load_si512(p);
        __m512i bits = bits512(h[i], first, second);
        __m512i missing = _mm512_andnot_si512(line, bits);
        bool new = _mm512_test_epi64_mask(missing, missing) != 0;
        _mm512_store_si512(p, _mm512_or_si512(line, bits));
        dup[i] = !new;
        fresh += new;
    }
    l->added += fresh;
}

/* Computes the first eight bits of a key once; each layer tests the lanes of its k. */
T512 static void has_any512(const sn_layer *layer, uint32_t layers, const uint64_t *h,
                            size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t r = sn_remix(h[i]) >> 61;
        __m512i bits = bits512(h[i], 0xff, 0);
        bool any = false;
        for (const sn_layer *l = layer; l < layer + layers; l++) {
            __m512i line = _mm512_load_si512(sn_blocked_at(l, h[i]));
            __mmask8 missing =
                _mm512_mask_cmpneq_epi64_mask(lanes512((1u << l->shape.k) - 1, r),
                                              _mm512_and_si512(line, bits), bits);
            any |= missing == 0;
        }
        found[i] = any;
    }
}

/* ---- AVX2: a line is two registers ----------------------------------------------- */

#define T256 __attribute__((target("avx2,bmi2")))

typedef struct pair {
    __m256i lo, hi;
} pair;

T256 static inline __attribute__((always_inline)) pair spread256(uint64_t g, uint64_t r,
                                                                 uint32_t k)
{
    const __m256i lo = _mm256_setr_epi64x(0, 6, 12, 18);
    const __m256i hi = _mm256_setr_epi64x(24, 30, 36, 42),
                  low6 = _mm256_set1_epi64x(63);
    const uint64_t *one = ones[k] + 8 - r;
    __m256i v = _mm256_set1_epi64x((long long)g);
    return (pair){
        _mm256_sllv_epi64(_mm256_loadu_si256((const __m256i *)(const void *)one),
                          _mm256_and_si256(_mm256_srlv_epi64(v, lo), low6)),
        _mm256_sllv_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(one + 4)),
                          _mm256_and_si256(_mm256_srlv_epi64(v, hi), low6)),
    };
}

T256 static inline __attribute__((always_inline)) pair bits256(uint64_t h, uint32_t k,
                                                               bool two)
{
    uint64_t g = sn_remix(h), r = g >> 61;
    pair b = spread256(g, r, two ? 8 : k);
    if (two) {
        pair c = spread256(sn_remix(g), r, k - 8);
        b.lo = _mm256_or_si256(b.lo, c.lo);
        b.hi = _mm256_or_si256(b.hi, c.hi);
    }
    return b;
}

T256 static inline __attribute__((always_inline)) void has256(const sn_layer *l,
                                                              const uint64_t *h,
                                                              size_t n, bool *found,
                                                              bool two, bool ahead)
{
    uint32_t k = l->shape.k;
    for (size_t i = 0; i < n; i++) {
        if (ahead)
            SN_FETCH(sn_blocked_at(l, h[i + SN_AHEAD]));
        const __m256i *p = (const __m256i *)(const void *)sn_blocked_at(l, h[i]);
        pair b = bits256(h[i], k, two);
        __m256i missing =
            _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(p), b.lo),
                            _mm256_andnot_si256(_mm256_load_si256(p + 1), b.hi));
        found[i] = _mm256_testz_si256(missing, missing);
    }
}

T256 static inline __attribute__((always_inline)) void
add256(sn_layer *l, const uint64_t *h, size_t n, bool *dup, bool two, bool ahead)
{
    uint32_t k = l->shape.k;
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        if (ahead)
            SN_FETCH(sn_blocked_at(l, h[i + SN_AHEAD]));
        __m256i *p = (__m256i *)(void *)sn_blocked_at(l, h[i]);
        pair b = bits256(h[i], k, two);
        __m256i lo = _mm256_load_si256(p), hi = _mm256_load_si256(p + 1);
        __m256i missing = _mm256_or_si256(_mm256_andnot_si256(lo, b.lo),
                                          _mm256_andnot_si256(hi, b.hi));
        bool old = _mm256_testz_si256(missing, missing);
        _mm256_store_si256(p, _mm256_or_si256(lo, b.lo));
        _mm256_store_si256(p + 1, _mm256_or_si256(hi, b.hi));
        dup[i] = old;
        fresh += !old;
    }
    l->added += fresh;
}

T256 static void has_any256(const sn_layer *layer, uint32_t layers, const uint64_t *h,
                            size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t g = sn_remix(h[i]), r = g >> 61;
        pair b = spread256(g, r, 8);
        bool any = false;
        for (const sn_layer *l = layer; l < layer + layers; l++) {
            const __m256i *p = (const __m256i *)(const void *)sn_blocked_at(l, h[i]);
            const uint64_t *one = ones[l->shape.k] + 8 - r;
            const __m256i zero = _mm256_setzero_si256();
            __m256i lo = _mm256_loadu_si256((const __m256i *)(const void *)one);
            __m256i hi = _mm256_loadu_si256((const __m256i *)(const void *)(one + 4));
            /* Negating each lane sets all bits of the used lanes. */
            __m256i missing = _mm256_or_si256(
                _mm256_and_si256(_mm256_andnot_si256(_mm256_load_si256(p), b.lo),
                                 _mm256_sub_epi64(zero, lo)),
                _mm256_and_si256(_mm256_andnot_si256(_mm256_load_si256(p + 1), b.hi),
                                 _mm256_sub_epi64(zero, hi)));
            any |= (bool)_mm256_testz_si256(missing, missing);
        }
        found[i] = any;
    }
}

/* ---- the four variants --------------------------------------------------------------
 */

/* The bits missing in one half of the line, each at bit 0 of its lane. */
T256 static inline __m256i lacks256(const uint8_t *half, __m256i g, __m256i up,
                                    const uint64_t *one)
{
    __m256i at = _mm256_srli_epi64(_mm256_sllv_epi64(g, up), 58);
    return _mm256_andnot_si256(
        _mm256_srlv_epi64(_mm256_load_si256((const __m256i *)(const void *)half), at),
        _mm256_loadu_si256((const __m256i *)(const void *)one));
}

T256 static inline __attribute__((always_inline)) bool ask256(const sn_layer *l,
                                                              uint64_t h, bool two)
{
    bool found;
    if (two) {
        has256(l, &h, 1, &found, two, false);
        return found;
    }
    const uint8_t *line = sn_blocked_at(l, h);
    uint64_t g = sn_remix(h);
    const uint64_t *one = ones[l->shape.k] + 8 - (g >> 61);
    __m256i v = _mm256_set1_epi64x((long long)g);
    __m256i lo = lacks256(line, v, _mm256_setr_epi64x(58, 52, 46, 40), one);
    __m256i hi = lacks256(line + 32, v, _mm256_setr_epi64x(34, 28, 22, 16), one + 4);
    __m256i missing = _mm256_or_si256(lo, hi);
    return _mm256_testz_si256(missing, missing);
}

#define VARIANT(width, name, two, target, any)                                         \
    target static void has##width##name(const sn_layer *l, const uint64_t *h,          \
                                        size_t n, bool *found)                         \
    {                                                                                  \
        has##width(l, h, n, found, two, false);                                        \
    }                                                                                  \
    target static void has_ahead##width##name(const sn_layer *l, const uint64_t *h,    \
                                              size_t n, bool *found)                   \
    {                                                                                  \
        has##width(l, h, n, found, two, true);                                         \
    }                                                                                  \
    target static bool has_one##width##name(const sn_layer *l, uint64_t h)             \
    {                                                                                  \
        return ask##width(l, h, two);                                                  \
    }                                                                                  \
    target static size_t add##width##name(sn_layer *l, const uint64_t *h, size_t n,    \
                                          bool *dup)                                   \
    {                                                                                  \
        add##width(l, h, n, dup, two, false);                                          \
        return n;                                                                      \
    }                                                                                  \
    target static void add_ahead##width##name(sn_layer *l, const uint64_t *h,          \
                                              size_t n, bool *dup)                     \
    {                                                                                  \
        add##width(l, h, n, dup, two, true);                                           \
    }                                                                                  \
    static const sn_variant variant##width##name = {                                   \
        sn_blocked_prefetch,                                                           \
        has##width##name,                                                              \
        add##width##name,                                                              \
        has_ahead##width##name,                                                        \
        add_ahead##width##name,                                                        \
        has_one##width##name,                                                          \
        any,                                                                           \
    };

VARIANT(512, one, false, T512, has_any512)
VARIANT(512, two, true, T512, NULL)
VARIANT(256, one, false, T256, has_any256)
VARIANT(256, two, true, T256, NULL)

const sn_variant *const sn_blocked_avx512[2] = {&variant512one, &variant512two};
const sn_variant *const sn_blocked_avx2[2] = {&variant256one, &variant256two};
#endif
