/* quotient_x86.c - the variant of quotient.c for AVX2 and BMI2: the first slots of a cell are
 * compared at once, without a branch that depends on the key. */
#include "kind/quotient.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define TAVX2 __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt")))

TAVX2 static inline unsigned select_pdep(uint64_t x, unsigned n)
{
    return (unsigned)_tzcnt_u64(_pdep_u64((uint64_t)1 << n, x));
}

/* What is the same for all keys of a batch. */
typedef struct fixed {
    sn_quotient q;
    uint64_t starts, end; /* which bits of the second word these are, and the one behind */
    __m256i shift, mask;  /* of the slots in 64 bits */
    unsigned whole;       /* how many of them are looked at, at most 4 */
} fixed;

TAVX2 static inline fixed fix(const sn_layer *l)
{
    fixed f = {.q = sn_quotient_of(l)};
    unsigned w = f.q.w, whole = 64 / w;
    f.end = f.q.slots < 64 ? (uint64_t)1 << f.q.slots : 0;
    f.starts = f.end - 1;
    f.whole = whole < 4 ? whole : 4;
    f.shift = _mm256_set_epi64x(3 * w, 2 * w, w, 0);
    f.mask = _mm256_set1_epi64x((long long)(((uint64_t)1 << w) - 1));
    return f;
}

TAVX2 static inline __attribute__((always_inline)) bool find(const fixed *f, uint64_t h)
{
    const sn_quotient *q = &f->q;
    unsigned home;
    uint64_t i = sn_quotient_home(q, h, &home);
    const uint8_t *line = q->body + i * 64;
    unsigned at = home + line[1], on = at >> 7;
    at = on ? at & 127 : home + line[0];
    line += on * 64;
    if (__builtin_expect((at >= SN_QUOTIENT_CELLS) |
                             sn_quotient_passes(line, (int)at - line[0]), 0))
        return sn_quotient_find(q, h, select_pdep);
    uint64_t cells = sn_le64(line) >> 16;
    uint64_t in = cells >> at & 1;
    unsigned before = (unsigned)__builtin_popcountll(_bzhi_u64(cells, (unsigned)at));
    uint64_t starts = (sn_le64(line + 8) & f->starts) | f->end;
    unsigned slot = select_pdep(starts, before) & 63;
    uint64_t later = starts >> slot >> 1;
    unsigned run = (unsigned)_tzcnt_u64(later) + 1;
    unsigned bit = q->slots_at + slot * q->w, off = bit & 63, k = bit >> 6 & 7;
    /* What lies behind the line is no slot of the run. */
    uint64_t x = sn_le64(line + 8 * k) >> off |
                 sn_le64(line + 8 * ((k + 1) & 7)) << 1 << (63 - off);
    __m256i v = _mm256_and_si256(
        _mm256_srlv_epi64(_mm256_set1_epi64x((long long)x), f->shift), f->mask);
    __m256i key = _mm256_set1_epi64x((long long)sn_quotient_slot(q, h));
    __m256i behind = _mm256_xor_si256(v, _mm256_add_epi64(v, _mm256_set1_epi64x(-1)));
    __m256i differ = _mm256_andnot_si256(behind, _mm256_xor_si256(v, key));
    __m256i zero = _mm256_setzero_si256(), none = _mm256_cmpeq_epi64(v, zero);
    __m256i same = _mm256_andnot_si256(none, _mm256_cmpeq_epi64(differ, zero));
    unsigned hit = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
    unsigned ended = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(none));
    hit = _bzhi_u32(_bzhi_u32(hit, run), f->whole);
    if (__builtin_expect(in & !hit & (run > f->whole) & !_bzhi_u32(ended, f->whole), 0))
        return sn_quotient_find(q, h, select_pdep);
    return in & (hit != 0);
}

TAVX2 static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    fixed f = fix(l);
    bool far = l->len > SN_QUOTIENT_CACHED;
    if (far)
        sn_quotient_prefetch(l, h, n < SN_QUOTIENT_FAR ? n : SN_QUOTIENT_FAR);
    for (size_t i = 0; i < n; i++) {
        if (far)
            sn_quotient_fetch(&f.q, h, i, n);
        found[i] = find(&f, h[i]);
    }
}

TAVX2 static bool has_one(const sn_layer *l, uint64_t h)
{
    sn_quotient q = sn_quotient_of(l);
    return sn_quotient_find(&q, h, select_pdep);
}

TAVX2 static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    fixed f = fix(l);
    for (size_t i = 0; i < n; i++) {
        int was = !f.q.copies && find(&f, h[i]) ? 1 : sn_quotient_add_one(l, h[i]);
        if (was < 0)
            return i;
        dup[i] = was;
    }
    return n;
}

const sn_variant sn_quotient_avx2 = {.prefetch = sn_quotient_prefetch,
                                  .has = has,
                                  .add = add,
                                  .has_one = has_one};
#endif
