/* murmur2.h - Austin Appleby's MurmurHash2 in the two forms other filters use.
 *
 * It is old and easy to attack; we have it only because RedisBloom and libbloom use it
 * in their files. Words are loaded little-endian on every machine. */
#ifndef SN_MURMUR2_H
#define SN_MURMUR2_H
#include <stddef.h>
#include <stdint.h>

uint32_t sn_murmur2_32(const void *key, size_t len, uint32_t seed);
/* The same with N seeds from FIRST on; reads the key once for every eight seeds. */
void sn_murmur2_32_seeds(const void *key, size_t len, uint32_t first, uint32_t n,
                         uint32_t *out);
uint64_t sn_murmur64a(const void *key, size_t len, uint64_t seed);

#endif
