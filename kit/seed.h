/* seed.h - where the seeds of new filters come from. */
#ifndef KIT_SEED_H
#define KIT_SEED_H

#include <stdbool.h>
#include <stdint.h>

#include "seen.h"

/* Reads the seed S: decimal, octal (0...) or hexadecimal (0x...). Returns false and
 * leaves *OUT alone if it is not a number from 1 to 2^64-1. */
bool kit_parse_seed(const char *s, uint64_t *out);

/* A seed for a new filter: SEEN_SEED of the environment, so that a run can be repeated
 * bit for bit, or else a random one. Ends the program if SEEN_SEED is not a seed. */
uint64_t kit_new_seed(void);

/* The same with 128 bits, for SEEN_HASH_KEYED: SEEN_SEED and 0, or random ones. */
typedef struct kit_secret {
    uint64_t low, high;
} kit_secret;
kit_secret kit_new_secret(void);

/* How a new filter hashes: SEEN_HASH_KEYED with SEED, or with a new secret if that is
 * 0. */
seen_hasher kit_new_hasher(uint64_t seed);

#endif
