/* exact_set.h - --exact: a set of long fingerprints, in 8.5 bytes an address.
 *
 * A fingerprint has 56 bits and those that select its shard, up to 12: 68 bits for more
 * than four million addresses. Two of N addresses share one with a probability below
 * N^2 / 2^69: one in 59,000 at a hundred million. Shards grow one by one, by an eighth,
 * so the set never needs more than a little over its final size. Nothing of it is on
 * disk. */
#ifndef CRAWL_EXACT_SET_H
#define CRAWL_EXACT_SET_H

#include "seed.h"
#include "seen.h"

typedef struct exact_set exact_set;

/* KEYS are expected; more are fine. Dies if memory runs out, as adding does. */
exact_set *exact_set_new(kit_secret secret, uint64_t keys);
void exact_set_free(exact_set *s);

/* Adds N keys in order and says which were there before: of two equal ones only the
 * first is new. */
void exact_set_add(exact_set *s, const seen_key *keys, size_t n, bool *dup);

uint64_t exact_set_count(const exact_set *s);
uint64_t exact_set_bytes(const exact_set *s);

/* How many keys were taken for others, expected. */
double exact_set_lost(const exact_set *s);

#endif
