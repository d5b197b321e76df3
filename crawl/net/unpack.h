/* unpack.h - packed bodies: gzip, deflate, br and zstd, as they arrive.
 *
 * libcurl could unpack them, but accepts a gzip body that breaks off. */
#ifndef CRAWL_UNPACK_H
#define CRAWL_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#define UNPACK_ACCEPT "gzip, deflate, br, zstd" /* for Accept-Encoding */

/* All zero before the first body; reused from body to body. */
typedef struct unpack {
    int coding; /* 0: none */
    bool begun, ended;
    unsigned char first; /* byte of the body */
    void *z, *br, *zs;   /* decoders, made when they are needed */
} unpack;

/* Prepares for a body whose Content-Encoding is the N bytes at NAME, which may be NULL.
 * False if the coding is unknown: the body cannot be read. */
bool unpack_begin(unpack *u, const char *name, size_t n);

/* Unpacks N bytes and gives them to KEEP, which returns false when it wants no more. */
enum { UNPACK_MORE, UNPACK_ENOUGH, UNPACK_BAD };
int unpack_feed(unpack *u, const void *p, size_t n,
                bool (*keep)(void *ctx, const void *p, size_t n), void *ctx);

/* Whether the body is complete as far as its coding can tell. An empty one is. */
bool unpack_complete(const unpack *u);

void unpack_free(unpack *u);

#endif
