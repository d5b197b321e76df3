/* split_x86.c - AVX2 variant of split.c: a block is one register. */
#include "kind/split.h"
#if defined(__x86_64__)
#include <immintrin.h>

#define T256 __attribute__((target("avx2")))

T256 static inline __m256i bits_of(uint64_t h, __m256i salt)
{
    __m256i x = _mm256_mullo_epi32(_mm256_set1_epi32((int)(uint32_t)h), salt);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(x, 27));
}

T256 static inline __m256i salts(void)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)sn_split_salt);
}

T256 static inline __attribute__((always_inline)) void
has_of(const sn_layer *l, const uint64_t *h, size_t n, bool *found, bool ahead)
{
    __m256i salt = salts();
    for (size_t i = 0; i < n; i++) {
        if (ahead)
            SN_FETCH(sn_split_at(l, h[i + SN_AHEAD]));
        found[i] = _mm256_testc_si256(
            _mm256_loadu_si256((const __m256i *)(const void *)sn_split_at(l, h[i])),
            bits_of(h[i], salt));
    }
}

T256 static inline __attribute__((always_inline)) void
add_of(sn_layer *l, const uint64_t *h, size_t n, bool *dup, bool ahead)
{
    __m256i salt = salts();
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        if (ahead)
            SN_FETCH(sn_split_at(l, h[i + SN_AHEAD]));
        __m256i *p = (__m256i *)(void *)sn_split_at(l, h[i]);
        __m256i block = _mm256_loadu_si256(p), bits = bits_of(h[i], salt);
        bool old = _mm256_testc_si256(block, bits);
        _mm256_storeu_si256(p, _mm256_or_si256(block, bits));
        dup[i] = old;
        fresh += !old;
    }
    l->added += fresh;
}

T256 static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    has_of(l, h, n, found, false);
}

T256 static void has_ahead(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    has_of(l, h, n, found, true);
}

T256 static bool has_one(const sn_layer *l, uint64_t h)
{
    bool found;
    has_of(l, &h, 1, &found, false);
    return found;
}

T256 static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    add_of(l, h, n, dup, false);
    return n;
}

T256 static void add_ahead(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    add_of(l, h, n, dup, true);
}

const sn_variant sn_split_avx2 = {sn_split_prefetch, has,       add,
                                  has_ahead,         add_ahead, has_one};
#endif
