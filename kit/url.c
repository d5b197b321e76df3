/* url.c - the URL parser: one pass from input to output, no allocation.
 *
 * Authority, path and query are each copied once, byte by byte through a table of
 * character classes; dot segments are taken back as soon as their segment ends.
 * Input is bytes: what is not ASCII is percent-encoded as it stands. */
#include "urlpart.h"

uint8_t url_class[256];

__attribute__((constructor)) static void fill_classes(void)
{
    for (int c = 0; c < 256; c++) {
        unsigned k = 0;
        bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool digit = c >= '0' && c <= '9';
        bool odd = c <= 0x20 || c >= 0x7f;
        if (odd || (c && strchr("\"#<>?`{}^", c)))
            k |= PATH_ENC;
        if (odd || (c && strchr("\"#<>'", c)))
            k |= QUERY_ENC;
        if (odd || (c && strchr("\"#<>?`{}/:;=@[\\]^|", c)))
            k |= USER_ENC;
        if (odd || (c && strchr("#/:<>?@[\\]^|%", c)))
            k |= HOST_BAD;
        if (c >= 0x80)
            k &= ~(unsigned)HOST_BAD;
        if (alpha || digit || (c && strchr("-._~", c)))
            k |= UNRESERVED;
        if (digit || (alpha && (c | 32) <= 'f'))
            k |= HEX;
        if (alpha || digit || (c && strchr("+-.", c)))
            k |= SCHEME;
        if ((k & (PATH_ENC | QUERY_ENC)) || (c && strchr("%/\\", c)))
            k |= STOP;
        url_class[c] = (uint8_t)k;
    }
}

static void put_escaped(sink *o, uint8_t c)
{
    static const char digits[] = "0123456789ABCDEF";
    put(o, '%');
    put(o, digits[c >> 4]);
    put(o, digits[c & 15]);
}

/* Copies one '%' and, if it begins an escape, the escape. Unreserved bytes are
 * decoded, others get capital digits. A lone percent sign stays, as in browsers;
 * *LONE remembers where it is in the output, because a digit decoded right behind
 * it would make an escape that was not there. */
static const uint8_t *copy_percent(sink *o, const uint8_t *p, const uint8_t *end,
                                   const uint8_t **lone)
{
    if (!is_escape(p, end)) {
        put(o, '%');
        *lone = o->p;
        return p + 1;
    }
    uint8_t v = (uint8_t)(hex(p[1]) << 4 | hex(p[2]));
    const uint8_t *q = *lone;
    bool fuses = q && is(v, HEX) && (o->p == q || (o->p == q + 1 && is(*q, HEX)));
    if (is(v, UNRESERVED) && !fuses)
        put(o, v);
    else
        put_escaped(o, v);
    return p + 3;
}

/* ---- authority, path, query ---------------------------------------------------- */

static uint16_t default_port(int scheme)
{
    return scheme == URL_FTP ? 21 : scheme == URL_HTTP || scheme == URL_WS ? 80 : 443;
}

static void put_user(sink *o, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *colon = memchr(p, ':', (size_t)(end - p)), *lone = NULL;
    /* Empty user and password are no user at all; an empty password is no password. */
    if (colon && colon == end - 1)
        end = colon;
    if (p == end)
        return;
    while (p < end) {
        if (*p == '%') {
            p = copy_percent(o, p, end, &lone);
        } else {
            if (p != colon && is(*p, USER_ENC))
                put_escaped(o, *p);
            else
                put(o, *p);
            p++;
        }
    }
    put(o, '@');
}

static int put_authority(sink *o, span *in, url *u)
{
    const uint8_t *p = in->p, *end = p, *at = NULL;
    for (; end < in->end && *end != '/' && *end != '\\' && *end != '?' && *end != '#';
         end++)
        if (*end == '@')
            at = end;
    in->p = end;
    u->user = (uint32_t)(o->p - o->start);
    if (at) {
        put_user(o, p, at);
        p = at + 1;
    }
    const uint8_t *colon = end;
    for (const uint8_t *q = end; q > p && q[-1] != ']'; q--)
        if (q[-1] == ':')
            colon = q - 1; /* the first one: a name holds none */
    u->host = (uint32_t)(o->p - o->start);
    int rc = url_put_host(o, p, colon, u);
    if (rc < 0)
        return rc;
    u->host_len = (uint32_t)(o->p - o->start) - u->host;
    u->port = default_port(u->scheme);
    if (colon < end && colon + 1 < end) {
        unsigned port = 0;
        for (p = colon + 1; p < end; p++) {
            if (*p < '0' || *p > '9' || (port = port * 10 + *p - '0') > 65535)
                return URL_EPORT;
        }
        if (port != u->port) {
            put(o, ':');
            url_put_decimal(o, port);
            u->port = (uint16_t)port;
        }
    }
    return URL_OK;
}

