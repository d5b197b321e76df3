/* keyed_clmul.c - the keyed hash with carry-less multiplication in hardware: PCLMULQDQ
 * of x86-64, PMULL of ARM. It takes one multiplication for 16 bytes of a key. */
#include "base/cpu.h"
#include "hash/keyed.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define TARGET __attribute__((target("avx,pclmul")))
typedef __m128i vec;

TARGET static inline vec load(const void *p)
{
    return _mm_loadu_si128(p);
}
TARGET static inline vec pair_of(uint64_t lo, uint64_t hi)
{
    return _mm_set_epi64x((long long)hi, (long long)lo);
}
TARGET static inline vec plus(vec a, vec b)
{
    return _mm_xor_si128(a, b);
}
/* The product of the two halves of A. */
TARGET static inline vec halves(vec a)
{
    return _mm_clmulepi64_si128(a, a, 0x01);
}
TARGET static inline uint64_t reduced(vec a)
{
    const vec poly = _mm_cvtsi32_si128(0x1b);
    /* Reduces the four bits that overflow a second time. */
    const vec few = _mm_setr_epi8(0, 0x1b, 0x36, 0x2d, 0x6c, 0x77, 0x5a, 0x41,
                                  (char)0xd8, (char)0xc3, (char)0xee, (char)0xf5,
                                  (char)0xb4, (char)0xaf, (char)0x82, (char)0x99);
    vec t = _mm_clmulepi64_si128(a, poly, 0x01); /* the high half, folded down */
    vec u = _mm_shuffle_epi8(few, _mm_srli_si128(t, 8));
    return (uint64_t)_mm_cvtsi128_si64(plus(plus(a, t), u));
}

#elif defined(__aarch64__) && defined(__linux__) && defined(__AARCH64EL__)
#include <arm_neon.h>
#define TARGET __attribute__((target("+crypto")))
typedef uint64x2_t vec;

TARGET static inline vec load(const void *p)
{
    return vreinterpretq_u64_u8(vld1q_u8(p));
}
TARGET static inline vec pair_of(uint64_t lo, uint64_t hi)
{
    return vcombine_u64(vcreate_u64(lo), vcreate_u64(hi));
}
TARGET static inline vec plus(vec a, vec b)
{
    return veorq_u64(a, b);
}
TARGET static inline vec product(uint64_t a, uint64_t b)
{
    return vreinterpretq_u64_p128(vmull_p64((poly64_t)a, (poly64_t)b));
}
TARGET static inline vec halves(vec a)
{
    return product(vgetq_lane_u64(a, 0), vgetq_lane_u64(a, 1));
}
TARGET static inline uint64_t reduced(vec a)
{
    vec t = product(vgetq_lane_u64(a, 1), 0x1b);
    vec u = product(vgetq_lane_u64(t, 1), 0x1b);
    return vgetq_lane_u64(plus(plus(a, t), u), 0);
}
#endif

#ifdef TARGET
TARGET static inline vec block(const sn_keyed *s, const uint8_t *p, size_t pairs,
                               const uint8_t *last)
{
    const uint64_t *power = s->power;
    vec sum = pair_of(0, 0);
    for (; pairs > 1; pairs--, p += 16, power += 2)
        sum = plus(sum, halves(plus(load(p), load(power))));
    return plus(sum, halves(plus(load(last), load(power))));
}

TARGET static inline __attribute__((always_inline)) uint64_t
hash(const sn_keyed *s, const uint8_t *p, size_t len)
{
    if (len < 16) {
        uint64_t a, b;
        sn_keyed_short(p, len, &a, &b);
        vec v = halves(plus(pair_of(a, b), load(s->power)));
        return sn_keyed_finish(s, reduced(v), len);
    }
    const uint8_t *last = p + len - 16;
    uint64_t value = 0;
    size_t left = len;
    for (; left > SN_KEYED_BLOCK; left -= SN_KEYED_BLOCK, p += SN_KEYED_BLOCK) {
        value ^= reduced(block(s, p, SN_KEYED_PAIRS, p + SN_KEYED_BLOCK - 16));
        value = reduced(halves(pair_of(value, s->step)));
    }
    return sn_keyed_finish(s, value ^ reduced(block(s, p, (left + 15) / 16, last)),
                           len);
}

TARGET static uint64_t one(const sn_keyed *s, const void *key, size_t len)
{
    return hash(s, key, len);
}

/* Keys are independent, so the processor works on several at a time. */
TARGET static void many(const sn_keyed *s, const seen_key *keys, size_t n,
                        uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = hash(s, keys[i].data, keys[i].len);
}

const sn_keyed_variant *sn_keyed_clmul(void)
{
    static const sn_keyed_variant clmul = {many, one};
    return sn_cpu_has(SN_CLMUL) ? &clmul : NULL;
}
#else
const sn_keyed_variant *sn_keyed_clmul(void)
{
    return NULL;
}
#endif
