/* fetch.c - the head of an answer: the fields that a crawler needs. */
#include "fetch.h"

#include <stdio.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>

enum { BODY_KEPT = 1 << 20, KEPT_FOR_EACH = 4 };

void fetch_clear(fetch *f)
{
    f->head.len = f->body.len = f->sent.len = 0;
    f->truncated = f->dropped = f->decoded = f->nofollow = f->noindex = false;
    f->two_lengths = false;
    f->outcome = OUT_OK;
    f->status = 0;
    f->size = f->wire = f->took = 0;
    f->address[0] = f->why[0] = f->type[0] = 0;
    f->location = NULL;
    f->retry_after = -1;
    f->extracted = false;
    /* One large page must not hold its memory for the rest of the crawl. */
    if (f->body.room > BODY_KEPT) {
        free(f->body.p);
        f->body = (buf){0};
    }
}

void fetch_free(fetch *f)
{
    free(f->head.p);
    free(f->body.p);
    free(f->sent.p);
    free(f->location_room.p);
}

/* Finds the next field of HEAD from *FROM on and moves *FROM behind it: its name of
 * N bytes, and its value without the white space around it. False at the end. */
static bool next_field(const buf *head, size_t *from, const char **name, size_t *n,
                       const char **value, size_t *len)
{
    while (*from < head->len) {
        const char *line = head->p + *from;
        const char *end = memchr(line, '\n', head->len - *from);
        size_t k = end ? (size_t)(end - line) : head->len - *from;
        *from += k + 1;
        const char *colon = memchr(line, ':', k);
        if (!colon)
            continue;
        *name = line;
        *n = (size_t)(colon - line);
        const char *v = colon + 1, *stop = line + k;
        while (v < stop && (unsigned char)*v <= ' ')
            v++;
        while (v < stop && (unsigned char)stop[-1] <= ' ')
            stop--;
        *value = v;
        *len = (size_t)(stop - v);
        return true;
    }
    return false;
}

static bool is_name(const char *p, size_t n, const char *name)
{
    return (p[0] | 32) == name[0] && strlen(name) == n && !strncasecmp(p, name, n);
}

const char *fetch_field(const buf *head, const char *name, size_t *len, size_t *from)
{
    const char *p, *value;
    size_t n;
    while (next_field(head, from, &p, &n, &value, len))
        if (n && is_name(p, n, name))
            return value;
    return NULL;
}

uint64_t fetch_date(const char *p, size_t len)
{
    char text[64];
    struct tm tm = {0};
    if (len >= sizeof text)
        return 0;
    memcpy(text, p, len);
    text[len] = 0;
    if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm))
        return 0;
    time_t t = timegm(&tm);
    return t > 0 ? (uint64_t)t : 0;
}

void fetch_conditions(const fetch *f, char out[FETCH_CONDITIONS])
{
    size_t n = 0;
    out[0] = 0;
    if (f->etag && f->etag[0])
        n = (size_t)snprintf(out, FETCH_CONDITIONS, "If-None-Match: %s\r\n", f->etag);
    if (f->modified) {
        time_t t = (time_t)f->modified;
        struct tm tm;
        strftime(out + n, FETCH_CONDITIONS - n,
                 "If-Modified-Since: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime_r(&t, &tm));
    }
}

/* "120", or a date. */
static double read_retry_after(const char *p, size_t len)
{
    char text[64];
    struct tm tm = {0};
    if (len >= sizeof text)
        return -1;
    memcpy(text, p, len);
    text[len] = 0;
    char *end;
    double seconds = strtod(text, &end);
    if (end != text && !*end)
        return seconds >= 0 && seconds < 1e9 ? seconds : -1;
    if (!strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm))
        return -1;
    seconds = difftime(timegm(&tm), time(NULL));
    return seconds > 0 ? seconds : 0;
}

static void read_type(const char *p, size_t len, char out[64])
{
    size_t n = 0;
    while (n < len && n < 63 && p[n] != ';' && p[n] != ',' && p[n] > ' ' &&
           p[n] < 0x7f) {
        out[n] = p[n] >= 'A' && p[n] <= 'Z' ? (char)(p[n] + 32) : p[n];
        n++;
    }
    out[n] = 0;
}

void fetch_read_head(fetch *f)
{
    const char *p, *v, *length = NULL;
    size_t name, n, length_len = 0, from = 0;
    while (next_field(&f->head, &from, &p, &name, &v, &n)) {
        if (!name || !memchr("clrt", p[0] | 32, 4))
            continue;
        if (is_name(p, name, "content-type") && !f->type[0]) {
            read_type(v, n, f->type);
        } else if (is_name(p, name, "location") && !f->location) {
            f->location_room.len = 0;
            buf_add(&f->location_room, v, n);
            buf_byte(&f->location_room, 0);
            f->location = f->location_room.p;
        } else if (is_name(p, name, "retry-after") && f->retry_after < 0) {
            f->retry_after = read_retry_after(v, n);
        } else if (is_name(p, name, "content-length")) {
            f->two_lengths |= length && (n != length_len || memcmp(v, length, n));
            f->two_lengths |= memchr(v, ',', n) != NULL;
            length = v;
            length_len = n;
        } else if (is_name(p, name, "content-encoding") ||
                   is_name(p, name, "transfer-encoding")) {
            f->decoded = true;
        }
    }
}

double fetch_wait(const fetch *f, double ours)
{
    enum { MOST = 3600 };
    double theirs = f->retry_after < MOST ? f->retry_after : MOST;
    return theirs > ours ? theirs : ours;
}

bool fetch_wants_body(const fetch *f, const config *c)
{
    return f->all_types || fetch_is_html(f->type) || c->warc || c->bodies;
}

unsigned fetch_keeps(const config *c)
{
    struct rlimit r;
    rlim_t most = KEPT_FOR_EACH * (rlim_t)c->connections, room,
           used = c->connections + 64;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return c->connections;
    room = r.rlim_cur / (c->threads ? c->threads : 1);
    room = room > used ? (room - used) / 2 : 0;
    return (unsigned)(room < most ? room : most);
}

void fetch_raise_limit(const config *c)
{
    struct rlimit r;
    rlim_t want =
        (2 * KEPT_FOR_EACH + 1) * (rlim_t)c->connections + 64 * (rlim_t)c->threads;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= want)
        return;
    r.rlim_cur = want < r.rlim_max ? want : r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

enum { SPARE = 8 };
static __thread struct {
    buf body[SPARE];
    unsigned count;
} spare;

void fetch_drop_body(fetch *f)
{
    if (f->body.p && spare.count < SPARE && f->body.room <= BODY_KEPT)
        spare.body[spare.count++] = f->body;
    else
        free(f->body.p);
    f->body = (buf){0};
}

bool fetch_keep_body(void *ctx, const void *p, size_t n)
{
    fetch *f = ctx;
    f->size += n;
    if (!f->body.p && spare.count) {
        f->body = spare.body[--spare.count];
        f->body.len = 0;
    }
    if (f->dropped)
        return f->size <= 64 << 10; /* hanging up is cheaper than reading on */
    if (f->body.len + n > f->limit) {
        f->truncated = true;
        buf_add(&f->body, p, f->limit - f->body.len);
        return false;
    }
    buf_add(&f->body, p, n);
    return true;
}

bool fetch_is_html(const char *type)
{
    return !strcmp(type, "text/html") || !strcmp(type, "application/xhtml+xml") ||
           !*type;
}
