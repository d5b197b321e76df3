/* redis_url.c - parses redis://user:password@host:port/name?options. */
#include "redis_url.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Copies FROM .. END into TO of SIZE and decodes %XX; false if it does not fit. */
static bool decode(const char *from, const char *end, char *to, size_t size)
{
    size_t n = 0;
    for (; from < end; from++) {
        char c = *from;
        if (c == '%' && end - from > 2 && isxdigit((unsigned char)from[1]) &&
            isxdigit((unsigned char)from[2])) {
            char hex[3] = {from[1], from[2], 0};
            c = (char)strtol(hex, NULL, 16);
            from += 2;
        }
        if (!c || n + 1 >= size)
            return false;
        to[n++] = c;
    }
    to[n] = 0;
    return true;
}

static bool number(const char *s, uint64_t max, uint64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*s))
        return false;
    *out = strtoull(s, &end, 10);
    return !*end && *out <= max;
}

static const char *get_seeds(const char *value, redis_url *u)
{
    uint64_t n;
    u->nseeds = 0;
    if (!strchr(value, ',')) { /* a count: seeds 0 .. n-1 */
        if (!number(value, 64, &n) || !n)
            return "seeds is a number from 1 to 64, or a list with commas";
        for (; u->nseeds < n; u->nseeds++)
            u->seeds[u->nseeds] = u->nseeds;
        return NULL;
    }
    for (const char *p = value; *p;) {
        char one[16];
        const char *comma = strchrnul(p, ',');
        if (u->nseeds == 64 || !decode(p, comma, one, sizeof one) ||
            !number(one, UINT32_MAX, &n))
            return "seeds is a list of up to 64 numbers";
        u->seeds[u->nseeds++] = (uint32_t)n;
        p = *comma ? comma + 1 : comma;
    }
    return NULL;
}

/* Reads the first line of the file at PATH: everybody can see a URL in the list of
 * processes, but only those with permission can read a file. */
static const char *read_password(const char *path, redis_url *u)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return "cannot read the file of password-file";
    bool good = fgets(u->password, sizeof u->password, f);
    fclose(f);
    size_t len = good ? strcspn(u->password, "\r\n") : 0;
    u->password[len] = 0;
    return len && len + 1 < sizeof u->password
               ? NULL
               : "the file of password-file must begin with a password";
}

static const char *get_option(const char *name, const char *value, redis_url *u)
{
    uint64_t n;
    if (!strcmp(name, "db")) {
        if (!number(value, 1000000, &n))
            return "db is a number";
        u->db = (int)n;
    } else if (!strcmp(name, "timeout")) {
        char *end;
        u->timeout = strtod(value, &end);
        if (*end || end == value || !(u->timeout > 0 && u->timeout < 1e6))
            return "timeout is a number of seconds";
    } else if (!strcmp(name, "name")) {
        if (!decode(value, value + strlen(value), u->name, sizeof u->name))
            return "the name is too long";
    } else if (!strcmp(name, "password-file")) {
        return read_password(value, u);
    } else if (!strcmp(name, "scheme")) {
        static const char *const known[] = {"seen", "mmh3", "scrapy", "module"};
        for (int i = 0; i < 4; i++)
            if (!strcasecmp(value, known[i])) {
                u->scheme = i;
                return NULL;
            }
        return "scheme is seen, mmh3, scrapy or module";
    } else if (!strcmp(name, "bits")) {
        if (!number(value, (uint64_t)1 << 32, &u->bits) || !u->bits)
            return "bits is a number up to 2^32";
    } else if (!strcmp(name, "bit")) {
        if (!number(value, 32, &n) || !n)
            return "bit is a number from 1 to 32";
        u->bits = (uint64_t)1 << n;
    } else if (!strcmp(name, "seeds") || !strcmp(name, "hashes")) {
        return get_seeds(value, u);
    } else if (!strcmp(name, "unsigned")) {
        u->is_unsigned = !strcmp(value, "1");
    } else {
        return "the URL has an unknown option";
    }
    return NULL;
}

