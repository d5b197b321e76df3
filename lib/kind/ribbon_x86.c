/* ribbon_x86.c - AVX2 and AVX-512 variants of ribbon.c: eight or four bits of a
 * fingerprint at a time. */
#include "kind/ribbon.h"
#if defined(__x86_64__)
#include <immintrin.h>

/* Every load ends where the words of the key end: a masked load that reaches into the
 * next line waits for that line, even if it is not needed. */
#define INLINE static inline __attribute__((always_inline))

/* Bits from J on of the value stored for the key, word by word. */
INLINE uint64_t value_rest(const sn_ribbon_spot *s, unsigned j)
{
    uint64_t value = 0;
    for (; j < s->used; j++) {
        uint64_t x = (sn_le64(s->at + 8 * j) & s->lo) ^
                     (sn_le64(s->at + s->stride + 8 * j) & s->hi);
        value |= (uint64_t)(__builtin_popcountll(x) & 1) << j;
    }
    return value;
}

INLINE bool right(const sn_ribbon_spot *s, uint64_t value)
{
    return value == (s->print & (((uint64_t)1 << s->used) - 1));
}

/* ---- AVX-512 with a population count of words ----------------------------------- */

#define T512                                                                           \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vpopcntdq,"        \
                          "avx512vbmi,bmi2,popcnt")))

/* Processors have both extensions that are not part of every AVX-512, or neither. */
static bool have512(void)
{
    return sn_cpu_has(SN_POPCNTS) && sn_cpu_has(SN_VBMI);
}

T512 INLINE bool match512(const sn_ribbon_spot *s)
{
    uint64_t value = 0;
    unsigned j = 0;
    for (; j + 8 <= s->used; j += 8) {
        __m512i a = _mm512_loadu_si512(s->at + 8 * j);
        __m512i b = _mm512_loadu_si512(s->at + s->stride + 8 * j);
        __m512i x =
            _mm512_xor_si512(_mm512_and_si512(a, _mm512_set1_epi64((long long)s->lo)),
                             _mm512_and_si512(b, _mm512_set1_epi64((long long)s->hi)));
        value |= (uint64_t)_mm512_test_epi64_mask(_mm512_popcnt_epi64(x),
                                                  _mm512_set1_epi64(1))
                 << j;
    }
    if (j + 4 <= s->used) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(s->at + 8 * j));
        __m256i b = _mm256_loadu_si256(
            (const __m256i *)(const void *)(s->at + s->stride + 8 * j));
        __m256i x =
            _mm256_xor_si256(_mm256_and_si256(a, _mm256_set1_epi64x((long long)s->lo)),
                             _mm256_and_si256(b, _mm256_set1_epi64x((long long)s->hi)));
        value |= (uint64_t)_mm256_test_epi64_mask(_mm256_popcnt_epi64(x),
                                                  _mm256_set1_epi64x(1))
                 << j;
        j += 4;
    }
    return right(s, value | value_rest(s, j));
}

/* With few bits, single words are faster. */
T512 INLINE bool match_few512(const sn_ribbon_spot *s)
{
    return right(s, value_rest(s, 0));
}

/* For each trit t of 16 bytes: the factor that moves it to the top, 270 times 3^(4-t),
 * and its bit in a subset. A subset has 64 bits, one less than 13 bytes have trits. */
#define LANES(x, last)                                                                 \
    {                                                                                  \
        x, x, x, x, x, x, x, x, x, x, x, x, last, 0, 0, 0                              \
    }
#define ROUND(t, times, last)                                                          \
    {                                                                                  \
        LANES((times)&0xffff, (times)&0xffff), LANES(1 << t, last)                     \
    }
static const uint16_t rounds[5][2][16] = {
    ROUND(0, 270 * 81, 1), ROUND(1, 270 * 27, 2), ROUND(2, 270 * 9, 4),
    ROUND(3, 270 * 3, 8),  ROUND(4, 270, 0),
};

