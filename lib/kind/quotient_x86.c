/* quotient_x86.c - the variant of quotient.c for AVX2: the high bytes of all slots of a
 * line are compared at once. */
#include "kind/quotient.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2")))

/* Which bits of V are after its last 1, or that 1 itself; all if there is none. */
TARGET static inline __attribute__((always_inline)) __m256i end_of(__m256i v)
{
    return _mm256_xor_si256(v, _mm256_add_epi8(v, _mm256_set1_epi8(-1)));
}

TARGET static inline __attribute__((always_inline)) uint32_t zero_bytes(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()));
}

TARGET static inline __attribute__((always_inline)) __m256i load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* By one byte. */
TARGET static inline __attribute__((always_inline)) uint32_t by_one(const uint8_t *p,
                                                                  __m256i key)
{
    __m256i v = load(p);
    return zero_bytes(_mm256_andnot_si256(end_of(v), _mm256_xor_si256(v, key)));
}

/* By the two bytes of KEY, slots of 16 bits or more: slot I is bit I + 1. They are read
 * from one byte before the slots on: the last of 31 is the last byte of the line. */
TARGET static inline __attribute__((always_inline)) uint32_t
by_two(const sn_quotient *q, const uint8_t *line, uint64_t key)
{
    __m128i two = _mm_cvtsi32_si128((int)(key >> 48));
    __m256i low = _mm256_broadcastb_epi8(two);
    __m256i high = _mm256_broadcastb_epi8(_mm_srli_epi32(two, 8));
    __m256i a = load(line + 1), b = load(line + 1 + q->slots);
    __m256i none = _mm256_cmpeq_epi8(b, _mm256_setzero_si256());
    a = _mm256_andnot_si256(_mm256_and_si256(end_of(a), none),
                            _mm256_xor_si256(a, high));
    b = _mm256_andnot_si256(end_of(b), _mm256_xor_si256(b, low));
    return zero_bytes(_mm256_or_si256(a, b));
}

TARGET static inline __attribute__((always_inline)) uint64_t
maybe(const sn_quotient *q, const uint8_t *line, uint64_t key)
{
    __m256i high = _mm256_set1_epi8((char)(key >> 56));
    if (q->width < 16) /* the second half ends with the line */
        return by_one(line + 3, high) | (uint64_t)by_one(line + 32, high) << 29;
    return by_two(q, line, key) >> 1;
}

#define LEFT(n) ((((uint32_t)1 << (n)) - 1) << 1)
#define RIGHT(n, slots)                                                                \
    ((n) <= (slots) ? LEFT(n) << ((n) <= (slots) ? (slots) - (n) : 0) : 0)
#define ONE(n, slots) LEFT(n), RIGHT(n, slots)
#define FOUR(n, slots)                                                                 \
    ONE(n, slots), ONE((n) + 1, slots), ONE((n) + 2, slots), ONE((n) + 3, slots)
#define ALL(slots)                                                                     \
    {FOUR(0, slots),  FOUR(4, slots),  FOUR(8, slots),  FOUR(12, slots),               \
     FOUR(16, slots), FOUR(20, slots), FOUR(24, slots), FOUR(28, slots)}

/* For 10 to 31 slots: the bits of by_two() for N on the left, and on the right. */
static const uint32_t sides[22][64] = {
    ALL(10), ALL(11), ALL(12), ALL(13), ALL(14), ALL(15), ALL(16), ALL(17),
    ALL(18), ALL(19), ALL(20), ALL(21), ALL(22), ALL(23), ALL(24), ALL(25),
    ALL(26), ALL(27), ALL(28), ALL(29), ALL(30), ALL(31)};

TARGET static inline __attribute__((always_inline)) uint64_t
maybe_own(const sn_quotient *q, const uint8_t *line, unsigned head, uint64_t top)
{
    size_t side = top >> 63;
    uint64_t key = top << 1;
    if (q->width < 16)
        return maybe(q, line, key) & sn_quotient_side(q, head, (unsigned)side);
    size_t n = __bextr_u64(head, 0x500 + 5 * side); /* the count of the side */
    return by_two(q, line, key) & (sides[q->slots - 10] + side)[2 * n];
}

/* The slots of maybe_own(). */
TARGET static inline __attribute__((always_inline)) uint64_t
slots_in(const sn_quotient *q, uint64_t mask)
{
    return q->width < 16 ? mask : mask >> 1;
}

#include "kind/quotient_ask.h"

const sn_variant sn_quotient_avx2 = {
    .prefetch = sn_quotient_prefetch, .has = has, .add = add, .has_one = has_one};
#endif