static const char *get_options(const char *p, redis_url *u)
{
    while (*p) {
        const char *amp = strchrnul(p, '&'), *eq = memchr(p, '=', (size_t)(amp - p));
        char name[32], value[600];
        if (!eq || !decode(p, eq, name, sizeof name) ||
            !decode(eq + 1, amp, value, sizeof value))
            return "options of the URL look like ?name=value&name=value";
        const char *bad = get_option(name, value, u);
        if (bad)
            return bad;
        p = *amp ? amp + 1 : amp;
    }
    return NULL;
}

/* USER:PASSWORD@HOST:PORT between P and END. */
static const char *get_authority(const char *p, const char *end, redis_url *u)
{
    const char *at = memrchr(p, '@', (size_t)(end - p));
    if (at) {
        const char *colon = memchr(p, ':', (size_t)(at - p));
        if (!colon)
            return "put :password or user:password before the @";
        if (!decode(p, colon, u->user, sizeof u->user) ||
            !decode(colon + 1, at, u->password, sizeof u->password))
            return "user or password is too long";
        p = at + 1;
    }
    const char *colon = memrchr(p, ':', (size_t)(end - p)), *host_end = end;
    uint64_t n;
    if (*p == '[') { /* IPv6 */
        const char *close = memchr(p, ']', (size_t)(end - p));
        if (!close)
            return "a ] is missing in the host";
        colon = close + 1 < end ? close + 1 : NULL;
        p++;
        host_end = close;
    } else if (colon) {
        host_end = colon;
    }
    char port[8];
    if (colon) {
        if (!decode(colon + 1, end, port, sizeof port) || !number(port, 65535, &n) ||
            !n)
            return "the port is not a number from 1 to 65535";
        u->port = (int)n;
    }
    if (!decode(p, host_end, u->host, sizeof u->host))
        return "the host is too long";
    if (!*u->host)
        strcpy(u->host, "127.0.0.1");
    return NULL;
}

const char *redis_url_parse(const char *text, redis_url *u)
{
    *u = (redis_url){.port = 6379, .timeout = 30};
    const char *p, *bad = NULL;
    const char *query = strchrnul(text, '?');
    if (!strncmp(text, "redis+unix://", 13)) {
        u->port = 0;
        if (!decode(text + 13, query, u->host, sizeof u->host) || *u->host != '/')
            return "put the absolute path of a socket after redis+unix://";
    } else {
        u->tls = !strncmp(text, "rediss://", 9);
        if (!u->tls && strncmp(text, "redis://", 8))
            return "a URL begins with redis://, rediss:// or redis+unix://";
        p = text + (u->tls ? 9 : 8);
        const char *slash = memchr(p, '/', (size_t)(query - p));
        bad = get_authority(p, slash ? slash : query, u);
        if (!bad && slash && !decode(slash + 1, query, u->name, sizeof u->name))
            bad = "the name is too long";
    }
    if (!bad && *query)
        bad = get_options(query + 1, u);
    const char *secret = getenv("SEEN_REDIS_PASSWORD");
    if (!bad && !*u->password && secret && strlen(secret) < sizeof u->password)
        strcpy(u->password, secret);
    if (!bad && !*u->name)
        bad = "the URL does not name a filter: redis://host:port/NAME";
    if (!bad && u->scheme == SCHEME_SCRAPY && !u->nseeds)
        bad = get_seeds("6", u);
    if (!bad && u->scheme == SCHEME_SCRAPY && !u->bits)
        u->bits = (uint64_t)1 << 30;
    if (!bad && u->scheme == SCHEME_SCRAPY && (u->bits & (u->bits - 1)))
        bad = "the bits of a scrapy filter are a power of two: use bit=";
    if (!bad && u->scheme == SCHEME_MMH3 && (!u->bits || !u->nseeds))
        bad = "scheme=mmh3 needs bits= and seeds=";
    return bad;
}
