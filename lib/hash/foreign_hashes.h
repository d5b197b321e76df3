/* foreign_hashes.h - the small hashes of other systems' filters: LevelDB's, FNV, CRC-32
 * and xxHash's older 64-bit form. Pure functions; none of them resists chosen keys. */
#ifndef SN_FOREIGN_HASHES_H
#define SN_FOREIGN_HASHES_H
#include <stddef.h>
#include <stdint.h>

/* LevelDB 1.18 and later: tail bytes unsigned, no final mix. */
uint32_t sn_leveldb_hash(const void *key, size_t len, uint32_t seed);

uint64_t sn_fnv1_64(const void *key, size_t len); /* FNV-1: multiply, then xor */

/* The Ethernet and zlib polynomial. */
uint32_t sn_crc32(const void *key, size_t len);

/* XXH64; Parquet uses seed 0. */
uint64_t sn_xxh64(const void *key, size_t len, uint64_t seed);

#endif
