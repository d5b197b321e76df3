/* ribbon_x86.c - AVX2 and AVX-512 twins of ribbon.c: eight or four bits of a
 * fingerprint at a time. */
#include "kind/ribbon.h"
#if defined(__x86_64__)
#include <immintrin.h>

/* ---- AVX-512 with a population count of words ----------------------------------- */

#define T512                                                                            \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vpopcntdq,bmi2")))

/* Bits J .. J+7 of the value stored for the key, as far as USED goes. */
T512 static inline unsigned value512(const sn_ribbon_spot *s, unsigned j)
{
    unsigned left = s->used - j;
    __mmask8 some = (__mmask8)(left >= 8 ? 0xff : (1u << left) - 1);
    const __m512i lo = _mm512_set1_epi64((long long)s->lo);
    const __m512i hi = _mm512_set1_epi64((long long)s->hi);
    __m512i a = _mm512_maskz_loadu_epi64(some, s->at + 8 * j);
    __m512i b = _mm512_maskz_loadu_epi64(some, s->at + 8 * (s->stride + j));
    __m512i x = _mm512_xor_si512(_mm512_and_si512(a, lo), _mm512_and_si512(b, hi));
    return _mm512_test_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(1));
}

T512 static void has512(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    unsigned bits = sn_ribbon_bits(&l->shape);
    if (l->shape.k < 8) {
        for (size_t i = 0; i < n; i++) {
            sn_ribbon_spot s = sn_ribbon_spot_of(l, bits, h[i]);
            found[i] = s.at && value512(&s, 0) == (s.print & ((1u << s.used) - 1));
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        sn_ribbon_spot s = sn_ribbon_spot_of(l, bits, h[i]);
        uint64_t value = 0;
        for (unsigned j = 0; s.at && j < s.used; j += 8)
            value |= (uint64_t)value512(&s, j) << j;
        found[i] = s.at && value == (s.print & (((uint64_t)1 << s.used) - 1));
    }
}

/* Up to eight bits a slot in one register of windows. */
T512 static void fill512(const sn_ribbon_row *rows, uint64_t segments, uint64_t wide,
                         unsigned r, uint64_t *out)
{
    const __m512i one = _mm512_set1_epi64(1);
    for (unsigned j = 0; j < r + (wide > 0); j += 8) {
        __m512i state = _mm512_setzero_si512();
        for (uint64_t seg = segments + 1; seg-- > 0;) {
            unsigned used = r + (seg < wide), left = used > j ? used - j : 0;
            __mmask8 some = (__mmask8)(left >= 8 ? 0xff : (1u << left) - 1);
            if (!some)
                continue;
            for (unsigned o = 64; o-- > 0;) {
                const sn_ribbon_row *row = rows + seg * 64 + o;
                __m512i x = _mm512_set1_epi64((long long)(row->subset >> 1));
                __mmask8 bit = _mm512_mask_test_epi64_mask(
                    some, _mm512_popcnt_epi64(_mm512_and_si512(x, state)), one);
                bit ^= (__mmask8)(row->print >> j) & some;
                state = _mm512_add_epi64(state, state);
                state = _mm512_mask_or_epi64(state, bit, state, one);
            }
            uint64_t *to = out + seg * r + (seg < wide ? seg : wide) + j;
            _mm512_mask_storeu_epi64(to, some, state);
        }
    }
}

/* ---- AVX2 ---------------------------------------------------------------------------- */

#define T256 __attribute__((target("avx2,bmi2")))

/* Bits J .. J+3: a word's parity ends in its top bit after folding it upwards. */
T256 static inline unsigned value256(const sn_ribbon_spot *s, unsigned j)
{
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    __m256i some = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)s->used - j), lane);
    __m256i a = _mm256_maskload_epi64((const long long *)(const void *)(s->at + 8 * j), some);
    __m256i b = _mm256_maskload_epi64(
        (const long long *)(const void *)(s->at + 8 * (s->stride + j)), some);
    __m256i x = _mm256_xor_si256(_mm256_and_si256(a, _mm256_set1_epi64x((long long)s->lo)),
                                 _mm256_and_si256(b, _mm256_set1_epi64x((long long)s->hi)));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 32));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 4));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 2));
    x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 1));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(x));
}

T256 static void has256(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    unsigned bits = sn_ribbon_bits(&l->shape);
    for (size_t i = 0; i < n; i++) {
        sn_ribbon_spot s = sn_ribbon_spot_of(l, bits, h[i]);
        uint64_t value = 0;
        for (unsigned j = 0; s.at && j < s.used; j += 4)
            value |= (uint64_t)value256(&s, j) << j;
        found[i] = s.at && value == (s.print & (((uint64_t)1 << s.used) - 1));
    }
}

const sn_twin *sn_ribbon_x86(enum sn_simd simd)
{
    static const sn_twin twin512 = { sn_ribbon_touch, has512, NULL };
    static const sn_twin twin256 = { sn_ribbon_touch, has256, NULL };
    if (simd == SN_AVX512 && __builtin_cpu_supports("avx512vpopcntdq"))
        return &twin512;
    return simd >= SN_AVX2 ? &twin256 : NULL;
}

sn_ribbon_fill *sn_ribbon_fill_x86(void)
{
    return __builtin_cpu_supports("avx512vpopcntdq") ? fill512 : NULL;
}
#else
const sn_twin *sn_ribbon_x86(enum sn_simd simd)
{
    (void)simd;
    return NULL;
}
sn_ribbon_fill *sn_ribbon_fill_x86(void) { return NULL; }
#endif
