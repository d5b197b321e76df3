/* murmur3.h - MurmurHash3 in the two forms other filters use: x86 32 bits (Python's
 * mmh3) and x64 128 bits with seed (Guava, bits-and-blooms). */
#ifndef SN_MURMUR3_H
#define SN_MURMUR3_H
#include <stddef.h>
#include <stdint.h>

uint32_t sn_murmur3_32(const void *key, size_t len, uint32_t seed);

/* out[0], out[1]: the two halves. */
void sn_murmur3_128(const void *key, size_t len, uint64_t seed, uint64_t out[2]);

/* With seed 0, of KEY (out[0], out[1]) and of KEY followed by a byte 0x01 (out[2],
 * out[3]); reads the key once and does not copy it. */
void sn_murmur3_256(const void *key, size_t len, uint64_t out[4]);

#endif
