/* byte_masks.c - classes of 64 bytes at once.
 *
 * The plain variant looks up eight bytes, each a word with one class in every byte of
 * it, shifts them by their places and so gets eight masks of eight bits; AVX2 has a
 * class for each pair of nibbles. */
#include "byte_masks.h"
#include "instructions.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static uint64_t spread[256];

static unsigned class_of(unsigned c)
{
    if (c >= 0x80)
        return 7;
    if ((c | 32) >= 'a' && (c | 32) <= 'z')
        return 0;
    if (c >= '0' && c <= '9')
        return 1;
    if (c == '_')
        return 2;
    if (c == ' ' || (c >= '\t' && c <= '\r'))
        return 3;
    if (c == '\'' || c == '.')
        return 4;
    if (c == ':')
        return 5;
    if (c == ',' || c == ';')
        return 6;
    return 8;
}

void byte_masks_plain(const unsigned char *p, byte_masks *m)
{
    uint64_t mask[8] = {0};
    for (int i = 0; i < 64; i += 8) {
        uint64_t all = 0;
        for (int j = 0; j < 8; j++)
            all |= spread[p[i + j]] << j;
        for (int k = 0; k < 8; k++)
            mask[k] |= (all >> (8 * k) & 255) << i;
    }
    *m = (byte_masks){mask[0], mask[1], mask[2], mask[3],
                      mask[4], mask[5], mask[6], mask[7]};
}

#if defined(__x86_64__)
typedef struct halves {
    __m256i a, b;
} halves;

__attribute__((target("avx2"))) static inline uint64_t bits(halves v)
{
    return (uint32_t)_mm256_movemask_epi8(v.a) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(v.b) << 32;
}

/* Bit K of every byte. */
#define BIT(v, k)                                                                      \
    bits((halves){_mm256_slli_epi16(v.a, 7 - (k)), _mm256_slli_epi16(v.b, 7 - (k))})

/* Classes that are products of a set of high and a set of low nibbles:
 * 1 digits, 2 underscore, 4 \t to \r, 8 space, 16 ' and ., 32 :, 64 comma, 128 ; */
__attribute__((target("avx2"))) static inline __m256i products(__m256i v)
{
    const __m256i low =
        _mm256_setr_epi8(1 | 8, 1, 1, 1, 1, 1, 1, 1 | 16, 1, 1 | 4, 4 | 32,
                         4 | (char)128, 4 | 64, 4, 16, 2, 1 | 8, 1, 1, 1, 1, 1, 1,
                         1 | 16, 1, 1 | 4, 4 | 32, 4 | (char)128, 4 | 64, 4, 16, 2);
    const __m256i high = _mm256_setr_epi8(
        4, 0, 8 | 16 | 64, 1 | 32 | (char)128, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0,
        8 | 16 | 64, 1 | 32 | (char)128, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    __m256i nibble = _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
    return _mm256_and_si256(_mm256_shuffle_epi8(low, v),
                            _mm256_shuffle_epi8(high, nibble));
}

__attribute__((target("avx2"))) static inline __m256i letters(__m256i v)
{
    __m256i off = _mm256_sub_epi8(_mm256_or_si256(v, _mm256_set1_epi8(32)),
                                  _mm256_set1_epi8('a'));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(off, _mm256_set1_epi8(25)), off);
}

__attribute__((target("avx2"))) static void byte_masks_avx2(const unsigned char *p,
                                                            byte_masks *m)
{
    halves v = {_mm256_loadu_si256((const __m256i *)p),
                _mm256_loadu_si256((const __m256i *)(p + 32))};
    halves c = {products(v.a), products(v.b)};
    m->letter = bits((halves){letters(v.a), letters(v.b)});
    m->digit = BIT(c, 0);
    m->underscore = BIT(c, 1);
    m->white = BIT(c, 2) | BIT(c, 3);
    m->both = BIT(c, 4);
    m->letters = BIT(c, 5);
    m->digits = BIT(c, 6) | BIT(c, 7);
    m->high = bits(v);
}
#endif

void (*byte_masks_of)(const unsigned char *p, byte_masks *m) = byte_masks_plain;

void byte_masks_ready(void)
{
    for (unsigned c = 0; c < 256; c++)
        spread[c] = class_of(c) < 8 ? (uint64_t)1 << (8 * class_of(c)) : 0;
#if defined(__x86_64__)
    if (kit_has_avx2())
        byte_masks_of = byte_masks_avx2;
#endif
}
