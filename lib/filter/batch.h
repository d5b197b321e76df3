/* batch.h - shared by the files that ask and add: batch.c, bulk.c, single_key.c. */
#ifndef SN_BATCH_H
#define SN_BATCH_H
#include "filter/filter.h"

static inline uint64_t sn_key_hash(const seen_filter *f, const void *key, size_t len)
{
    return sn_hasher_hash(&f->hasher, key, len);
}

static inline void sn_key_hashes(const seen_filter *f, const seen_key *keys, size_t n,
                                 uint64_t *out)
{
    sn_hasher_many(&f->hasher, keys, n, out);
}

/* The number of keys that the newest layer still has room for. */
static inline uint64_t sn_room(const sn_layer *l)
{
    uint64_t have = __atomic_load_n(&l->added, __ATOMIC_RELAXED),
             cap = l->shape.capacity;
    return !cap ? UINT64_MAX : cap > have ? cap - have : 0;
}

/* Prefetches the memory of N keys in every layer that is larger than the caches. */
static inline void sn_prefetch(const seen_filter *f, const uint64_t *h, size_t n)
{
    for (uint32_t i = 0; i < f->layers; i++)
        if (f->layer[i].len > SN_PREFETCH_BYTES && f->layer[i].variant->prefetch)
            f->layer[i].variant->prefetch(f->layer + i, h, n);
}

/* SEEN_OK if hashes may be added to F now, otherwise an error. */
int sn_may_add(seen_filter *f);

/* Adds N <= 16 hashes in order, growing when the newest layer is full. Returns how
 * many were added; if fewer than N, *WHY has the code. */
size_t sn_add_group(seen_filter *f, const uint64_t *h, size_t n, bool *dup, int *why);

/* bulk.c: adds all N in memory order, or returns 0 if that would not be faster. Either
 * KEYS or HASHES. */
size_t sn_add_bulk(seen_filter *f, const seen_key *keys, const uint64_t *hashes,
                   size_t n);
#endif
