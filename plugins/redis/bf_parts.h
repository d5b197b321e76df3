/* bf_parts.h - one filter kept as several keys, so that it can be larger than what one
 * key can be moved as (512 MB, the largest argument of a command).
 *
 * The key itself only says how many pieces there are and how their keys begin; the
 * pieces are ordinary fast filters in the same slot. Commands go to the key and find
 * the pieces. While a slot moves, some may be here and some there: then the answer is
 * TRYAGAIN, which clients of a cluster know. */
#ifndef SEEN_REDIS_BF_PARTS_H
#define SEEN_REDIS_BF_PARTS_H
#include "bf_options.h"

struct bf_parts {
    uint32_t n;
    uint64_t seed, capacity;
    char prefix[1]; /* of the keys of pieces: PREFIX0, PREFIX1 ...; more follows */
};

enum { MAX_PARTS = 1024 };

/* Makes the pieces of key NAME and what the key holds. NULL, or what to answer. */
const char *parts_make(rm_ctx *ctx, rm_str *name, const bf_options *o, bf_parts **out);
void parts_free(bf_parts *p);

/* As bloom_add_many and bloom_has_many, over pieces. taken[i] is whether item i is in
 * now; after an error that is not a matter of order. NULL, or what to answer. */
const char *parts_add(rm_ctx *ctx, const bf_parts *p, const seen_key *keys, size_t n,
                      bool *fresh, bool *taken, bool *changed);
const char *parts_has(rm_ctx *ctx, const bf_parts *p, const seen_key *keys, size_t n,
                      bool *found);

/* The sum over all pieces. */
const char *parts_facts(rm_ctx *ctx, const bf_parts *p, bf_facts *out);

/* Deletes the pieces that are here. */
void parts_unlink(rm_ctx *ctx, const bf_parts *p);

/* To bytes and back; the length, or NULL for bytes that make no sense. */
size_t parts_bytes(const bf_parts *p, void *buf, size_t size);
bf_parts *parts_load(const void *bytes, size_t len);
bool parts_is_header(const void *bytes, size_t len);

#endif