T512 INLINE __m256i lanes_at(const uint16_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* sn_ribbon_trit_right, one trit of all bytes at a time. */
T512 INLINE bool trit_right512(const sn_ribbon_spot *s)
{
    const __m256i three = _mm256_set1_epi16(3), zero = _mm256_setzero_si256();
    const uint16_t(*c)[2][16] = rounds;
    __asm__("" : "+r"(c)); /* or gcc computes the constants again for each key */
    const void *near = sn_ribbon_near_trits(s), *far = sn_ribbon_far_trits(s);
    __m256i bytes = _mm256_cvtepu8_epi16(_mm_mask_mov_epi8(
        _mm_loadu_si128(near), (__mmask16)(0xffffu << s->near), _mm_loadu_si128(far)));
    __m256i in = _mm256_cvtepu8_epi16(
        _mm_multishift_epi64_epi8(_mm_set_epi64x(0x3c37322d28, 0x231e19140f0a0500),
                                  _mm_set1_epi64x((long long)sn_ribbon_subset(s))));
    __m256i sum = zero;
#pragma GCC unroll 5
    for (int t = 0; t < 5; t++)
        sum = _mm256_mask_add_epi16(
            sum, _mm256_test_epi16_mask(in, lanes_at(c[t][1])), sum,
            _mm256_mulhi_epu16(_mm256_mullo_epi16(bytes, lanes_at(c[t][0])), three));
    sum = _mm256_sad_epu8(sum, zero);
    __m128i half =
        _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    half = _mm_add_epi64(half, _mm_unpackhi_epi64(half, half));
    unsigned trit = s->trit, over = (unsigned)_mm_cvtsi128_si32(half) + 3 - trit;
    return (over * 0xaaaaaaab <= 0x55555555) | (trit == 3); /* a multiple of 3 */
}

/* Tests bits first: few absent keys pass them. From four bits on, the words of a key in
 * the next segment end 64 bytes or more after its first. */
T512 INLINE bool match_trits512(const sn_ribbon_spot *s)
{
    unsigned used = s->used;
    if (used < 4 || used > 8)
        return match512(s) && trit_right512(s);
    __m512i lanes = _mm512_add_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                                     _mm512_set1_epi64(-(long long)used));
    __m512i a = _mm512_loadu_si512(s->at);
    __m512i b = _mm512_permutexvar_epi64(
        lanes, _mm512_loadu_si512(s->at + s->stride + 8 * used - 64));
    __m512i x =
        _mm512_xor_si512(_mm512_and_si512(a, _mm512_set1_epi64((long long)s->lo)),
                         _mm512_and_si512(b, _mm512_set1_epi64((long long)s->hi)));
    uint64_t value =
        _mm512_test_epi64_mask(_mm512_popcnt_epi64(x), _mm512_set1_epi64(1));
    return right(s, value & (((uint64_t)1 << used) - 1)) && trit_right512(s);
}

T512 INLINE __m512i remix512(__m512i x)
{
    const __m512i times = _mm512_set1_epi64((long long)0x9e3779b97f4a7c15u);
    const __m512i plus = _mm512_set1_epi64((long long)0xd1b54a32d192ed03u);
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
    x = _mm512_add_epi64(_mm512_mullo_epi64(x, times), plus);
    return _mm512_xor_si512(x, _mm512_srli_epi64(x, 29));
}

/* Stores in halves: gcc assumes that an array on the stack is aligned to 64 bytes,
 * which is not true in the frames of gcc's address sanitizer. */
T512 INLINE void put512(uint64_t *to, __m512i x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, _mm512_castsi512_si256(x));
    _mm256_storeu_si256((__m256i *)(void *)(to + 4), _mm512_extracti64x4_epi64(x, 1));
}

/* Computes and prefetches the spots of eight keys. */
T512 INLINE void eight_spots512(sn_ribbon_view v, const uint64_t *h, sn_ribbon_spot *to)
{
    uint64_t m[8], g[8], c[8];
    __m512i x = remix512(_mm512_loadu_si512(h));
    put512(m, x);
    x = remix512(x);
    put512(g, x);
    put512(c, remix512(x));
    for (int j = 0; j < 8; j++) {
        sn_ribbon_spot s = sn_ribbon_spot_mixed(v, m[j], g[j], c[j]);
        if (s.at)
            sn_ribbon_fetch(&s, v.e);
        to[j] = s;
    }
}

/* SN_RIBBON_ASK with the hashes of eight keys mixed at once, for all complete groups of
 * eight in N; returns how many keys that are. A macro for the same reason. */
#define ASK512(l, e, AHEAD, h, n, found, MATCH)                                        \
    ({                                                                                 \
        sn_ribbon_spot eights_[AHEAD];                                                 \
        sn_ribbon_view seen_ = sn_ribbon_view_of(l, e);                                \
        size_t whole_ = (n) & ~(size_t)7, ask_ = 0;                                    \
        for (; ask_ < whole_ && ask_ < AHEAD; ask_ += 8)                               \
            eight_spots512(seen_, (h) + ask_, eights_ + ask_);                         \
        for (ask_ = 0; ask_ < whole_; ask_ += 8) {                                     \
            sn_ribbon_spot *s_ = eights_ + ask_ % AHEAD;                               \
            for (int j_ = 0; j_ < 8; j_++)                                             \
                (found)[ask_ + j_] = s_[j_].at && MATCH(s_ + j_);                      \
            if (ask_ + AHEAD < whole_)                                                 \
                eight_spots512(seen_, (h) + ask_ + AHEAD, s_);                         \
        }                                                                              \
        whole_;                                                                        \
    })

/* A filter of whole bits has no wide segments: if R is also a small constant, little
 * remains to compute. */
