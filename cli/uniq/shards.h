/* shards.h - a set of fingerprints in shards, for several threads at once.
 *
 * The hash of a key selects its shard, so equal keys meet in one. Threads work on
 * different shards at the same time. On each shard they work one after the other, in
 * the order of the input; the caller sees to that. */
#ifndef CLI_SHARDS_H
#define CLI_SHARDS_H

#include "lines/feed.h"

enum { SHARDS = FEED_PARTS };

typedef struct shards shards;

/* For KEYS keys, 0 if unknown; it grows. Ends the program if it fails. */
shards *shards_new(uint64_t keys);
void shards_free(shards *s);
const seen_hasher *shards_hasher(const shards *s);

/* The hashes of a batch by shard, and the line that each belongs to. */
typedef struct shard_order {
    uint64_t *hash;
    size_t *line;
    bool *dup;
    size_t room, from[SHARDS + 1];
} shard_order;
void shard_order_free(shard_order *o);

/* Puts the hashes of B into O, which can be reused. Safe in several threads, each with
 * its own O. */
void shards_sort(shard_order *o, const batch *b);

/* Asks for and adds the keys of O that belong to shard I, and marks the repeats among
 * them in DUP, which has a place for each line of the batch. */
void shards_add(shards *s, shard_order *o, unsigned i, bool *dup);

/* Bytes taken; at any time. */
uint64_t shards_bytes(const shards *s);

/* As the library's functions of these names, while no thread adds. */
double shards_lost(const shards *s);
double shards_error(const shards *s);
#endif
