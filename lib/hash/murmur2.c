/* murmur2.c - MurmurHash2, 32 bits, and MurmurHash64A; pure functions. */
#include "hash/murmur2.h"
#include "hash/word_ops.h"

/* Each word of the key is mixed before it is combined with the seed, so several seeds
 * share that work, and their chains of multiplications run in parallel. */
__attribute__((always_inline)) static inline void lanes(const uint8_t *p, size_t len,
                                                        uint32_t seed, uint32_t *h,
                                                        unsigned n)
{
    const uint32_t m = 0x5bd1e995;
    for (unsigned i = 0; i < n; i++)
        h[i] = (seed + i) ^ (uint32_t)len;
    size_t left = len;
    for (; left >= 4; p += 4, left -= 4) {
        uint32_t w = sn_le32(p) * m;
        w ^= w >> 24;
        w *= m;
        for (unsigned i = 0; i < n; i++)
            h[i] = h[i] * m ^ w;
    }
    uint32_t tail = (uint32_t)sn_tail64(p, left);
    for (unsigned i = 0; i < n; i++) {
        if (left)
            h[i] = (h[i] ^ tail) * m;
        h[i] = (h[i] ^ h[i] >> 13) * m;
        h[i] ^= h[i] >> 15;
    }
}

uint32_t sn_murmur2_32(const void *key, size_t len, uint32_t seed)
{
    uint32_t h;
    lanes(key, len, seed, &h, 1);
    return h;
}

void sn_murmur2_32_seeds(const void *key, size_t len, uint32_t first, uint32_t n,
                         uint32_t *out)
{
    enum { LANES = 8 };
    for (uint32_t at = 0; at < n; at += LANES) {
        uint32_t h[LANES];
        lanes(key, len, first + at, h, LANES);
        memcpy(out + at, h, sizeof *h * (n - at < LANES ? n - at : LANES));
    }
}

uint64_t sn_murmur64a(const void *key, size_t len, uint64_t seed)
{
    const uint64_t m = 0xc6a4a7935bd1e995;
    const uint8_t *p = key;
    uint64_t h = seed ^ (uint64_t)len * m;
    size_t left = len;
    for (; left >= 8; p += 8, left -= 8) {
        uint64_t w = sn_le64(p) * m;
        w ^= w >> 47;
        h = (h ^ w * m) * m;
    }
    if (left) {
        h ^= sn_tail64(p, left);
        h *= m;
    }
    h ^= h >> 47;
    h *= m;
    return h ^ h >> 47;
}
