/* bf_value.h - what a BF key holds, in either layout, and what the server does with it.
 *
 * Two server types stand behind the same commands: RedisBloom's own, whose RDB bytes
 * RedisBloom reads and writes too, and ours. */
#ifndef SEEN_REDIS_BF_VALUE_H
#define SEEN_REDIS_BF_VALUE_H
#include "bloom.h"
#include "module_api.h"
#include "foreign/redisbloom.h"
#include "value_bytes.h"

typedef struct bf_parts bf_parts;

/* Exactly one is set. */
typedef struct bf {
    bloom *fast;
    seen_bf *compat;
    bf_parts *parts; /* a filter over several keys: bf_parts.h */
} bf;

/* Registers both types. RM_ERR if the server refuses. */
int bf_types(rm_ctx *ctx);

/* Opens key NAME for RM_READ or RM_READ | RM_WRITE. */
enum { BF_FOUND, BF_MISSING, BF_WRONG };
typedef struct bf_key {
    rm_key *key; /* NULL if missing and opened to read */
    bf value;
    int state;
} bf_key;
bf_key bf_open(rm_ctx *ctx, rm_str *name, int mode);
void bf_close(bf_key *k);
/* Closes K and answers WHY, or what a key that is not BF_FOUND is answered with. */
int bf_refuse(rm_ctx *ctx, bf_key *k, const char *why);
const char *bf_state_error(const bf_key *k);
/* Gives the opened, empty key a value, which belongs to the server from then on. */
void bf_set(bf_key *k, bf value);

void bf_release(bf v); /* frees a value that no key holds */

value_bytes bf_bytes(bf v); /* as it is dumped */

/* The numbers of BF.INFO. */
typedef struct bf_facts {
    uint64_t capacity, size, layers, items, bytes;
    double error;
    uint64_t expansion;
    bool fixed;
} bf_facts;
bf_facts bf_get_facts(bf v);

/* Live filters for INFO; each change of a filter calls it with the facts before and
 * after. Any thread. */
void bf_account(const bf_facts *before, const bf_facts *after);
void bf_info(rm_info *info);

#endif
