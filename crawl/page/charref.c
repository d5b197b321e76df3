/* charref.c - character references: &amp; &#38; &#x26; to the bytes they stand for.
 *
 * All names of the HTML standard, with its rule for attributes: a name without its
 * semicolon counts only if no letter, digit or '=' follows, so that "?a=1&copy=2"
 * stays a query. */
#include "html.h"

#include <string.h>

struct entity {
    const char *name;
    uint32_t first, second;
};
#include "entities.inc"

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static const struct entity *find(const struct entity *table, size_t n, const char *name,
                                 size_t len)
{
    size_t low = 0;
    while (low < n) {
        size_t mid = low + (n - low) / 2;
        int c = strncmp(table[mid].name, name, len);
        if (c == 0 && table[mid].name[len])
            c = 1;
        if (c == 0)
            return &table[mid];
        if (c < 0)
            low = mid + 1;
        else
            n = mid;
    }
    return NULL;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 63));
    out[2] = (char)(0x80 | (c >> 6 & 63));
    out[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Numbers 0x80 to 0x9f are those of windows-1252. */
static const uint16_t windows[32] = {
    0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d,   0x017d, 0x8f,
    0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178};

/* Decodes "&#..." at P. Returns its length, 0 if it is not a reference. */
static size_t numeric(const char *p, const char *end, uint32_t *c)
{
    const char *q = p + 2;
    unsigned base = 10;
    if (q < end && (*q | 32) == 'x') {
        base = 16;
        q++;
    }
    const char *first = q;
    uint32_t v = 0;
    for (; q < end; q++) {
        unsigned d = *q >= '0' && *q <= '9' ? (unsigned)(*q - '0')
                     : (*q | 32) >= 'a' && (*q | 32) <= 'f'
                         ? (unsigned)((*q | 32) - 'a') + 10
                         : 99;
        if (d >= base)
            break;
        if (v < 0x110000)
            v = v * base + d;
    }
    if (q == first)
        return 0;
    if (q < end && *q == ';')
        q++;
    if (v == 0 || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        v = 0xfffd;
    else if (v >= 0x80 && v < 0xa0)
        v = windows[v - 0x80];
    *c = v;
    return (size_t)(q - p);
}

/* The same for "&name". */
static size_t named(const char *p, const char *end, const struct entity **e)
{
    const char *name = p + 1, *q = name;
    while (q < end && q - name < 32 && is_alnum(*q))
        q++;
    size_t n = (size_t)(q - name);
    if (n && q < end && *q == ';' &&
        (*e = find(entities, sizeof entities / sizeof *entities, name, n)))
        return n + 2;
    /* The longest known beginning; in an attribute it must also be the end. */
    for (size_t k = n < 8 ? n : 8; k > 0; k--) {
        *e = find(bare_entities, sizeof bare_entities / sizeof *bare_entities, name, k);
        if (*e) {
            char next = name + k < end ? name[k] : 0;
            return next == '=' || is_alnum(next) ? 0 : k + 1;
        }
    }
    return 0;
}

size_t html_decode(html_span value, char *out)
{
    const char *p = value.p, *end = p + value.len;
    char *o = out;
    while (p < end) {
        const char *amp = memchr(p, '&', (size_t)(end - p));
        size_t n = (size_t)((amp ? amp : end) - p);
        memcpy(o, p, n);
        o += n;
        if (!amp)
            break;
        p = amp;
        uint32_t c = 0;
        const struct entity *e = NULL;
        if (end - p > 2 && p[1] == '#' && (n = numeric(p, end, &c))) {
            o += put_utf8(o, c);
        } else if ((n = named(p, end, &e))) {
            o += put_utf8(o, e->first);
            if (e->second)
                o += put_utf8(o, e->second);
        } else {
            *o++ = '&';
            n = 1;
        }
        p += n;
    }
    return (size_t)(o - out);
}
