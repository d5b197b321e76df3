/* value_bytes.h - a filter as the server keeps it: a header, then the bodies of its
 * layers.
 *
 * BF or CF, in either layout: what goes to the RDB and the append-only file, what
 * SCANDUMP sends and DEBUG DIGEST compares. Iterators are RedisBloom's: 0 asks for the
 * header, 1 for the first body byte; with what is sent goes the iterator after it. */
#ifndef SEEN_REDIS_VALUE_BYTES_H
#define SEEN_REDIS_VALUE_BYTES_H
#include "module_api.h"

typedef struct value_bytes {
    char *header;
    size_t len;
    uint32_t n;
    struct value_body {
        char *p; /* where it stands in the filter */
        uint64_t len;
    } * bodies;
} value_bytes;

/* Room for a header of LEN bytes and N bodies, to be filled in. */
value_bytes value_bytes_new(size_t len, uint32_t n);

void value_bytes_free(value_bytes b);

/* The piece that SCANDUMP with ITER sends: the header, or at most SEEN_REDIS_CHUNK
 * bytes and never over the end of a body. At the end *LEN and *NEXT are 0. False: ITER
 * is beyond the end. */
bool value_bytes_at(const value_bytes *b, uint64_t iter, const char **p, size_t *len,
                    uint64_t *next);

/* Each of these frees B. */
void value_bytes_save(rm_io *io, value_bytes b);
void value_bytes_digest(rm_digest *md, value_bytes b);
/* As commands "COMMAND key iterator data". */
void value_bytes_aof(rm_io *io, rm_str *key, const char *command, value_bytes b);
/* Fills the bodies with what value_bytes_save wrote behind the header. */
bool value_bytes_load(rm_io *io, value_bytes b);

#endif
