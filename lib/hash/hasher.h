/* hasher.h - the hash of a filter and its seed: the contents of seen_hasher. */
#ifndef SN_HASHER_H
#define SN_HASHER_H
#include "hash/hash.h"
#include "hash/keyed.h"
#include "hash/foreign_hashes.h"

typedef struct sn_hasher {
    uint32_t id; /* enum seen_hash_id, never SEEN_HASH_DEFAULT */
    uint32_t reserved;
    uint64_t seed, seed_high;
    sn_keyed keyed; /* with SEEN_HASH_KEYED */
} sn_hasher;

/* SEEN_EINVAL if ID is unknown, or if it has a 64-bit seed and SEED_HIGH is given. */
int sn_hasher_init(sn_hasher *h, uint32_t id, uint64_t seed, uint64_t seed_high);

/* The hasher of a specification: HASHER if given; the others must then be zero. */
int sn_hasher_of(sn_hasher *h, const seen_hasher *hasher, uint32_t id, uint64_t seed,
                 uint64_t seed_high);

static inline bool sn_hasher_same(const sn_hasher *a, const sn_hasher *b)
{
    return a->id == b->id && a->seed == b->seed && a->seed_high == b->seed_high;
}

static inline uint64_t sn_hasher_hash(const sn_hasher *h, const void *key, size_t len)
{
    return h->id == SEEN_HASH_KEYED  ? sn_keyed_hash(&h->keyed, key, len)
           : h->id == SEEN_HASH_XXH3 ? sn_hash(h->seed, key, len)
                                     : sn_xxh64(key, len, h->seed);
}

void sn_hasher_many(const sn_hasher *h, const seen_key *keys, size_t n, uint64_t *out);
#endif
