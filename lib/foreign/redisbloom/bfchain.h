/* bfchain.h - internals of sn_bf, for the chain itself (bfchain.c) and for its dumps
 * (bfchain_dump.c). */
#ifndef SN_BFCHAIN_H
#define SN_BFCHAIN_H
#include "foreign/redisbloom/redis_chain.h"

typedef struct sn_bf_link {
    uint8_t *data;
    uint64_t bits, modulus, inverse, size, entries;
    double error, bpe;
    uint32_t hashes;
    uint8_t n2;
    bool owned;
} sn_bf_link;

struct sn_bf {
    seen_allocator alloc;
    uint64_t size; /* of all links */
    uint32_t options, growth;
    uint32_t n, room;  /* links used, links allocated */
    sn_bf_link *links; /* oldest first */
};

#define SN_BF_LN2 0.693147180559945 /* as many digits as RedisBloom has */

/* An empty chain with room for N links, all zero; A may be NULL. */
int sn_bf_chain(uint32_t n, const seen_allocator *a, sn_bf **out);

/* Sets the fields that follow from bits and n2. */
void sn_bf_link_modulus(sn_bf_link *l);
/* Allocates the array of L, all zero. */
int sn_bf_link_alloc(sn_bf_link *l, const seen_allocator *a);

#endif
