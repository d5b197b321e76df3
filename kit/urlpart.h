/* urlpart.h - what url.c and urlhost.c share: classes of bytes, input and output. */
#ifndef KIT_URLPART_H
#define KIT_URLPART_H

#include "url.h"

#include <string.h>

/* What may happen to a byte in each part of a URL. */
enum {
    PATH_ENC = 1,    /* percent-encoded in a path */
    QUERY_ENC = 2,   /* percent-encoded in a query */
    USER_ENC = 4,    /* percent-encoded in user and password */
    HOST_BAD = 8,    /* cannot be in a host name */
    UNRESERVED = 16, /* never needs encoding: ALPHA DIGIT - . _ ~ */
    HEX = 32,
    SCHEME = 64, /* may follow the first letter of a scheme */
    STOP = 128   /* ends or interrupts plain copying in a path or query */
};

extern uint8_t url_class[256];

static inline bool is(uint8_t c, unsigned k)
{
    return url_class[c] & k;
}
static inline int hex(uint8_t c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}
static inline uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* Input left to read. */
typedef struct span {
    const uint8_t *p, *end;
} span;

/* Output with room left. Writing past END only sets a flag, so that the copying loops
 * stay short; the caller checks it once. */
typedef struct sink {
    uint8_t *start, *p, *end;
    bool full;
} sink;

static inline void put(sink *o, uint8_t c)
{
    if (o->p < o->end)
        *o->p++ = c;
    else
        o->full = true;
}

static inline void put_bytes(sink *o, const void *s, size_t n)
{
    if (n > (size_t)(o->end - o->p)) {
        o->full = true;
        return;
    }
    memcpy(o->p, s, n);
    o->p += n;
}

void url_put_decimal(sink *o, unsigned n);

/* Whether an escape, such as %7E, begins at P. */
static inline bool is_escape(const uint8_t *p, const uint8_t *end)
{
    return end - p >= 3 && p[0] == '%' && is(p[1], HEX) && is(p[2], HEX);
}

/* Writes the host P..END, a name or an address, in its one form and sets u->ip.
 * Returns URL_OK, URL_EHOST or URL_EIDNA. */
int url_put_host(sink *o, const uint8_t *p, const uint8_t *end, url *u);

#endif
