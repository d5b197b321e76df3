/* murmur3.c - MurmurHash3, x86 32 bits and x64 128 bits; pure functions. */
#include "hash/murmur3.h"
#include "hash/word_ops.h"

#define C1 0x87c37b91114253d5u
#define C2 0x4cf5ad432745937fu

static uint32_t scramble32(uint32_t w)
{
    return sn_rotl32(w * 0xcc9e2d51, 15) * 0x1b873593;
}

uint32_t sn_murmur3_32(const void *key, size_t len, uint32_t seed)
{
    const uint8_t *p = key;
    uint32_t h = seed;
    size_t left = len;
    for (; left >= 4; p += 4, left -= 4) {
        h ^= scramble32(sn_le32(p));
        h = sn_rotl32(h, 13) * 5 + 0xe6546b64;
    }
    if (left)
        h ^= scramble32((uint32_t)sn_tail64(p, left));
    h ^= (uint32_t)len;
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

static uint64_t scramble1(uint64_t w)
{
    return sn_rotl64(w * C1, 31) * C2;
}

static uint64_t scramble2(uint64_t w)
{
    return sn_rotl64(w * C2, 33) * C1;
}

static void group(uint64_t h[2], const uint8_t *p)
{
    h[0] ^= scramble1(sn_le64(p));
    h[0] = (sn_rotl64(h[0], 27) + h[1]) * 5 + 0x52dce729;
    h[1] ^= scramble2(sn_le64(p + 8));
    h[1] = (sn_rotl64(h[1], 31) + h[0]) * 5 + 0x38495ab5;
}

static uint64_t fmix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccd;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53;
    return x ^ x >> 33;
}

/* TAIL is zero-padded: scrambling a zero word gives zero, so its real length does not
 * matter. LEN is the length of the whole key. */
static void finish(uint64_t h[2], const uint8_t tail[16], uint64_t len)
{
    h[1] ^= scramble2(sn_le64(tail + 8));
    h[0] ^= scramble1(sn_le64(tail));
    h[0] ^= len;
    h[1] ^= len;
    h[0] += h[1];
    h[1] += h[0];
    h[0] = fmix(h[0]);
    h[1] = fmix(h[1]);
    h[0] += h[1];
    h[1] += h[0];
}

void sn_murmur3_128(const void *key, size_t len, uint64_t seed, uint64_t out[2])
{
    const uint8_t *p = key;
    uint8_t tail[16] = {0};
    size_t left = len;
    out[0] = out[1] = seed;
    for (; left >= 16; p += 16, left -= 16)
        group(out, p);
    if (left)
        memcpy(tail, p, left);
    finish(out, tail, len);
}

void sn_murmur3_256(const void *key, size_t len, uint64_t out[4])
{
    const uint8_t *p = key;
    uint8_t tail[16] = {0};
    size_t left = len;
    out[0] = out[1] = 0;
    for (; left >= 16; p += 16, left -= 16)
        group(out, p);
    out[2] = out[0];
    out[3] = out[1];
    if (left)
        memcpy(tail, p, left);
    finish(out, tail, len);
    tail[left++] = 1;
    if (left == 16) { /* the extra byte completes a group */
        group(out + 2, tail);
        memset(tail, 0, sizeof tail);
    }
    finish(out + 2, tail, (uint64_t)len + 1);
}
