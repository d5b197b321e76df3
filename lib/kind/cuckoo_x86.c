/* cuckoo_x86.c - AVX2 variant of cuckoo.c: decodes and compares the four fingerprints
 * of a bucket at once, for any width. */
#include "kind/cuckoo.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define T256 __attribute__((target("avx2,bmi,bmi2")))

T256 SN_CUCKOO_INLINE __m256i four_of(const sn_family *f, uint64_t b)
{
    const sn_slots *s = &f->slots;
    const __m256i fifteen = _mm256_set1_epi64x(15);
    const __m256i turn = _mm256_setr_epi64x(0, s->low, 0, s->low);
    const __m256i turn_nibbles = _mm256_setr_epi64x(0, 4, 8, 12);
    sn_parts at = sn_bucket_parts(f->buckets, s, b);
    __m128i x = _mm_set1_epi64x((long long)at.x), y = _mm_set1_epi64x((long long)at.y);
    __m256i lows = _mm256_inserti128_si256(_mm256_castsi128_si256(x), y, 1);
    __m256i tops = _mm256_set1_epi64x((long long)sn_bucket_nibbles(&at));
    lows = _mm256_and_si256(_mm256_srlv_epi64(lows, turn),
                            _mm256_set1_epi64x((long long)s->mask));
    tops = _mm256_and_si256(_mm256_srlv_epi64(tops, turn_nibbles), fifteen);
    tops = _mm256_sll_epi64(tops, _mm_cvtsi32_si128((int)s->low));
    return _mm256_or_si256(lows, tops);
}

T256 SN_CUCKOO_INLINE bool match(const sn_family *f, const sn_place *p)
{
    __m256i v = _mm256_set1_epi64x((long long)p->v);
    __m256i equal = _mm256_or_si256(_mm256_cmpeq_epi64(four_of(f, p->b), v),
                                    _mm256_cmpeq_epi64(four_of(f, p->alt), v));
    return !_mm256_testz_si256(equal, equal);
}

T256 static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    SN_CUCKOO_ASK(l, h, n, found, match);
}

T256 static bool has_one(const sn_layer *l, uint64_t h)
{
    SN_CUCKOO_ONE(l, h, match);
}

const sn_variant sn_cuckoo_avx2 = {.prefetch = sn_cuckoo_prefetch,
                                   .has = has,
                                   .add = sn_cuckoo_add,
                                   .has_one = has_one};
#endif
