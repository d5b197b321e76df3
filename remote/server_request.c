/* server_request.c - builds commands in the form of the protocol; the slot of a key. */
#include "server_request.h"
#include <stdlib.h>
#include <string.h>

/* ---- slots ------------------------------------------------------------------- */

static unsigned crc16(const char *p, size_t len)
{
    unsigned x = 0;
    for (size_t i = 0; i < len; i++) {
        x ^= (unsigned)(unsigned char)p[i] << 8;
        for (int b = 0; b < 8; b++)
            x = (x & 0x8000 ? x << 1 ^ 0x1021 : x << 1) & 0xffff;
    }
    return x;
}

unsigned slot_of(const char *key, size_t len)
{
    /* The tag is between the first { and the next }, unless it is empty. */
    const char *open = memchr(key, '{', len);
    if (open) {
        const char *close = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
        if (close && close > open + 1)
            return crc16(open + 1, (size_t)(close - open - 1)) % CLUSTER_SLOTS;
    }
    return crc16(key, len) % CLUSTER_SLOTS;
}

/* ---- commands ---------------------------------------------------------------- */

static void append(request *r, const void *p, size_t len)
{
    if (r->len + len > r->room) {
        r->room = (r->len + len) * 2;
        r->bytes = realloc(r->bytes, r->room);
        if (!r->bytes)
            abort(); /* without memory for a command the program cannot continue */
    }
    memcpy(r->bytes + r->len, p, len);
    r->len += len;
}

/* PREFIX, N in decimal, end of line. printf is too slow for a thousand words. */
static void append_count(request *r, char prefix, uint64_t n)
{
    char buf[32], *p = buf + sizeof buf;
    *--p = '\n';
    *--p = '\r';
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    *--p = prefix;
    append(r, p, (size_t)(buf + sizeof buf - p));
}

void request_start(request *r, size_t words)
{
    r->len = 0;
    append_count(r, '*', words);
}

void request_word(request *r, const void *p, size_t len)
{
    append_count(r, '$', len);
    append(r, p, len);
    append(r, "\r\n", 2);
}

void request_text(request *r, const char *s)
{
    request_word(r, s, strlen(s));
}

void request_words(request *r, size_t n, const char *const *words)
{
    request_start(r, n);
    for (size_t i = 0; i < n; i++)
        request_text(r, words[i]);
}

void request_number(request *r, uint64_t n)
{
    char buf[24], *p = buf + sizeof buf;
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    request_word(r, p, (size_t)(buf + sizeof buf - p));
}

void requests_free(request *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i].reply)
            freeReplyObject(r[i].reply);
        free(r[i].bytes);
        r[i] = (request){0};
    }
}
