/* bf_pieces.h - one filter kept as several keys, so that it can be larger than what one
 * key can be moved as (512 MB, the largest argument of a command).
 *
 * The key itself only says how many pieces there are and how their keys begin; the
 * pieces are ordinary fast filters in the same slot. Commands go to the key and find
 * the pieces. While a slot moves, some may be here and some there: then the answer is
 * TRYAGAIN, which clients of a cluster know.
 *
 * A filter and its pieces share a random id: a key with the name of a piece and another
 * id is not touched, and no existing key is ever replaced by a piece. The keys of
 * pieces are not among the arguments of a command, so the server cannot check them
 * against the user's ACL; every function here does. */
#ifndef SEEN_REDIS_BF_PIECES_H
#define SEEN_REDIS_BF_PIECES_H
#include "bf/bf_options.h"

struct bf_pieces {
    uint32_t n;
    uint64_t capacity, id;
    filter_secret secret;
    seen_hasher hasher; /* selects the piece of an item */
    char prefix[1];     /* of the keys of pieces: PREFIX0, PREFIX1 ...; more follows */
};

enum { MAX_PIECES = 1024 };

/* Creates the pieces of key NAME and what the key holds. NULL, or the error to reply:
 * in particular if the key of a piece exists. */
const char *pieces_make(rm_ctx *ctx, rm_str *name, const bf_options *o,
                        bf_pieces **out);
void pieces_free(bf_pieces *p);

/* As bloom_add_many and bloom_has_many, over pieces. taken[i] is whether item i was
 * added or there; after an error these need not be the first ones. NULL, or the error
 * to reply. */
const char *pieces_add(rm_ctx *ctx, const bf_pieces *p, const seen_key *keys, size_t n,
                       bool *fresh, bool *taken, bool *changed);
const char *pieces_has(rm_ctx *ctx, const bf_pieces *p, const seen_key *keys, size_t n,
                       bool *found);

/* The sum over all pieces. */
const char *pieces_facts(rm_ctx *ctx, const bf_pieces *p, bf_facts *out);

/* Deletes the pieces that are here. NULL, or the error to reply. */
const char *pieces_unlink(rm_ctx *ctx, const bf_pieces *p);

/* To bytes and back: the length; NULL for bytes that are not a description. */
size_t pieces_bytes(const bf_pieces *p, void *buf, size_t size);
bf_pieces *pieces_load(const void *bytes, size_t len);
bool pieces_is_header(const void *bytes, size_t len);

#endif
