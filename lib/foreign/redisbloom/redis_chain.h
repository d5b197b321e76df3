/* redis_chain.h - the chains of redisbloom.h as the dump formats see them: laid over
 * the bytes of a dump without copying the bit arrays. */
#ifndef SN_REDIS_CHAIN_H
#define SN_REDIS_CHAIN_H
#include "foreign/redisbloom/redisbloom.h"

/* A chain over a whole dump (header and all arrays, exactly LEN bytes), which must
 * outlive it. Adds go to these bytes; links appended later are allocated. */
int sn_bf_over(uint8_t *dump, size_t len, const seen_allocator *a, sn_bf **out);
int sn_cf_over(uint8_t *dump, size_t len, const seen_allocator *a, sn_cf **out);

/* Whether an add would append a link, which a dump mapped in place cannot take. */
bool sn_bf_full(const sn_bf *f);

#endif
