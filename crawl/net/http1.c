/* http1.c - parses one HTTP/1 answer as its bytes arrive: head, framing, packing.
 *
 * Every byte is hostile: an answer that contradicts itself is given up, never guessed
 * at. */
#include "http1.h"

#include <strings.h>



enum framing {
    BY_CLOSE,
    BY_LENGTH,
    CHUNK_SIZE,
    CHUNK_DATA,
    CHUNK_END,
    TRAILER,
    NOTHING
};

void http1_begin(http1 *a, fetch *f, const config *c)
{
    a->f = f;
    a->conf = c;
    a->keep = a->in_body = false;
}

void http1_free(http1 *a)
{
    unpack_free(&a->packed);
}

bool http1_may_end(const http1 *a)
{
    return a->in_body && a->framing == BY_CLOSE;
}

bool http1_unpacked(const http1 *a)
{
    return a->f->dropped || unpack_complete(&a->packed);
}

enum { HEAD_STEP = 512 };
enum { GO_ON = UNPACK_MORE, ENOUGH = UNPACK_ENOUGH, BAD = UNPACK_BAD };

static int add_body(http1 *a, const uint8_t *p, size_t n)
{
    return unpack_feed(&a->packed, p, n, fetch_keep_body, a->f);
}

static bool has_token(const char *v, size_t n, const char *word)
{
    size_t m = strlen(word);
    for (size_t i = 0; i + m <= n; i++)
        if (!strncasecmp(v + i, word, m))
            return true;
    return false;
}

/* Digits and nothing else; the field does not end with a NUL. */
static bool read_length(const char *v, size_t n, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i] < '0' || v[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(v[i] - '0');
    }
    return n > 0 && n <= 18;
}

/* Reads the framing from a complete head; false if it contradicts itself. */
static bool read_framing(http1 *a)
{
    fetch *f = a->f;
    size_t n, from = 0;
    const char *v;
    const char *h = f->head.p;
    if (f->head.len < 12 || memchr(h, 0, f->head.len) || memcmp(h, "HTTP/1.", 7) || h[8] != ' ' || h[9] < '1' ||
        h[9] > '5' || h[10] < '0' || h[10] > '9' || h[11] < '0' || h[11] > '9')
        return false;
    f->status = (h[9] - '0') * 100 + (h[10] - '0') * 10 + h[11] - '0';
    if (f->status >= 200) /* an interim answer says nothing about the page */
        fetch_read_head(f, a->conf->product);
    v = fetch_field(&f->head, "connection", &n, &from);
    a->keep = h[7] == '1' ? !(v && has_token(v, n, "close"))
                          : v && has_token(v, n, "keep-alive");
    a->framing = BY_CLOSE;
    from = 0;
    if ((v = fetch_field(&f->head, "content-length", &n, &from))) {
        if (f->two_lengths || !read_length(v, n, &a->left))
            return false;
        a->framing = a->left ? BY_LENGTH : NOTHING;
    }
    from = 0;
    if ((v = fetch_field(&f->head, "transfer-encoding", &n, &from))) {
        if (!has_token(v, n, "chunked"))
            return false;
        a->framing = CHUNK_SIZE;
        a->left = a->line = 0;
    }
    if (f->status == 204 || f->status == 304)
        a->framing = NOTHING;
    if (a->framing == BY_CLOSE)
        a->keep = false;
    from = 0;
    v = fetch_field(&f->head, "content-encoding", &n, &from);
    f->dropped = !unpack_begin(&a->packed, v, n) || !fetch_wants_body(f, a->conf);
    return true;
}

