/* bloom_json.c - reads {"m":..,"k":..,"b":".."} and base64, and no other JSON. */
#include "foreign/bloom_json.h"
#include "base/untrusted_header.h"
#include "seen.h"
#include <string.h>

typedef struct cursor {
    const uint8_t *p, *end;
} cursor;

static void blank(cursor *c)
{
    while (c->p < c->end && strchr(" \t\r\n", *c->p) && *c->p)
        c->p++;
}

static int expect(cursor *c, char want)
{
    blank(c);
    if (c->p >= c->end || *c->p != (uint8_t)want)
        return 0;
    c->p++;
    return 1;
}

/* A string without escapes. */
static int string(cursor *c, const uint8_t **at, uint64_t *len)
{
    if (!expect(c, '"'))
        return 0;
    *at = c->p;
    while (c->p < c->end && *c->p != '"' && *c->p != '\\')
        c->p++;
    *len = (uint64_t)(c->p - *at);
    return c->p < c->end && *c->p++ == '"';
}

static int number(cursor *c, uint64_t *out)
{
    const uint8_t *from;
    blank(c);
    from = c->p;
    for (*out = 0; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(*out, (uint64_t)10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*c->p - '0'), out))
            return 0;
    return c->p > from;
}

int sn_json_read(const uint8_t *p, uint64_t len, sn_json_parts *out)
{
    cursor c = {p, p + len};
    unsigned have = 0;
    if (!expect(&c, '{'))
        return sn_fail(SEEN_EFORMAT, "not a JSON object");
    do {
        const uint8_t *name;
        uint64_t n, skipped;
        const uint8_t *text;
        if (!string(&c, &name, &n) || !expect(&c, ':'))
            return sn_fail(SEEN_EFORMAT, "a JSON member has no name");
        blank(&c);
        if (n == 1 && *name == 'm') {
            if (!number(&c, &out->m))
                return sn_fail(SEEN_EFORMAT, "m is not a number below 2^64");
            have |= 1;
        } else if (n == 1 && *name == 'k') {
            if (!number(&c, &out->k))
                return sn_fail(SEEN_EFORMAT, "k is not a number below 2^64");
            have |= 2;
        } else if (n == 1 && *name == 'b') {
            if (!string(&c, &out->set, &out->set_len))
                return sn_wrong_length(true, "b is not a string");
            have |= 4;
        } else if (!string(&c, &text, &skipped) && !number(&c, &skipped)) {
            return sn_fail(SEEN_EFORMAT, "unknown JSON member \"%.*s\"",
                           (int)(n < 20 ? n : 20), (const char *)name);
        }
    } while (expect(&c, ','));
    if (!expect(&c, '}'))
        return sn_wrong_length(true, "the JSON object does not end");
    blank(&c);
    if (c.p != c.end)
        return sn_fail(SEEN_EFORMAT, "something follows the JSON object");
    if (have != 7)
        return sn_fail(SEEN_EFORMAT, "the JSON object lacks %s",
                       !(have & 1)   ? "m"
                       : !(have & 2) ? "k"
                                     : "b");
    return SEEN_OK;
}

static int value_of(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' || c == '+' ? 62 : c == '_' || c == '/' ? 63 : -1;
}

uint64_t sn_base64_len(uint64_t len)
{
    return len / 4 * 3 + 3;
}

uint64_t sn_base64_read(const uint8_t *text, uint64_t len, uint8_t *out)
{
    uint64_t n = 0;
    uint32_t group = 0;
    while (len && text[len - 1] == '=')
        len--;
    for (uint64_t i = 0; i < len; i++) {
        int v = value_of(text[i]);
        if (v < 0)
            return UINT64_MAX;
        group = group << 6 | (uint32_t)v;
        if (i % 4)
            out[n++] = (uint8_t)(group >> (6 - 2 * (i % 4)));
    }
    return len % 4 == 1 ? UINT64_MAX : n;
}

size_t sn_base64_write(const uint8_t *p, uint64_t len, char *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = 0;
    for (uint64_t i = 0; i < len; i += 3) {
        uint64_t left = len - i;
        uint32_t w = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                     (left > 2 ? p[i + 2] : 0u);
        out[n++] = letters[w >> 18];
        out[n++] = letters[w >> 12 & 63];
        out[n++] = left > 1 ? letters[w >> 6 & 63] : '=';
        out[n++] = left > 2 ? letters[w & 63] : '=';
    }
    return n;
}
