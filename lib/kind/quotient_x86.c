/* quotient_x86.c - the variant of quotient.c for AVX2: the high bytes of all slots of a
 * line are compared at once. */
#include "kind/quotient.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define T256 __attribute__((target("avx2,bmi,bmi2")))

/* Which bits of V are after its last 1, or that 1 itself; all if there is none. */
T256 static inline __attribute__((always_inline)) __m256i end_of(__m256i v)
{
    return _mm256_xor_si256(v, _mm256_add_epi8(v, _mm256_set1_epi8(-1)));
}

T256 static inline __attribute__((always_inline)) uint32_t zero_bytes(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()));
}

T256 static inline __attribute__((always_inline)) __m256i load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* By one byte. */
T256 static inline __attribute__((always_inline)) uint32_t by_one(const uint8_t *p,
                                                                  __m256i key)
{
    __m256i v = load(p);
    return zero_bytes(_mm256_andnot_si256(end_of(v), _mm256_xor_si256(v, key)));
}

T256 static inline __attribute__((always_inline)) uint64_t
maybe(const sn_quotient *q, const uint8_t *line, uint64_t key)
{
    __m256i high = _mm256_set1_epi8((char)(key >> (q->width - 8)));
    if (q->width < 16) /* the second half ends with the line */
        return by_one(line + 3, high) | (uint64_t)by_one(line + 32, high) << 29;
    __m256i low = _mm256_set1_epi8((char)(key >> (q->width - 16)));
    /* From one byte before the slots on: the last of 31 is the last byte of the line.
     */
    __m256i a = load(line + 1), b = load(line + 1 + q->slots);
    __m256i none = _mm256_cmpeq_epi8(b, _mm256_setzero_si256());
    a = _mm256_andnot_si256(_mm256_and_si256(end_of(a), none),
                            _mm256_xor_si256(a, high));
    b = _mm256_andnot_si256(end_of(b), _mm256_xor_si256(b, low));
    return zero_bytes(_mm256_or_si256(a, b)) >> 1;
}

T256 static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    sn_quotient_has(l, h, n, found, maybe);
}

T256 static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    return sn_quotient_add(l, h, n, dup, maybe);
}

T256 static bool has_one(const sn_layer *l, uint64_t h)
{
    return sn_quotient_find(sn_quotient_of(l), h, maybe);
}

const sn_variant sn_quotient_avx2 = {
    .prefetch = sn_quotient_prefetch, .has = has, .add = add, .has_one = has_one};
#endif
