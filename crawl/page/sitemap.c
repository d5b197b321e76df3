/* sitemap.c - a forgiving reader: <loc> wherever it stands, nothing else of XML. */
#include "sitemap.h"
#include "html.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char *find(const char *p, const char *end, const char *word)
{
    return memmem(p, (size_t)(end - p), word, strlen(word));
}

static void trim(html_span *s)
{
    while (s->len && (unsigned char)s->p[0] <= ' ')
        s->p++, s->len--;
    while (s->len && (unsigned char)s->p[s->len - 1] <= ' ')
        s->len--;
}

static bool report(html_span s, bool cdata, bool nested,
                   void (*found)(void *, const char *, size_t, bool), void *ctx)
{
    char small[1024], *out = small;
    trim(&s);
    if (!s.len || s.len > 8192)
        return false;
    if (cdata) {
        found(ctx, s.p, s.len, nested);
        return true;
    }
    if (2 * s.len + 4 > sizeof small && !(out = malloc(2 * s.len + 4)))
        return false;
    found(ctx, out, html_decode(s, out), nested);
    if (out != small)
        free(out);
    return true;
}

/* "<loc>" and "<sm:loc>" alike; attributes are skipped. Comments are not
 * addresses. */
static long read_xml(const char *p, const char *end,
                     void (*found)(void *, const char *, size_t, bool), void *ctx)
{
    long n = 0;
    bool nested = false;
    while ((p = memchr(p, '<', (size_t)(end - p)))) {
        if (end - p >= 4 && !memcmp(p, "<!--", 4)) {
            const char *q = find(p + 4, end, "-->");
            if (!q)
                break;
            p = q + 3;
            continue;
        }
        const char *name = p + 1, *close = memchr(p, '>', (size_t)(end - p));
        if (!close)
            break;
        const char *q = name;
        while (q<close && * q> ' ' && *q != '/') {
            if (*q == ':')
                name = q + 1;
            q++;
        }
        size_t len = (size_t)(q - name);
        p = close + 1;
        if (len == 7 && !memcmp(name, "sitemap", 7))
            nested = true;
        else if (len == 3 && !memcmp(name, "url", 3))
            nested = false;
        else if (len == 3 && !memcmp(name, "loc", 3)) {
            html_span s = {p, 0};
            bool cdata = false;
            while (s.p < end && (unsigned char)*s.p <= ' ')
                s.p++;
            const char *stop;
            if (end - s.p >= 9 && !memcmp(s.p, "<![CDATA[", 9)) {
                s.p += 9;
                cdata = true;
                stop = find(s.p, end, "]]>");
            } else {
                stop = memchr(s.p, '<', (size_t)(end - s.p));
            }
            if (!stop)
                break;
            s.len = (size_t)(stop - s.p);
            n += report(s, cdata, nested, found, ctx);
            p = stop;
        }
    }
    return n;
}

static long read_lines(const char *p, const char *end, bool cut,
                       void (*found)(void *, const char *, size_t, bool), void *ctx)
{
    long n = 0;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop && cut) /* half an address would be another address */
            break;
        if (!stop)
            stop = end;
        n += report((html_span){p, (size_t)(stop - p)}, true, false, found, ctx);
        p = stop + (stop < end);
    }
    return n;
}

/* Unpacks up to SITEMAP_LIMIT bytes; what came before an error is kept. */
static char *unpack(const char *text, size_t len, size_t *out_len)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)len};
    size_t room = 0, n = 0;
    char *out = NULL;
    if (len > UINT32_MAX || inflateInit2(&z, 15 + 16) != Z_OK)
        return NULL;
    int rc = Z_OK;
    while (rc == Z_OK && n < SITEMAP_LIMIT) {
        if (n == room) {
            room = room ? room * 2 : 1 << 16;
            char *p = realloc(out, room);
            if (!p)
                break;
            out = p;
        }
        z.next_out = (Bytef *)out + n;
        z.avail_out = (uInt)(room - n);
        rc = inflate(&z, Z_NO_FLUSH);
        n = room - z.avail_out;
    }
    inflateEnd(&z);
    *out_len = n;
    return out;
}

long sitemap_read(const char *text, size_t len,
                  void (*found)(void *ctx, const char *loc, size_t len, bool nested),
                  void *ctx)
{
    char *owned = NULL;
    if (len >= 2 && (uint8_t)text[0] == 0x1f && (uint8_t)text[1] == 0x8b) {
        if (!(owned = unpack(text, len, &len)) || !len) {
            free(owned);
            return -1;
        }
        text = owned;
    }
    const char *p = text, *end = text + len;
    if (len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
        p += 3;
    while (p < end && (unsigned char)*p <= ' ')
        p++;
    long n = p < end && *p == '<'
                 ? read_xml(p, end, found, ctx)
                 : read_lines(p, end, len >= SITEMAP_LIMIT, found, ctx);
    free(owned);
    return n;
}
