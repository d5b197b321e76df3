/* cf_value.h - what a CF key holds, in either layout; as bf_value.h. */
#ifndef SEEN_REDIS_CF_VALUE_H
#define SEEN_REDIS_CF_VALUE_H
#include "cf_table.h"
#include "module_api.h"
#include "foreign/redisbloom.h"
#include "value_bytes.h"

/* Exactly one is set. */
typedef struct cf {
    cuckoo *fast;
    seen_cf *compat;
} cf;

int cf_types(rm_ctx *ctx);

enum { CF_FOUND, CF_MISSING, CF_WRONG };
typedef struct cf_key {
    rm_key *key;
    cf value;
    int state;
} cf_key;
cf_key cf_open(rm_ctx *ctx, rm_str *name, int mode);
void cf_close(cf_key *k);
void cf_set(cf_key *k, cf value);

value_bytes cf_bytes(cf v);

/* The numbers of CF.INFO. */
typedef struct cf_facts {
    uint64_t size, buckets, filters, items, deletes, bucket_size, expansion,
        max_iterations, bytes, first_buckets;
} cf_facts;
cf_facts cf_get_facts(cf v);

void cf_account(const cf_facts *before, const cf_facts *after);
void cf_info(rm_info *info);

#endif
