/* murmur_rows_x86.c - AVX2 variant of murmur_rows.c: a row is a lane. */
#include "sketch/murmur_rows.h"
#if defined(__x86_64__)
#include "hash/word_ops.h"
#include <immintrin.h>

#define T256 __attribute__((target("avx2")))
#define M 0x5bd1e995u

T256 static inline __m256i mixed(__m256i h, int shift)
{
    __m256i m = _mm256_set1_epi32((int)M);
    return _mm256_mullo_epi32(_mm256_xor_si256(h, _mm256_srli_epi32(h, shift)), m);
}

/* The upper halves of the eight products with Y. */
T256 static inline __m256i mulhi(__m256i x, __m256i y)
{
    __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(x, y), 32);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), y);
    return _mm256_blend_epi32(even, odd, 0xaa);
}

T256 void sn_rows_avx2(const void *item, size_t len, uint32_t row, uint64_t width,
                       uint64_t inverse, uint64_t at[SN_ROWS])
{
    const uint8_t *p = item;
    __m256i m = _mm256_set1_epi32((int)M);
    __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i h = _mm256_add_epi32(_mm256_set1_epi32((int)row), lane);
    h = _mm256_xor_si256(h, _mm256_set1_epi32((int)(uint32_t)len));
    size_t left = len;
    for (; left >= 4; p += 4, left -= 4) {
        uint32_t w = sn_le32(p) * M;
        w = (w ^ w >> 24) * M;
        h = _mm256_xor_si256(_mm256_mullo_epi32(h, m), _mm256_set1_epi32((int)w));
    }
    if (left) {
        __m256i tail = _mm256_set1_epi32((int)(uint32_t)sn_tail64(p, left));
        h = _mm256_mullo_epi32(_mm256_xor_si256(h, tail), m);
    }
    h = mixed(h, 13);
    h = _mm256_xor_si256(h, _mm256_srli_epi32(h, 15));
    /* Like sn_modulo() in 32 bits: the remainder is below twice the width. Subtracting
     * the width once too often wraps to a large number, so the minimum is right. */
    __m256i w = _mm256_set1_epi32((int)(uint32_t)width);
    __m256i inv = _mm256_set1_epi32((int)(UINT32_MAX / (uint32_t)width));
    __m256i r = _mm256_sub_epi32(h, _mm256_mullo_epi32(mulhi(h, inv), w));
    r = _mm256_min_epu32(r, _mm256_sub_epi32(r, w));
    _mm256_storeu_si256((__m256i *)(void *)at,
                        _mm256_cvtepu32_epi64(_mm256_castsi256_si128(r)));
    _mm256_storeu_si256((__m256i *)(void *)(at + 4),
                        _mm256_cvtepu32_epi64(_mm256_extracti128_si256(r, 1)));
}
#endif
