/* bf_pieces.h - one filter kept as several keys, so that it can be larger than what one
 * key can be moved as (512 MB, the largest argument of a command).
 *
 * The key itself only says how many pieces there are and how their keys begin; the
 * pieces are ordinary fast filters in the same slot. Commands go to the key and find
 * the pieces. While a slot moves, some may be here and some there: then the answer is
 * TRYAGAIN, which clients of a cluster know. */
#ifndef SEEN_REDIS_BF_PIECES_H
#define SEEN_REDIS_BF_PIECES_H
#include "bf_options.h"

struct bf_pieces {
    uint32_t n;
    uint64_t seed, capacity;
    char prefix[1]; /* of the keys of pieces: PREFIX0, PREFIX1 ...; more follows */
};

enum { MAX_PIECES = 1024 };

/* Makes the pieces of key NAME and what the key holds. NULL, or what to answer. */
const char *pieces_make(rm_ctx *ctx, rm_str *name, const bf_options *o, bf_pieces **out);
void pieces_free(bf_pieces *p);

/* As bloom_add_many and bloom_has_many, over pieces. taken[i] is whether item i is in
 * now; after an error that is not a matter of order. NULL, or what to answer. */
const char *pieces_add(rm_ctx *ctx, const bf_pieces *p, const seen_key *keys, size_t n,
                      bool *fresh, bool *taken, bool *changed);
const char *pieces_has(rm_ctx *ctx, const bf_pieces *p, const seen_key *keys, size_t n,
                      bool *found);

/* The sum over all pieces. */
const char *pieces_facts(rm_ctx *ctx, const bf_pieces *p, bf_facts *out);

/* Deletes the pieces that are here. */
void pieces_unlink(rm_ctx *ctx, const bf_pieces *p);

/* To bytes and back; the length, or NULL for bytes that make no sense. */
size_t pieces_bytes(const bf_pieces *p, void *buf, size_t size);
bf_pieces *pieces_load(const void *bytes, size_t len);
bool pieces_is_header(const void *bytes, size_t len);

#endif
