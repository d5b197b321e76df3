/* buf.h - a buffer that grows; running out of memory ends the program. */
#ifndef CRAWL_BUF_H
#define CRAWL_BUF_H

#include "messages.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct buf {
    char *p;
    size_t len, room;
} buf;

static inline char *buf_room(buf *b, size_t n)
{
    if (b->room - b->len < n) {
        b->room = (b->len + n) + (b->len + n) / 2 + 256;
        b->p = kit_grow(b->p, b->room, 1);
    }
    return b->p + b->len;
}

static inline void buf_add(buf *b, const void *p, size_t n)
{
    if (n)
        memcpy(buf_room(b, n), p, n);
    b->len += n;
}

static inline void buf_byte(buf *b, uint8_t c)
{
    *buf_room(b, 1) = (char)c;
    b->len++;
}

static inline void buf_text(buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

/* Seven bits per byte, low ones first; a set high bit means that more follow. */
static inline void buf_varint(buf *b, uint64_t n)
{
    char *o = buf_room(b, 10);
    size_t i = 0;
    for (; n >= 0x80; n >>= 7)
        o[i++] = (char)(n | 0x80);
    o[i++] = (char)n;
    b->len += i;
}

/* Reads one; false if it is cut off or too long. */
static inline bool read_varint(const uint8_t **p, const uint8_t *end, uint64_t *n)
{
    *n = 0;
    for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t c = *(*p)++;
        *n |= (uint64_t)(c & 0x7f) << shift;
        if (!(c & 0x80))
            return true;
    }
    return false;
}

#endif
