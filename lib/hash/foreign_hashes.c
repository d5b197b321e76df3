/* foreign_hashes.c - LevelDB's hash, FNV, CRC-32 and XXH64; pure functions. */
#include "hash/foreign_hashes.h"
#include "hash/hash.h"
#include "hash/word_ops.h"

uint32_t sn_leveldb_hash(const void *key, size_t len, uint32_t seed)
{
    const uint32_t m = 0xc6a4a793;
    const uint8_t *p = key;
    uint32_t h = seed ^ (uint32_t)len * m;
    size_t left = len;
    for (; left >= 4; p += 4, left -= 4) {
        h = (h + sn_le32(p)) * m;
        h ^= h >> 16;
    }
    if (left) {
        h = (h + (uint32_t)sn_tail64(p, left)) * m;
        h ^= h >> 24;
    }
    return h;
}

uint64_t sn_fnv1_64(const void *key, size_t len)
{
    const uint8_t *p = key;
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++)
        h = h * 0x100000001b3 ^ p[i];
    return h;
}

/* Four bits at a time: the table is a constant that fits in one cache line. */
uint32_t sn_crc32(const void *key, size_t len)
{
    static const uint32_t step[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *p = key;
    uint32_t c = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        c ^= p[i];
        c = c >> 4 ^ step[c & 15];
        c = c >> 4 ^ step[c & 15];
    }
    return ~c;
}

uint64_t sn_xxh64(const void *key, size_t len, uint64_t seed)
{
    return XXH64(key, len, seed);
}
