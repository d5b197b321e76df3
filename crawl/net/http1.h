/* http1.h - the reader of HTTP/1 answers. Knows no connections: fetch_plain.c has them.
 */
#ifndef CRAWL_HTTP1_H
#define CRAWL_HTTP1_H

#include "fetch.h"

#include <zlib.h>

/* One answer at a time; all zero before the first. */
typedef struct http1 {
    fetch *f;
    const config *c;
    const char *why; /* it is broken */
    bool keep;       /* when done: the connection may be asked again */
    bool in_body, zipped, z_ready, z_ended;
    int framing;
    uint64_t left; /* of the body or chunk */
    unsigned line; /* bytes of a chunk's size line or of a trailer line */
    z_stream z;
} http1;

/* What comes from here on is the answer to F. */
void http1_begin(http1 *a, fetch *f, const config *c);

/* Takes N more bytes, N > 0: head and body of F, which must not be given any after
 * HTTP1_DONE or HTTP1_BROKEN. */
enum { HTTP1_MORE, HTTP1_DONE, HTTP1_BROKEN };
int http1_take(http1 *a, const uint8_t *p, size_t n);

/* Whether the answer is complete if the connection ends here. */
bool http1_may_end(const http1 *a);

void http1_free(http1 *a);

#endif
