/* entry_index.h - maps the hash of an item to the number of its entry.
 *
 * Open addressing with linear probing, at most half full. It keeps 32 bits of the hash
 * and the number of the entry; the owner knows what an entry is and whether two items
 * are equal. Entries with the same hash are found in any order. */
#ifndef SN_ENTRY_INDEX_H
#define SN_ENTRY_INDEX_H
#include "base/memory.h"
#include <stdbool.h>

typedef struct sn_index {
    struct sn_slot {
        uint32_t hash, entry; /* entry is the number + 1, 0 if the slot is free */
    } *slot;
    uint64_t mask;
} sn_index;

static inline size_t sn_index_bytes(const sn_index *x)
{
    return (x->mask + 1) * sizeof *x->slot;
}

/* Makes room for ENTRIES; false if there is no memory. */
static inline bool sn_index_new(sn_index *x, const seen_allocator *a, uint64_t entries)
{
    uint64_t slots = 8;
    while (slots < 2 * entries)
        slots *= 2;
    x->mask = slots - 1;
    x->slot = sn_body_alloc(a, sn_index_bytes(x));
    return x->slot != NULL;
}

static inline void sn_index_free(sn_index *x, const seen_allocator *a)
{
    sn_body_free(a, x->slot, sn_index_bytes(x));
}

/* The next entry of HASH from *AT on, which starts as HASH; -1 after the last. */
static inline int64_t sn_index_next(const sn_index *x, uint32_t hash, uint64_t *at)
{
    for (;; ++*at) {
        const struct sn_slot *s = &x->slot[*at & x->mask];
        if (!s->entry)
            return -1;
        if (s->hash == hash) {
            ++*at;
            return (int64_t)s->entry - 1;
        }
    }
}

static inline void sn_index_add(sn_index *x, uint32_t hash, uint32_t entry)
{
    uint64_t at = hash;
    while (x->slot[at & x->mask].entry)
        at++;
    x->slot[at & x->mask] = (struct sn_slot){hash, entry + 1};
}

/* Moves later entries into the gap if they may be there, so that no search stops before
 * it has found all entries of its hash. */
static inline void sn_index_remove(sn_index *x, uint32_t hash, uint32_t entry)
{
    uint64_t gap = hash;
    while (x->slot[gap & x->mask].entry != entry + 1)
        gap++;
    gap &= x->mask;
    for (uint64_t at = gap;;) {
        at = (at + 1) & x->mask;
        struct sn_slot s = x->slot[at];
        if (!s.entry)
            break;
        if (((at - s.hash) & x->mask) >= ((at - gap) & x->mask)) {
            x->slot[gap] = s;
            gap = at;
        }
    }
    x->slot[gap].entry = 0;
}

#endif
