/* murmur2.c - MurmurHash2, 32 bits, and MurmurHash64A; pure functions. */
#include "hash/murmur2.h"
#include "hash/tail.h"

uint32_t sn_murmur2_32(const void *key, size_t len, uint32_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const uint8_t *p = key;
    uint32_t h = seed ^ (uint32_t)len;
    size_t left = len;
    for (; left >= 4; p += 4, left -= 4) {
        uint32_t w = sn_le32(p) * m;
        w ^= w >> 24;
        h = h * m ^ w * m;
    }
    if (left) {
        h ^= (uint32_t)sn_tail64(p, left);
        h *= m;
    }
    h ^= h >> 13;
    h *= m;
    return h ^ h >> 15;
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