T512 INLINE bool match_two512(const sn_ribbon_spot *s)
{
    uint64_t x = (sn_le64(s->at) & s->lo) ^ (sn_le64(s->at + 16) & s->hi);
    uint64_t y = (sn_le64(s->at + 8) & s->lo) ^ (sn_le64(s->at + 24) & s->hi);
    uint64_t value = (uint64_t)__builtin_popcountll(x) ^ s->print;
    uint64_t next = (uint64_t)__builtin_popcountll(y) ^ s->print >> 1;
    return !((value | next) & 1);
}

T512 static void has512(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    unsigned e = sn_ribbon_extra(&l->shape);
    size_t done = e ? ASK512(l, e, 16, h, n, found, match_trits512)
                  : l->shape.k == 2 && !l->shape.own[SN_RIBBON_SHARE]
                      ? ASK512(l, 0, 32, h, n, found, match_two512)
                  : l->shape.k < 4 ? ASK512(l, 0, 32, h, n, found, match_few512)
                                   : ASK512(l, 0, 32, h, n, found, match512);
    if (e)
        SN_RIBBON_ASK(l, e, h + done, n - done, found + done, match_trits512);
    else
        SN_RIBBON_ASK(l, 0, h + done, n - done, found + done, match512);
}

T512 static bool one512(const sn_layer *l, uint64_t h)
{
    unsigned e = sn_ribbon_extra(&l->shape);
    if (e)
        SN_RIBBON_ONE(l, e, h, match_trits512);
    SN_RIBBON_ONE(l, 0, h, match512);
}

/* Handles up to eight bits a slot, with one register of windows. */
T512 static void fill512(const sn_ribbon_row *rows, uint64_t segments, uint64_t wide,
                         unsigned r, unsigned e, uint8_t *out)
{
    const __m512i one = _mm512_set1_epi64(1);
    for (unsigned j = 0; j < r + (e ? e : wide > 0); j += 8) {
        __m512i state = _mm512_setzero_si512();
        for (uint64_t seg = segments + 1; seg-- > 0;) {
            unsigned used = sn_ribbon_columns(seg, wide, r, e);
            unsigned left = used > j ? used - j : 0;
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
            uint8_t *to = out + sn_ribbon_at(seg, wide, r, e) + 8 * j;
            _mm512_mask_storeu_epi64(to, some, state);
        }
    }
}

/* ---- AVX2 ------------------------------------------------------------------------ */

#define T256 __attribute__((target("avx2,bmi2,popcnt")))

/* Folding a word upwards leaves its parity in the top bit. */
T256 INLINE bool match256(const sn_ribbon_spot *s)
{
    uint64_t value = 0;
    unsigned j = 0;
    for (; j + 4 <= s->used; j += 4) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(s->at + 8 * j));
        __m256i b = _mm256_loadu_si256(
            (const __m256i *)(const void *)(s->at + s->stride + 8 * j));
        __m256i x =
            _mm256_xor_si256(_mm256_and_si256(a, _mm256_set1_epi64x((long long)s->lo)),
                             _mm256_and_si256(b, _mm256_set1_epi64x((long long)s->hi)));
        x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 32));
        x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 16));
        x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 8));
        x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 4));
        x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 2));
        x = _mm256_xor_si256(x, _mm256_slli_epi64(x, 1));
        value |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(x)) << j;
    }
    return right(s, value | value_rest(s, j));
}

T256 INLINE bool match_trits256(const sn_ribbon_spot *s)
{
    return match256(s) && sn_ribbon_trit_right(s);
}

T256 static void has256(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    unsigned e = sn_ribbon_extra(&l->shape);
    if (e)
        SN_RIBBON_ASK(l, e, h, n, found, match_trits256);
    else
        SN_RIBBON_ASK(l, 0, h, n, found, match256);
}

T256 static bool one256(const sn_layer *l, uint64_t h)
{
    unsigned e = sn_ribbon_extra(&l->shape);
    if (e)
        SN_RIBBON_ONE(l, e, h, match_trits256);
    SN_RIBBON_ONE(l, 0, h, match256);
}

const sn_variant *sn_ribbon_x86(enum sn_simd simd)
{
    static const sn_variant variant512 = {
        .prefetch = sn_ribbon_prefetch, .has = has512, .has_one = one512};
    static const sn_variant variant256 = {
        .prefetch = sn_ribbon_prefetch, .has = has256, .has_one = one256};
    if (simd == SN_AVX512 && have512())
        return &variant512;
    return simd >= SN_AVX2 ? &variant256 : NULL;
}

sn_ribbon_fill *sn_ribbon_fill_x86(void)
{
    return have512() ? fill512 : NULL;
}
#else
const sn_variant *sn_ribbon_x86(enum sn_simd simd)
{
    (void)simd;
    return NULL;
}
sn_ribbon_fill *sn_ribbon_fill_x86(void)
{
    return NULL;
}
#endif