/* Goes back from the end of the output to behind the last slash before it. */
static void drop_segment(sink *o, const uint8_t *path)
{
    while (o->p > path + 1 && o->p[-1] != '/')
        o->p--;
}

/* Copies a path up to '?', '#' or the end. The output already holds its first part,
 * from PATH (a slash) to a slash. */
static void put_path(sink *o, const uint8_t *path, span *in)
{
    const uint8_t *p = in->p, *end = in->end, *lone = NULL;
    for (;;) {
        const uint8_t *from = p;
        while (p < end && !is(*p, STOP))
            p++;
        put_bytes(o, from, (size_t)(p - from));
        bool slash = p < end && (*p == '/' || *p == '\\');
        if (p == end || slash || *p == '?' || *p == '#') {
            /* A segment is complete; the output ends with it, behind a slash. */
            const uint8_t *q = o->p;
            if (q[-1] == '.' && q[-2] == '/') {
                o->p--;
            } else if (q[-1] == '.' && q[-2] == '.' && q[-3] == '/') {
                o->p -= 2;
                if (o->p > path + 1) {
                    o->p--;
                    drop_segment(o, path);
                }
            } else if (slash) {
                put(o, '/');
            }
            if (!slash)
                break;
            lone = NULL;
            p++;
        } else if (*p == '%') {
            p = copy_percent(o, p, end, &lone);
        } else {
            if (is(*p, PATH_ENC))
                put_escaped(o, *p);
            else
                put(o, *p);
            p++;
        }
        if (o->full)
            return;
    }
    in->p = p;
}

/* Copies a query, from its question mark to '#' or the end. */
static void put_query(sink *o, span *in)
{
    const uint8_t *p = in->p, *end = in->end, *lone = NULL;
    put(o, '?');
    p++;
    while (p < end && *p != '#') {
        const uint8_t *from = p;
        while (p < end && !is(*p, STOP))
            p++;
        put_bytes(o, from, (size_t)(p - from));
        if (p == end || *p == '#')
            break;
        if (*p == '%') {
            p = copy_percent(o, p, end, &lone);
        } else {
            if (is(*p, QUERY_ENC))
                put_escaped(o, *p);
            else
                put(o, *p);
            p++;
        }
    }
}

/* ---- the whole ------------------------------------------------------------------ */

static const struct {
    const char *name;
    uint8_t len;
} schemes[] = {[URL_HTTP] = {"http", 4},
               [URL_HTTPS] = {"https", 5},
               [URL_WS] = {"ws", 2},
               [URL_WSS] = {"wss", 3},
               [URL_FTP] = {"ftp", 3}};

/* Reads a scheme and its colon. Returns it, 0 if the input does not begin with one,
 * URL_ESCHEME if it is one we do not know. */
static int read_scheme(span *in)
{
    const uint8_t *p = in->p;
    if (p == in->end || (*p | 32) < 'a' || (*p | 32) > 'z')
        return 0;
    while (p < in->end && is(*p, SCHEME))
        p++;
    if (p == in->end || *p != ':')
        return 0;
    size_t n = (size_t)(p - in->p);
    for (int s = URL_HTTP; s <= URL_FTP; s++) {
        size_t i = 0;
        if (n != schemes[s].len)
            continue;
        while (i < n && lower(in->p[i]) == (uint8_t)schemes[s].name[i])
            i++;
        if (i == n) {
            in->p = p + 1;
            return s;
        }
    }
    return URL_ESCHEME;
}

static bool is_slash(const span *in, size_t i)
{
    return (size_t)(in->end - in->p) > i && (in->p[i] == '/' || in->p[i] == '\\');
}

static int finish(sink *o, url *u)
{
    if (o->full || o->p == o->end)
        return URL_ELONG;
    *o->p = 0;
    u->text = (const char *)o->start;
    u->len = (uint32_t)(o->p - o->start);
    if (u->query > u->len)
        u->query = u->len;
    return URL_OK;
}

/* Copies the first N bytes of BASE; the parts that end there keep their places. */
static void put_base(sink *o, const url *base, uint32_t n, url *u)
{
    *u = *base;
    u->query = UINT32_MAX;
    put_bytes(o, base->text, n);
}

