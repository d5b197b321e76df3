/* cf_table.h - the fast filter behind CF.*: fingerprints in buckets, so keys can be
 * deleted and counted. (Filters in RedisBloom's layout are sn_cf of redisbloom.h.)
 *
 * A fingerprint has two bytes and a bucket four slots: an error of 0.012% per
 * sub-filter. Sub-filters at least double, so there are few, and the error stays below
 * 0.3% at any size. The library's cuckoo kind only answers yes or no; this one counts.
 *
 * It is a multiset like RedisBloom's: every add is one more copy, COUNT counts them,
 * DEL removes one. At most a bucket's worth of copies are stored as fingerprints; the
 * others are counted in copy_counts.h, so copies never make the filter grow. The same
 * commands give the same bytes on every server. */
#ifndef SEEN_REDIS_CF_TABLE_H
#define SEEN_REDIS_CF_TABLE_H
#include "server/filter_secret.h"
#include "cf/copy_counts.h"
#include "seen.h"

typedef struct cuckoo_sub {
    uint64_t buckets; /* a power of two */
    uint64_t used;    /* slots in use */
    uint8_t *slots;   /* buckets * bucket_size * 2 bytes, little-endian */
} cuckoo_sub;

typedef struct cuckoo {
    uint32_t nsubs;
    cuckoo_sub *subs; /* oldest first */
    uint64_t buckets; /* of the first sub-filter */
    uint64_t items, deletes;
    uint32_t bucket_size, max_iterations, expansion;
    filter_secret secret;
    seen_hasher hasher; /* of the secret */
    copy_counts hot;    /* copies without a slot */
} cuckoo;

enum {
    CUCKOO_ADDED = 1,
    CUCKOO_THERE = 0,
    CUCKOO_FULL = -1,     /* full, and may not grow */
    CUCKOO_EXPANDED = -2, /* grew as often as allowed */
    CUCKOO_NOMEM = -3,
    CUCKOO_TOOBIG = -4 /* would exceed the limit */
};

/* How far a filter may grow. */
typedef struct cuckoo_limits {
    uint32_t max_subs;
    uint64_t (*max_bytes)(void *ctx); /* asked only when about to grow */
    void *ctx;
} cuckoo_limits;

/* The buckets that CAPACITY keys need. */
uint64_t cuckoo_buckets_for(uint64_t capacity, uint32_t bucket_size);

/* An empty filter with one sub-filter; NULL if memory is out. */
cuckoo *cuckoo_new(uint64_t buckets, uint32_t bucket_size, uint32_t max_iterations,
                   uint32_t expansion, filter_secret secret);
/* The same without sub-filters, for loaders. */
cuckoo *cuckoo_shell(uint64_t buckets, uint32_t bucket_size, uint32_t max_iterations,
                     uint32_t expansion, filter_secret secret);
/* Appends a sub-filter of BUCKETS; false if memory is out. */
bool cuckoo_append(cuckoo *c, uint64_t buckets);
void cuckoo_free(cuckoo *c);
cuckoo *cuckoo_copy(const cuckoo *c);

/* Buckets of sub-filter number I by the growth rule; 0 if it cannot be. */
uint64_t cuckoo_sub_buckets(const cuckoo *c, uint32_t i);
uint64_t cuckoo_sub_bytes(const cuckoo *c, const cuckoo_sub *s);
uint64_t cuckoo_bytes(const cuckoo *c);  /* of all sub-filters */
uint64_t cuckoo_memory(const cuckoo *c); /* all of it */

/* Adds KEY; with UNIQUE only if it is not there. One of CUCKOO_... A key that is there
 * already never adds a sub-filter. */
int cuckoo_add(cuckoo *c, seen_key key, bool unique, const cuckoo_limits *lim);
uint64_t cuckoo_count(const cuckoo *c, seen_key key);
void cuckoo_has_many(const cuckoo *c, const seen_key *keys, size_t n, bool *found);
bool cuckoo_remove(cuckoo *c, seen_key key);

/* Moves fingerprints of newer sub-filters into free slots of older ones and drops the
 * newest ones that become empty. Returns whether anything changed. */
bool cuckoo_compact(cuckoo *c);

/* To be called after bytes were loaded. Counts the slots in use of the sub-filter that
 * ends at byte END of all slots. */
void cuckoo_loaded(cuckoo *c, uint64_t end);

#endif
