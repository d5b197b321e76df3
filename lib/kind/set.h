/* set.h - the layout of the fingerprint set, shared by its variants. */
#ifndef SN_SET_H
#define SN_SET_H
#include "base/bytes.h"
#include "kind/kind.h"

/* Eight slots of 64 bits: one cache line. */
enum { SN_SET_SLOTS = 8, SN_SET_LOAD = 7 }; /* keys a bucket before it should grow */

/* An empty slot is 0, so the hash 0 is stored as 1: the two are the same key. */
static inline uint64_t sn_set_tag(uint64_t h)
{
    return h + (h == 0);
}

static inline uint64_t sn_set_home(uint64_t tag, uint64_t units)
{
    return sn_mulhi(tag, units);
}

static inline uint64_t *sn_set_bucket(const sn_layer *l, uint64_t b)
{
    return (uint64_t *)(void *)(l->body + b * 64);
}

/* The most keys ever stored, so that every search ends at an empty slot. */
static inline uint64_t sn_set_most(uint64_t units)
{
    return units * SN_SET_SLOTS - (units + 7) / 8;
}

void sn_set_prefetch(const sn_layer *l, const uint64_t *h, size_t n);
extern const sn_variant sn_set_avx2, sn_set_avx512;
#endif
