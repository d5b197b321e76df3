/* hash.h - hashes bytes to the single 64-bit word that all native kinds use.
 *
 * XXH3-64 with the filter's seed, compiled in. 64 bits are enough for every native
 * kind up to 10^12 keys; a kind that needs more bits remixes the word (sn_remix),
 * which is cheaper than a wider hash. */
#ifndef SN_HASH_H
#define SN_HASH_H
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t sn_hash(uint64_t seed, const void *key, size_t len)
{
    return XXH3_64bits_withSeed(key, len, seed);
}

/* The next word of a hash: a bijection, without short cycles in practice. The
 * addend keeps zero from mapping to itself. */
static inline uint64_t sn_remix(uint64_t h)
{
    h = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u + 0xd1b54a32d192ed03u;
    return h ^ (h >> 29);
}

/* Checksum of bytes in files. */
static inline uint64_t sn_checksum(const void *p, size_t len)
{
    return XXH3_64bits(p, len);
}
#endif
