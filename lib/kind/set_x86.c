/* set_x86.c - vector variants of set.c: a bucket is compared at once. */
#include "kind/set.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define T256 __attribute__((target("avx2,bmi")))
#define T512 __attribute__((target("avx512f,avx512dq,avx512vl,bmi")))

/* A mask of eight slots: bit i is set if slot i holds WANT. */
T256 static inline unsigned equal2(const uint64_t *w, __m256i want)
{
    __m256i a = _mm256_load_si256((const __m256i *)(const void *)w);
    __m256i b = _mm256_load_si256((const __m256i *)(const void *)(w + 4));
    return (unsigned)_mm256_movemask_pd(
               _mm256_castsi256_pd(_mm256_cmpeq_epi64(a, want))) |
           (unsigned)_mm256_movemask_pd(
               _mm256_castsi256_pd(_mm256_cmpeq_epi64(b, want)))
               << 4;
}

/* The slot of TAG if present (*OLD), else the first empty one on the way, else NULL. */
T256 static inline uint64_t *find2(const sn_layer *l, uint64_t tag, bool *old)
{
    uint64_t units = l->shape.units, b = sn_set_home(tag, units);
    __m256i want = _mm256_set1_epi64x((long long)tag), zero = _mm256_setzero_si256();
    for (uint64_t tries = 0; tries < units; tries++) {
        uint64_t *w = sn_set_bucket(l, b);
        unsigned m = equal2(w, want);
        *old = m != 0;
        if (!m)
            m = equal2(w, zero);
        if (m)
            return w + __builtin_ctz(m);
        b = b + 1 == units ? 0 : b + 1;
    }
    *old = false;
    return NULL;
}

T512 static inline uint64_t *find5(const sn_layer *l, uint64_t tag, bool *old)
{
    uint64_t units = l->shape.units, b = sn_set_home(tag, units);
    __m512i want = _mm512_set1_epi64((long long)tag);
    for (uint64_t tries = 0; tries < units; tries++) {
        uint64_t *w = sn_set_bucket(l, b);
        __m512i x = _mm512_load_si512(w);
        unsigned m = _mm512_cmpeq_epi64_mask(x, want);
        *old = m != 0;
        if (!m)
            m = (unsigned)_mm512_testn_epi64_mask(x, x);
        if (m)
            return w + __builtin_ctz(m);
        b = b + 1 == units ? 0 : b + 1;
    }
    *old = false;
    return NULL;
}

#define VARIANT(suffix, target, find)                                                  \
    target static void has##suffix(const sn_layer *l, const uint64_t *h, size_t n,     \
                                   bool *found)                                        \
    {                                                                                  \
        for (size_t i = 0; i < n; i++)                                                 \
            find(l, sn_set_tag(h[i]), &found[i]);                                      \
    }                                                                                  \
    target static size_t add##suffix(sn_layer *l, const uint64_t *h, size_t n,         \
                                     bool *dup)                                        \
    {                                                                                  \
        uint64_t most = sn_set_most(l->shape.units), added = l->added;                 \
        size_t i;                                                                      \
        for (i = 0; i < n; i++) {                                                      \
            uint64_t tag = sn_set_tag(h[i]);                                           \
            bool old;                                                                  \
            uint64_t *w = find(l, tag, &old);                                          \
            dup[i] = old;                                                              \
            if (old)                                                                   \
                continue;                                                              \
            if (!w || added >= most)                                                   \
                break;                                                                 \
            *w = tag;                                                                  \
            added++;                                                                   \
        }                                                                              \
        l->added = added;                                                              \
        return i;                                                                      \
    }

VARIANT(2, T256, find2)
VARIANT(5, T512, find5)

const sn_variant sn_set_avx2 = {sn_set_prefetch, has2, add2};
const sn_variant sn_set_avx512 = {sn_set_prefetch, has5, add5};
#endif
