/* keyed.c - the keyed hash in plain C, the truth of its twins; and who chooses. */
#include "hash/keyed.h"
#include "base/cpu.h"

typedef struct wide {
    uint64_t lo, hi;
} wide;

static uint64_t reversed(uint64_t x)
{
    x = __builtin_bswap64(x);
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    return (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
}

/* The low half of a carry-less product, by plain multiplication of numbers that have
 * only every fourth bit: the sums of at most 16 of them that meet in a bit spill into
 * the three bits beside it, which are masked away. (16 meet only in the highest bit,
 * and spill out.) Products are added up over the pairs of a block and masked once. */
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

/* Both words of a pair reversed. */
typedef struct pair {
    uint64_t a, b;
} pair;

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>
static inline pair reversed_pair(pair p)
{
    const v128_t few = wasm_i8x16_const(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15);
    v128_t v = wasm_u64x2_make(p.a, p.b);
    v = wasm_i8x16_shuffle(v, v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8);
    v128_t low = wasm_i8x16_swizzle(few, wasm_v128_and(v, wasm_i8x16_splat(15)));
    v = wasm_v128_or(wasm_i8x16_shl(low, 4),
                     wasm_i8x16_swizzle(few, wasm_u8x16_shr(v, 4)));
    return (pair){wasm_u64x2_extract_lane(v, 0), wasm_u64x2_extract_lane(v, 1)};
}
#else
static inline pair reversed_pair(pair p)
{
    return (pair){reversed(p.a), reversed(p.b)};
}
#endif

static inline void add_high(sparse *sum, pair p)
{
    pair r = reversed_pair(p);
    add_low(sum, r.a, r.b);
}

/* The high half is the low half of the product of the reversed words. */
static inline wide halves(const sparse *low, const sparse *high)
{
    return (wide){gathered(low), reversed(gathered(high)) >> 1};
}

static wide product(uint64_t x, uint64_t y)
{
    sparse low = {0}, high = {0};
    add_low(&low, x, y);
    add_high(&high, (pair){x, y});
    return halves(&low, &high);
}

/* Modulo x^64 + x^4 + x^3 + x + 1. */
static uint64_t reduced(wide w)
{
    uint64_t over = w.hi >> 63 ^ w.hi >> 61 ^ w.hi >> 60, h = w.hi ^ over;
    return w.lo ^ h ^ h << 1 ^ h << 3 ^ h << 4;
}

static uint64_t times(uint64_t x, uint64_t y)
{
    return reduced(product(x, y));
}

/* The sum of PAIRS pairs that start at P, the last of them at LAST. */
static wide block(const sn_keyed *s, const uint8_t *p, size_t pairs, const uint8_t *last)
{
    sparse low = {0}, high = {0};
    pair words[SN_KEYED_PAIRS];
    for (size_t i = 0; i < pairs; i++, p += 16) {
        const uint8_t *at = i + 1 < pairs ? p : last;
        words[i] = (pair){sn_le64(at) ^ s->power[2 * i],
                          sn_le64(at + 8) ^ s->power[2 * i + 1]};
        add_low(&low, words[i].a, words[i].b);
    }
    for (size_t i = 0; i < pairs; i++) /* a walk of its own has registers for it */
        add_high(&high, words[i]);
    return halves(&low, &high);
}

static uint64_t one(const sn_keyed *s, const void *key, size_t len)
{
    const uint8_t *p = key;
    if (len < 16) {
        uint64_t a, b;
        sn_keyed_short(p, len, &a, &b);
        return sn_keyed_finish(s, times(a ^ s->power[0], b ^ s->power[1]), len);
    }
    const uint8_t *last = p + len - 16;
    uint64_t value = 0;
    size_t left = len;
    for (; left > SN_KEYED_BLOCK; left -= SN_KEYED_BLOCK, p += SN_KEYED_BLOCK)
        value = times(value ^ reduced(block(s, p, SN_KEYED_PAIRS, p + SN_KEYED_BLOCK - 16)),
                      s->step);
    value ^= reduced(block(s, p, (left + 15) / 16, last));
    return sn_keyed_finish(s, value, len);
}

static void many(const sn_keyed *s, const seen_key *keys, size_t n, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = one(s, keys[i].data, keys[i].len);
}

const sn_keyed_twin sn_keyed_portable = {many, one};

/* ---- choosing -------------------------------------------------------------------- */

static const sn_keyed_twin *twin(void)
{
    static const sn_keyed_twin *best; /* every thread writes the same value */
    const sn_keyed_twin *t = __atomic_load_n(&best, __ATOMIC_ACQUIRE);
    if (!t) {
        t = sn_simd_best() == SN_SCALAR ? NULL : sn_keyed_clmul();
        t = t ? t : &sn_keyed_portable;
        __atomic_store_n(&best, t, __ATOMIC_RELEASE);
    }
    return t;
}

void sn_keyed_many(const sn_keyed *s, const seen_key *keys, size_t n, uint64_t *out)
{
    twin()->many(s, keys, n, out);
}

uint64_t sn_keyed_hash(const sn_keyed *s, const void *key, size_t len)
{
    return twin()->one(s, key, len);
}

/* ---- the secret ------------------------------------------------------------------ */

static uint64_t stir(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void sn_keyed_init(sn_keyed *out, uint64_t seed, uint64_t seed_high)
{
    /* Four steps of a Feistel network: each can be undone. */
    uint64_t k = seed, s = seed_high;
    for (uint64_t step = 1; step <= 2; step++) {
        k ^= stir(s + step * 0x9e3779b97f4a7c15u);
        s ^= stir(k + step * 0xd1b54a32d192ed03u);
    }
    uint64_t power = 1;
    for (int i = 0; i < 4 * SN_KEYED_PAIRS; i++) {
        power = times(power, k);
        if (i < 2 * SN_KEYED_PAIRS)
            out->power[i ^ 1] = power;
    }
    out->step = power;
    out->mask = s;
}
