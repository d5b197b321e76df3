/* keyed_products.h - carry-less products without an instruction for them: of 64-bit words,
 * by multiplications of numbers that have only every fourth bit.
 *
 * The bits of such numbers that meet in one place of a product are added up, and the sum
 * spills into the three places beside it, which are masked away: up to 15 may meet.
 * Products are linear, so they are added (XOR) over the pairs of a block and masked once.
 * Only keyed.c includes this. */
#ifndef SN_KEYED_PRODUCTS_H
#define SN_KEYED_PRODUCTS_H
#include "hash/keyed.h"

typedef struct sn_wide {
    uint64_t lo, hi;
} sn_wide;

/* The sum of the products of PAIRS pairs, at most SN_KEYED_PAIRS, each word plus its power.
 * Pairs start at P, the last of them at LAST. */
static sn_wide sn_products(const uint64_t *power, const uint8_t *p, size_t pairs,
                           const uint8_t *last);

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>

/* With vectors: words of 16 bits, eight products at a time, of which two neighbours come
 * added up. A class of bits is moved down to bit 0, so that no word is negative; a sum is
 * of at most 2 * 4 bits. */
#define PLUS wasm_v128_xor

/* (Stored as it will be loaded: of two stores the processor makes no fast load.) */
static inline void sn_pair_put(uint8_t *to, uint64_t a, uint64_t b)
{
    wasm_v128_store(to, wasm_u64x2_make(a, b));
}

/* (The compiler would write the constant again at each use, 18 bytes of it.) */
static inline v128_t every_fourth(v128_t words, uint32_t from, v128_t mask)
{
    return wasm_v128_and(wasm_u16x8_shr(words, from), mask);
}

