/* redis_chain.h - the chains of redisbloom.h for the dump formats: they work on the
 * bytes of a dump without copying the bit arrays. */
#ifndef SN_REDIS_CHAIN_H
#define SN_REDIS_CHAIN_H
#include "foreign/redisbloom/redisbloom.h"

/* Makes a chain over a whole dump (header and all arrays, exactly LEN bytes), which
 * must outlive it. Adds change these bytes; links appended later are allocated. */
int sn_bf_over(uint8_t *dump, size_t len, const seen_allocator *a, sn_bf **out);
int sn_cf_over(uint8_t *dump, size_t len, const seen_allocator *a, sn_cf **out);

/* True if an add would append a link, for which a mapped dump has no room. */
bool sn_bf_full(const sn_bf *f);

#endif
