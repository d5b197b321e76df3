/* value_bytes.h - a value as bytes: a header, then the bodies of its layers.
 *
 * This is what goes to the RDB and the append-only file, what SCANDUMP sends and
 * LOADCHUNK takes, and what DEBUG DIGEST compares, for filters of either layout.
 * Iterators are RedisBloom's: 0 asks for the header and 1 for the first byte of the
 * bodies; a reply carries the iterator that comes after it. */
#ifndef SEEN_REDIS_VALUE_BYTES_H
#define SEEN_REDIS_VALUE_BYTES_H
#include "server/module_api.h"

typedef struct value_bytes {
    char *header;
    size_t len;
    uint32_t n;
    struct value_body {
        char *p; /* points into the filter */
        uint64_t len;
    } * bodies;
} value_bytes;

/* Room for a header of LEN bytes and for N bodies; the caller fills both in. */
value_bytes value_bytes_new(size_t len, uint32_t n);

void value_bytes_free(value_bytes b);

/* The piece that SCANDUMP with ITER sends: the header, or at most SEEN_REDIS_CHUNK
 * bytes of one body. At and beyond the end *LEN and *NEXT are 0. */
void value_bytes_at(const value_bytes *b, uint64_t iter, const char **p, size_t *len,
                    uint64_t *next);

/* What LOADCHUNK with ITER does: copies DATA into the body where it ends at ITER - 1.
 * SEEN_OK; SEEN_ERANGE: no body there; SEEN_ETOOBIG: longer than the rest of the body.
 */
int value_bytes_put(const value_bytes *b, uint64_t iter, const void *data, size_t len);

/* Each of these frees B. */
/* Replies to SCANDUMP: the next iterator and the piece; at the end an empty string, or
 * null with NULL_AT_END. */
void value_bytes_reply(rm_ctx *ctx, value_bytes b, uint64_t iter, bool null_at_end);
void value_bytes_save(rm_io *io, value_bytes b);
void value_bytes_digest(rm_digest *md, value_bytes b);
/* Emits commands of the form COMMAND key iterator data. */
void value_bytes_aof(rm_io *io, rm_str *key, const char *command, value_bytes b);
/* The same to the replicas and the append-only file, as commands that happened. */
void value_bytes_replicate(rm_ctx *ctx, rm_str *key, const char *command,
                           value_bytes b);
/* Fills the bodies with what value_bytes_save wrote after the header. False: the data
 * is short or damaged. */
bool value_bytes_load(rm_io *io, value_bytes b);

#endif
