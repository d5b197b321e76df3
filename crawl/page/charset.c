/* charset.c - finds a page's encoding and converts it with iconv.
 *
 * Names are those that the Encoding standard lists and the web uses; there ISO-8859-1
 * is another word for windows-1252. One thread: the last converters are kept. */
#include "charset.h"
#include "html.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <strings.h>

/* ---- names ----------------------------------------------------------------------- */

static const struct {
    const char *label, *name;
} labels[] = {
    {"ascii", "CP1252"},        {"us-ascii", "CP1252"},
    {"latin1", "CP1252"},       {"l1", "CP1252"},
    {"latin2", "ISO-8859-2"},   {"windows-874", "CP874"},
    {"tis-620", "CP874"},       {"ibm866", "CP866"},
    {"cp866", "CP866"},         {"koi8-r", "KOI8-R"},
    {"koi8", "KOI8-R"},         {"koi8-u", "KOI8-U"},
    {"macintosh", "MACINTOSH"}, {"x-mac-cyrillic", "MAC-CYRILLIC"},
    {"gb2312", "GB18030"},      {"gbk", "GB18030"},
    {"x-gbk", "GB18030"},       {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},     {"big5-hkscs", "BIG5-HKSCS"},
    {"shift_jis", "CP932"},     {"shift-jis", "CP932"},
    {"sjis", "CP932"},          {"x-sjis", "CP932"},
    {"windows-31j", "CP932"},   {"euc-jp", "EUC-JP"},
    {"x-euc-jp", "EUC-JP"},     {"iso-2022-jp", "ISO-2022-JP"},
    {"euc-kr", "CP949"},        {"ks_c_5601-1987", "CP949"},
    {"windows-949", "CP949"},   {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},   {"utf-16be", "UTF-16BE"},
};

static const char *const latin[] = {
    "CP1252",      "ISO-8859-2",  "ISO-8859-3",  "ISO-8859-4",
    "ISO-8859-5",  "ISO-8859-6",  "ISO-8859-7",  "ISO-8859-8",
    "CP1254",      "ISO-8859-10", "CP874",       NULL,
    "ISO-8859-13", "ISO-8859-14", "ISO-8859-15", "ISO-8859-16",
};

static const char *const windows[] = {
    "CP1250", "CP1251", "CP1252", "CP1253", "CP1254",
    "CP1255", "CP1256", "CP1257", "CP1258",
};

static const char *name_of(html_span label)
{
    char s[24];
    if (label.len >= sizeof s)
        return NULL;
    memcpy(s, label.p, label.len);
    s[label.len] = 0;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (!strcasecmp(s, labels[i].label))
            return labels[i].name;
    unsigned n;
    int end = 0;
    for (char *p = s; *p; p++)
        *p = *p == '_' ? '-' : *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    if ((sscanf(s, "iso-8859-%2u%n", &n, &end) == 1 ||
         sscanf(s, "iso8859-%2u%n", &n, &end) == 1) &&
        !s[end])
        return n >= 1 && n <= 16 ? latin[n - 1] : NULL;
    if ((sscanf(s, "windows-125%1u%n", &n, &end) == 1 ||
         sscanf(s, "cp125%1u%n", &n, &end) == 1 ||
         sscanf(s, "x-cp125%1u%n", &n, &end) == 1) &&
        !s[end])
        return n <= 8 ? windows[n] : NULL;
    return NULL;
}

/* The value of "charset=" in a Content-Type; empty if there is none. */
static html_span label_in(html_span v)
{
    static const char word[] = "charset";
    const char *p = v.p, *end = v.p + v.len;
    for (; end - p > 7; p++) {
        if (strncasecmp(p, word, 7))
            continue;
        const char *q = p + 7;
        while (q < end && *q == ' ')
            q++;
        if (q == end || *q++ != '=')
            continue;
        while (q < end && (*q == ' ' || *q == '"' || *q == '\''))
            q++;
        const char *from = q;
        while (q < end && !strchr(" \t;,\"'", *q))
            q++;
        return (html_span){from, (size_t)(q - from)};
    }
    return (html_span){v.p, 0};
}

/* What <meta> says within the first kilobyte. A page whose <meta> could be read is not
 * in UTF-16, whatever it says. */
