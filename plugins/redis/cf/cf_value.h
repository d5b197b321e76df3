/* cf_value.h - what a key of CF.* holds: RedisBloom's cuckoo filter or our faster one.
 */
#ifndef SEEN_REDIS_CF_VALUE_H
#define SEEN_REDIS_CF_VALUE_H
#include "cf/cf_table.h"
#include "foreign/redisbloom/redisbloom.h"
#include "server/value_type.h"

extern value_family cuckoo_family;

/* At most one is set. */
typedef struct cf {
    cuckoo *fast;
    sn_cf *compat;
} cf;

/* As their namesakes in bf_value.h. */
value_key cf_open(rm_ctx *ctx, rm_str *name, int mode);
cf cf_of(const value_key *k);
void cf_put(value_key *k, cf v);

/* The numbers of CF.INFO. */
typedef struct cf_facts {
    uint64_t size, buckets, filters, items, deletes, bucket_size, expansion,
        max_iterations, first_buckets;
} cf_facts;
cf_facts cf_get_facts(cf v);

#endif