/* The query, if there is one: the last part. */
static int put_tail(sink o, span in, url *u)
{
    u->query = UINT32_MAX;
    if (in.p < in.end && *in.p == '?') {
        u->query = (uint32_t)(o.p - o.start);
        put_query(&o, &in);
    }
    return finish(&o, u);
}

/* A path, of which the output holds the first part up to a slash, and what follows it.
 */
static int put_rest(sink o, span in, url *u)
{
    put_path(&o, o.start + u->path, &in);
    return o.full ? URL_ELONG : put_tail(o, in, u);
}

static int resolve(const url *base, span in, sink o, url *u)
{
    /* A link that begins with the origin of its page, as most absolute ones do, is one
     * from the page's root: what was normalised need not be parsed again. */
    if (base && (size_t)(in.end - in.p) > base->path && in.p[base->path] == '/' &&
        base->user == base->host && !memcmp(in.p, base->text, base->path)) {
        in.p += base->path + 1;
        put_base(&o, base, base->path + 1, u);
        if (o.full)
            return URL_ELONG;
        return put_rest(o, in, u);
    }
    int scheme = read_scheme(&in);
    if (scheme < 0)
        return scheme;
    if (!scheme && !base)
        return URL_ERELATIVE;
    /* "http:path" is relative to a base of the same scheme, absolute otherwise. */
    bool absolute =
        scheme && (!base || base->scheme != scheme ||
                   (in.end - in.p >= 2 && in.p[0] == '/' && in.p[1] == '/'));
    if (absolute || (is_slash(&in, 0) && is_slash(&in, 1))) {
        memset(u, 0, sizeof *u);
        u->scheme = (uint8_t)(scheme ? scheme : base->scheme);
        while (is_slash(&in, 0))
            in.p++;
        put_bytes(&o, schemes[u->scheme].name, schemes[u->scheme].len);
        put_bytes(&o, "://", 3);
        int rc = put_authority(&o, &in, u);
        if (rc < 0)
            return rc;
        u->path = (uint32_t)(o.p - o.start);
        if (is_slash(&in, 0))
            in.p++;
        put(&o, '/');
    } else if (is_slash(&in, 0)) {
        put_base(&o, base, base->path + 1, u);
        in.p++;
    } else if (in.p == in.end || *in.p == '#') {
        put_base(&o, base, base->len, u);
        u->query = base->query;
        return finish(&o, u);
    } else if (*in.p == '?') {
        put_base(&o, base, base->query, u);
        return put_tail(o, in, u);
    } else {
        uint32_t n = base->query;
        while (n > base->path + 1 && base->text[n - 1] != '/')
            n--;
        put_base(&o, base, n, u);
    }
    if (o.full)
        return URL_ELONG;
    return put_rest(o, in, u);
}

int url_resolve(const url *base, const char *text, size_t len, char *out, size_t room,
                url *u)
{
    span in = {(const uint8_t *)text, (const uint8_t *)text + len};
    sink o = {(uint8_t *)out, (uint8_t *)out, (uint8_t *)out + room, false};
    uint8_t clean[URL_ROOM];

    while (in.p < in.end && *in.p <= ' ')
        in.p++;
    while (in.p < in.end && in.end[-1] <= ' ')
        in.end--;
    size_t n = (size_t)(in.end - in.p);
    if (n > URL_ROOM)
        return URL_ELONG;
    if (memchr(in.p, '\t', n) || memchr(in.p, '\n', n) || memchr(in.p, '\r', n)) {
        n = 0;
        for (const uint8_t *p = in.p; p < in.end; p++)
            if (*p != '\t' && *p != '\n' && *p != '\r')
                clean[n++] = *p;
        in.p = clean;
        in.end = clean + n;
    }
    return resolve(base, in, o, u);
}

int url_normalise(const char *in, size_t len, char *out, size_t room, url *u)
{
    return url_resolve(NULL, in, len, out, room, u);
}

const char *url_strerror(int code)
{
    switch (code) {
    case URL_OK:
        return "no error";
    case URL_ERELATIVE:
        return "not an absolute URL";
    case URL_ESCHEME:
        return "not a web address: the scheme is not http, https, ws, wss or ftp";
    case URL_EHOST:
        return "the host is missing or impossible";
    case URL_EPORT:
        return "the port is not a number up to 65535";
    case URL_ELONG:
        return "too long";
    case URL_EIDNA:
        return "the host is not ASCII";
    }
    return "unknown error";
}
