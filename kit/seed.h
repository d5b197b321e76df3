/* seed.h - where the seeds of new filters come from. */
#ifndef KIT_SEED_H
#define KIT_SEED_H

#include <stdbool.h>
#include <stdint.h>

/* The seed that S spells, decimal, octal (0...) or hexadecimal (0x...). False, and *OUT
 * left alone, if it is none from 1 to 2^64-1. */
bool kit_parse_seed(const char *s, uint64_t *out);

/* A seed for a new filter: that of SEEN_SEED in the environment, so that a run can be
 * repeated bit for bit, or else a random one. Dies of a SEEN_SEED that is no seed. */
uint64_t kit_new_seed(void);

#endif
