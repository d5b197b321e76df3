/* bf_value.h - what a key of BF.* holds, in either layout.
 *
 * Three types stand behind the same commands: RedisBloom's own, whose RDB bytes
 * RedisBloom reads and writes too; ours, which is faster; and a filter in pieces. */
#ifndef SEEN_REDIS_BF_VALUE_H
#define SEEN_REDIS_BF_VALUE_H
#include "bf/bloom.h"
#include "foreign/redisbloom/redisbloom.h"
#include "server/value_type.h"

typedef struct bf_pieces bf_pieces;

extern value_family bloom_family;

/* At most one is set. */
typedef struct bf {
    bloom *fast;
    sn_bf *compat;
    bf_pieces *pieces; /* a filter over several keys: bf_pieces.h */
} bf;

/* What K holds; nothing is set if K is not KEY_FOUND. */
bf bf_of(const value_key *k);
/* Makes V the value of K, as value_put. */
void bf_put(value_key *k, bf v);
void bf_free(bf v); /* frees a value that no key holds */

/* Whether V, which arrived as bytes, is a filter that BF.RESERVE could have created.
 * LIMIT is that of memory; with UINT64_MAX nothing is checked. */
bool bf_is_allowed(bf v, uint64_t limit);

value_key bf_open(rm_ctx *ctx, rm_str *name, int mode);

/* The numbers of BF.INFO. */
typedef struct bf_facts {
    uint64_t capacity, size, layers, items;
    double error;
    uint64_t expansion;
    bool fixed;
} bf_facts;
bf_facts bf_get_facts(bf v);

#endif