/* Parses bytes of a chunked body; sets *DONE after the last chunk. */
static int parse_chunks(http1 *a, const uint8_t *p, const uint8_t *end, bool *done)
{
    while (p < end) {
        uint8_t c = *p;
        int d;
        switch (a->framing) {
        case CHUNK_SIZE:
            p++;
            d = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
            if (c == '\n') {
                if (!a->line)
                    return BAD;
                a->framing = a->left ? CHUNK_DATA : TRAILER;
                a->line = 0;
            } else if (d >= 0 && a->line < 16) {
                a->left = a->left << 4 | (unsigned)d;
                a->line++;
            } else if (!a->line || (d >= 0 && a->line == 16)) {
                return BAD;
            } else {
                /* an extension, or the end of the line */
                if (a->line < 100)
                    a->line = 100;
                if (++a->line > 4096)
                    return BAD;
            }
            break;
        case CHUNK_DATA: {
            size_t n =
                (size_t)(end - p) < a->left ? (size_t)(end - p) : (size_t)a->left;
            int rc = add_body(a, p, n);
            if (rc != GO_ON)
                return rc;
            p += n;
            if (!(a->left -= n))
                a->framing = CHUNK_END;
            break;
        }
        case CHUNK_END:
            p++;
            if (c == '\n') {
                a->framing = CHUNK_SIZE;
                a->line = 0;
            } else if (c != '\r') {
                return BAD;
            }
            break;
        default: /* TRAILER: lines up to an empty one */
            p++;
            if (c == '\n' && a->line == 0) {
                *done = true;
                a->keep = a->keep && p == end;
                return GO_ON;
            }
            if (c == '\n')
                a->line = 0;
            else if (c != '\r' && ++a->line > 8192)
                return BAD;
        }
    }
    return GO_ON;
}

/* Where the head ends in B, looking from FROM on; 0: not yet. */
static size_t head_end(const buf *b, size_t from)
{
    const char *p = b->p + (from > 3 ? from - 3 : 0), *end = b->p + b->len;
    while ((p = memchr(p, '\n', (size_t)(end - p)))) {
        p++;
        if (p < end && *p == '\n')
            return (size_t)(p + 1 - b->p);
        if (end - p >= 2 && p[0] == '\r' && p[1] == '\n')
            return (size_t)(p + 2 - b->p);
    }
    return 0;
}

static int broken(http1 *a, const char *why)
{
    a->why = why;
    return HTTP1_BROKEN;
}

/* Parses bytes after the head. */
static int parse_body(http1 *a, const uint8_t *p, size_t n)
{
    bool done = a->framing == NOTHING;
    int rc = GO_ON;
    if (a->framing == BY_CLOSE) {
        rc = n ? add_body(a, p, n) : GO_ON;
    } else if (a->framing == BY_LENGTH) {
        if (n > a->left) {
            n = (size_t)a->left;
            a->keep = false; /* more than Content-Length says */
        }
        rc = n ? add_body(a, p, n) : GO_ON;
        a->left -= n;
        done = !a->left;
    } else if (a->framing != NOTHING) {
        rc = parse_chunks(a, p, p + n, &done);
    } else if (n) {
        a->keep = false;
    }
    if (rc == BAD)
        return broken(a, "the body is malformed");
    if (rc == ENOUGH)
        a->keep = false;
    else if (done && !http1_unpacked(a))
        return broken(a, "the packed body ends too early");
    return rc == ENOUGH || done ? HTTP1_DONE : HTTP1_MORE;
}

int http1_parse(http1 *a, const uint8_t *p, size_t n)
{
    fetch *f = a->f;
    while (!a->in_body) {
        /* In steps, so that hardly anything of the body is copied with the head. */
        size_t before = f->head.len, step = n < HEAD_STEP ? n : HEAD_STEP;
        buf_add(&f->head, p, step);
        size_t end = head_end(&f->head, before);
        if (!end && step < n && f->head.len <= FETCH_HEAD_MOST) {
            p += step;
            n -= step;
            continue;
        }
        if (!end) {
            if (f->head.len > 16 && memcmp(f->head.p, "HTTP/1.", 7))
                return broken(a, "not HTTP");
            if (f->head.len > FETCH_HEAD_MOST)
                return broken(a, "the head is too long");
            return HTTP1_MORE;
        }
        size_t used = end - before;
        f->head.len = end;
        p += used;
        n -= used;
        if (!read_framing(a)) {
            f->status = 0;
            return broken(a, f->two_lengths ? "Content-Length contradicts itself"
                                            : "the head is malformed");
        }
        a->in_body = f->status / 100 != 1;
        if (a->in_body)
            break;
        f->head.len = 0; /* "continue": the answer, and its status, are still to come */
        f->status = 0;
        if (!n)
            return HTTP1_MORE;
    }
    return parse_body(a, p, n);
}
