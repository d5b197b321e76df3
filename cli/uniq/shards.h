/* shards.h - a set of fingerprints in shards, for several threads at once.
 *
 * Which shard a key belongs to its hash decides, so equal keys meet in one. Threads
 * work on different shards at the same time; on each of them one after the other, in
 * the order of the input, which the caller sees to. */
#ifndef CLI_SHARDS_H
#define CLI_SHARDS_H

#include "feed.h"

enum { SHARDS = FEED_PARTS };

typedef struct shards shards;

/* For KEYS keys, 0 if nobody knows; it grows. Ends the program if it fails. */
shards *shards_new(uint64_t keys);
void shards_free(shards *s);
uint64_t shards_seed(const shards *s);

/* Puts the hashes of B in the order of their shards: any number of threads at once. */
void shards_sort(batch *b);

/* Asks and adds the keys of B, which has been sorted, that belong to shard I, and marks
 * the repeats among them in b->dup. */
void shards_add(shards *s, batch *b, unsigned i);

/* Bytes taken; at any time. */
uint64_t shards_bytes(const shards *s);

/* As of the library's functions with these names, when nobody adds. */
double shards_lost(const shards *s);
double shards_error(const shards *s);
#endif