/* The four sums over X[i] Y[i], each of two neighbouring words. */
static __attribute__((noinline)) v128_t sums(const v128_t *x, const v128_t *y, size_t n)
{
    uint32_t every = 0x11111111;
    __asm__("" : "+r"(every));
    v128_t sum[7], all = {0}, mask = wasm_i32x4_splat((int)every);
    for (int i = 0; i < 7; i++)
        sum[i] = all;
    for (; n; n--, x++, y++) {
        v128_t a[4], b[4];
        for (uint32_t i = 0; i < 4; i++) {
            a[i] = every_fourth(*x, i, mask);
            b[i] = every_fourth(*y, i, mask);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sum[i + j] = PLUS(sum[i + j], wasm_i32x4_dot_i16x8(a[i], b[j]));
    }
    for (uint32_t i = 0; i < 4; i++) {
        v128_t bits = i < 3 ? PLUS(sum[i], wasm_i32x4_shl(sum[i + 4], 4)) : sum[i];
        all = PLUS(all, wasm_i32x4_shl(wasm_v128_and(bits, mask), i));
    }
    return all;
}

/* Words 0 and 1, 2 and 3, 0 and 2, 1 and 3 added; each is two neighbours. */
static inline v128_t by_two(v128_t a)
{
    return PLUS(wasm_i32x4_shuffle(a, a, 0, 2, 0, 1), wasm_i32x4_shuffle(a, a, 1, 3, 2, 3));
}

/* Moves all four words of a pair, which by_two() left added up in two, into ROW. */
static inline v128_t push_all(v128_t row, v128_t two)
{
    two = PLUS(two, wasm_i32x4_shuffle(two, two, 1, 1, 1, 1));
    return wasm_i32x4_shuffle(row, two, 4, 0, 1, 2);
}

/* Karatsuba's way, twice: nine products of 16-bit words for one of 64 bits. Neighbours are
 * the same word of two pairs. */
static sn_wide sn_products(const uint64_t *power, const uint8_t *p, size_t pairs,
                           const uint8_t *last)
{
    enum { VARIANTS = SN_KEYED_PAIRS / 2 };
    v128_t a[VARIANTS], b[VARIANTS], a2[VARIANTS], b2[VARIANTS], a4 = {0}, b4 = {0};
    size_t n = 0;
    for (; pairs; n++, p += 32, power += 4) {
        v128_t u = wasm_v128_load(pairs > 1 ? p : last), v = {0};
        u = PLUS(u, wasm_v128_load(power));
        if (pairs > 1)
            v = PLUS(wasm_v128_load(pairs > 2 ? p + 16 : last), wasm_v128_load(power + 2));
        pairs -= pairs > 1 ? 2 : 1;
        a[n] = wasm_i16x8_shuffle(u, v, 0, 8, 1, 9, 2, 10, 3, 11);
        b[n] = wasm_i16x8_shuffle(u, v, 4, 12, 5, 13, 6, 14, 7, 15);
        a2[n] = by_two(a[n]);
        b2[n] = by_two(b[n]);
        a4 = push_all(a4, a2[n]);
        b4 = push_all(b4, b2[n]);
    }
    v128_t one = sums(a, b, n), two = sums(a2, b2, n), four = sums(&a4, &b4, 1);
    /* With d0 .. d3 in `one`, middle terms of the product at 16, 80, 32 and 64 bits; the one
     * at 48 is what is left of all when d0, d3 and these are taken off. */
    const v128_t none = {0};
    v128_t near = PLUS(one, wasm_i32x4_shuffle(one, one, 1, 0, 3, 2));
    v128_t mid = PLUS(PLUS(two, wasm_i32x4_shuffle(near, near, 0, 2, 0, 2)),
                      wasm_i32x4_shuffle(one, none, 4, 4, 2, 1));
    v128_t left = PLUS(PLUS(four, mid), wasm_i32x4_shuffle(one, none, 0, 3, 4, 4));
    v128_t even = wasm_i32x4_shuffle(one, mid, 0, 6, 7, 3);
    uint64_t ends = wasm_u64x2_extract_lane(mid, 0);
    uint64_t half = wasm_u64x2_extract_lane(left, 0) ^ wasm_u64x2_extract_lane(left, 1);
    uint64_t centre = (uint32_t)(half ^ half >> 32);
    return (sn_wide){
        wasm_u64x2_extract_lane(even, 0) ^ (ends & UINT32_MAX) << 16 ^ centre << 48,
        wasm_u64x2_extract_lane(even, 1) ^ ends >> 32 << 16 ^ centre >> 16};
}
#undef PLUS

#else
static inline void sn_pair_put(uint8_t *to, uint64_t a, uint64_t b)
{
    sn_put64(to, a);
    sn_put64(to + 8, b);
}

static uint64_t reversed(uint64_t x)
{
    x = __builtin_bswap64(x);
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    return (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
}

/* The low half of a product. (Of 64 bits 16 meet only in the highest, and spill out.) */
#define EVERY 0x1111111111111111u

typedef struct sparse {
    uint64_t every[4]; /* in [i] the bits i, i + 4, i + 8, ... count */
} sparse;

static inline void add_low(sparse *sum, uint64_t x, uint64_t y)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            sum->every[i] ^= (x & EVERY << j) * (y & EVERY << ((i - j) & 3));
}

static inline uint64_t gathered(const sparse *sum)
{
    uint64_t z = 0;
    for (int i = 0; i < 4; i++)
        z |= sum->every[i] & EVERY << i;
    return z;
}
#undef EVERY

/* The high half is the low half of the product of the reversed words. */
static sn_wide sn_products(const uint64_t *power, const uint8_t *p, size_t pairs,
                           const uint8_t *last)
{
    sparse low = {0}, high = {0};
    uint64_t words[2 * SN_KEYED_PAIRS];
    for (size_t i = 0; i < pairs; i++, p += 16) {
        const uint8_t *at = i + 1 < pairs ? p : last;
        words[2 * i] = sn_le64(at) ^ power[2 * i];
        words[2 * i + 1] = sn_le64(at + 8) ^ power[2 * i + 1];
        add_low(&low, words[2 * i], words[2 * i + 1]);
    }
    for (size_t i = 0; i < pairs; i++) /* a walk of its own has registers for it */
        add_low(&high, reversed(words[2 * i]), reversed(words[2 * i + 1]));
    return (sn_wide){gathered(&low), reversed(gathered(&high)) >> 1};
}
#endif
#endif