static html_span label_of_meta(const char *page, size_t len)
{
    html h;
    html_tag t;
    html_span v, label;
    html_begin(&h, page, len < 1024 ? len : 1024);
    while (html_next(&h, &t)) {
        if (t.name != HTML_META)
            continue;
        if (html_attr(&t, HTML_CHARSET, &label))
            return label;
        if (html_attr(&t, HTML_HTTP_EQUIV, &v) && html_is(v, "content-type") &&
            html_attr(&t, HTML_CONTENT, &v) && (label = label_in(v)).len)
            return label;
    }
    return (html_span){page, 0};
}

const char *charset_of(const char *type, size_t type_len, const char *page, size_t len)
{
    if (len >= 3 && !memcmp(page, "\xef\xbb\xbf", 3))
        return NULL;
    if (len >= 2 && !memcmp(page, "\xff\xfe", 2))
        return "UTF-16LE";
    if (len >= 2 && !memcmp(page, "\xfe\xff", 2))
        return "UTF-16BE";
    html_span label = {"", 0};
    if (type)
        label = label_in((html_span){type, type_len});
    if (label.len)
        return name_of(label);
    const char *name = name_of(label_of_meta(page, len));
    return name && !strncmp(name, "UTF-16", 6) ? NULL : name;
}

/* ---- conversion ------------------------------------------------------------------ */

/* A converter of one direction, or (iconv_t)-1. */
static iconv_t converter(const char *name, bool back)
{
    static __thread struct {
        const char *name;
        iconv_t cd;
    } last[2];
    if (last[back].name != name) {
        if (last[back].name && last[back].cd != (iconv_t)-1)
            iconv_close(last[back].cd);
        last[back].name = name;
        last[back].cd = back ? iconv_open(name, "UTF-8") : iconv_open("UTF-8", name);
    }
    if (last[back].cd != (iconv_t)-1)
        iconv(last[back].cd, NULL, NULL, NULL, NULL);
    return last[back].cd;
}

/* The length of the UTF-8 sequence at P, and the character. */
static size_t sequence(const char *p, const char *end, uint32_t *c)
{
    uint8_t b = (uint8_t)*p;
    size_t n = b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : b >= 0xc0 ? 2 : 1;
    if (n > (size_t)(end - p))
        n = 1;
    *c = n == 1 ? b : b & (0x3fu >> (n - 1));
    for (size_t i = 1; i < n; i++)
        *c = *c << 6 | ((uint8_t)p[i] & 0x3f);
    return n;
}

/* Converts all of P. What cannot be becomes U+FFFD; on the way BACK, where it is a
 * character that the encoding lacks, what browsers send for it. */
static void convert(iconv_t cd, bool back, const char *p, size_t len, buf *out)
{
    char *in = (char *)(uintptr_t)p;
    const char *end = p + len;
    while (len) {
        size_t room = 2 * len + 64;
        char *to = buf_room(out, room);
        size_t rc = iconv(cd, &in, &len, &to, &room);
        out->len = (size_t)(to - out->p);
        if (rc != (size_t)-1 || errno == E2BIG)
            continue;
        uint32_t c = 0xfffd;
        size_t skip = back ? sequence(in, end, &c) : 1;
        if (back) {
            char text[32];
            snprintf(text, sizeof text, "%%26%%23%u%%3B", c);
            buf_text(out, text);
        } else {
            buf_text(out, "\xef\xbf\xbd");
        }
        in += skip;
        len -= skip;
    }
    char *to = buf_room(out, 64);
    size_t room = 64;
    iconv(cd, NULL, NULL, &to, &room);
    out->len = (size_t)(to - out->p);
}

static bool plain_ascii(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)p[i] >= 0x80 || p[i] == 0x1b)
            return false;
    return true;
}

bool charset_to_utf8(const char *name, const char *page, size_t len, buf *out)
{
    bool wide = !strncmp(name, "UTF-16", 6);
    if (!wide && plain_ascii(page, len))
        return false;
    iconv_t cd = converter(name, false);
    if (cd == (iconv_t)-1)
        return false;
    out->len = 0;
    convert(cd, false, page, len, out);
    return true;
}

bool charset_link(const char *name, const char *link, size_t len, buf *out)
{
    const char *hash = memchr(link, '#', len);
    size_t upto = hash ? (size_t)(hash - link) : len;
    const char *query = memchr(link, '?', upto);
    if (!query || !strncmp(name, "UTF-16", 6))
        return false;
    size_t path = (size_t)(query - link);
    if (plain_ascii(query, upto - path))
        return false;
    iconv_t cd = converter(name, true);
    if (cd == (iconv_t)-1)
        return false;
    out->len = 0;
    buf_add(out, link, path);
    convert(cd, true, query, upto - path, out);
    return true;
}
