/* http1.h - a parser of HTTP/1 answers. The connections are in fetch_plain.c. */
#ifndef CRAWL_HTTP1_H
#define CRAWL_HTTP1_H

#include "fetch.h"
#include "unpack.h"

/* One answer at a time; all zero before the first. */
typedef struct http1 {
    fetch *f;
    const config *conf;
    const char *why; /* after HTTP1_BROKEN */
    bool keep;       /* when done: the connection may be asked again */
    bool in_body;
    int framing;
    uint64_t left; /* of the body or chunk */
    unsigned line; /* bytes of a chunk's size line or of a trailer line */
    unpack packed;
} http1;

/* Prepares for the answer to F. */
void http1_begin(http1 *a, fetch *f, const config *c);

/* Parses N more bytes, N > 0, of head and body. After HTTP1_DONE or HTTP1_BROKEN it must
 * not be called again. */
enum { HTTP1_MORE, HTTP1_DONE, HTTP1_BROKEN };
int http1_parse(http1 *a, const uint8_t *p, size_t n);

/* Whether the answer is complete if the connection ends here. */
bool http1_may_end(const http1 *a);

/* Whether a packed body is complete; true if it is not packed, empty or not kept. */
bool http1_unpacked(const http1 *a);

void http1_free(http1 *a);

#endif
