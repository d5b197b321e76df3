/* keyed_products.h - carry-less products without an instruction for them: of 64-bit
 * words, by multiplications of numbers that have only every fourth bit.
 *
 * The bits of such numbers that meet in one place of a product are added up, and the
 * sum spills into the three places beside it, which are masked away: up to 15 may meet.
 * Products are linear, so they are added (XOR) over the pairs of a block and masked
 * once. Only keyed.c includes this. */
#ifndef SN_KEYED_PRODUCTS_H
#define SN_KEYED_PRODUCTS_H
#include "hash/keyed.h"

typedef struct sn_wide {
    uint64_t lo, hi;
} sn_wide;

/* The sum of the products of PAIRS pairs, at most SN_KEYED_PAIRS, each word plus its
 * power. Pairs start at P, the last of them at LAST. */
static sn_wide sn_products(const uint64_t *power, const uint8_t *p, size_t pairs,
                           const uint8_t *last);

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

/* The low half of a product. (Of 64 bits 16 meet only in the highest, and spill out.)
 */
#define EVERY 0x1111111111111111u

typedef struct sparse {
    uint64_t every[4]; /* in [i] the bits i, i + 4, i + 8, ... count */
} sparse;

/* Bits j of X by those of Y that land in bits i. (Written out, because every key passes
 * here and a compiler that is asked for few bytes keeps loops.) */
#define TERM(i, j) ((x & EVERY << (j)) * (y & EVERY << (((i) - (j)) & 3)))
#define TERMS(i) (TERM(i, 0) ^ TERM(i, 1) ^ TERM(i, 2) ^ TERM(i, 3))

static inline __attribute__((always_inline)) void add_low(sparse *sum, uint64_t x,
                                                          uint64_t y)
{
    sum->every[0] ^= TERMS(0);
    sum->every[1] ^= TERMS(1);
    sum->every[2] ^= TERMS(2);
    sum->every[3] ^= TERMS(3);
}

static inline uint64_t gathered(const sparse *sum)
{
    return (sum->every[0] & EVERY) | (sum->every[1] & EVERY << 1) |
           (sum->every[2] & EVERY << 2) | (sum->every[3] & EVERY << 3);
}
#undef TERMS
#undef TERM
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
