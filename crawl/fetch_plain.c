/* fetch_plain.c - the plain engine: HTTP/1.1 over TCP, and nothing else.
 *
 * No TLS, no proxy: those are libcurl's. One send and one or two receives a page on a
 * kept connection, gzip and chunks decoded as they come; half the work of libcurl for
 * sites that speak plain HTTP. */
#include "addr.h"
#include "fetch.h"
#include "resolve.h"
#include "seen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

enum {
    HEAD_MOST = 256 << 10,
    SCRATCH = 128 << 10,
    IDLE_MS = 15000, /* a kept connection is used again only so long */
    KEPT = 4096      /* buckets of kept connections */
};

enum conn_state {
    CONN_FREE,
    CONN_KEPT,
    CONN_NAMING,
    CONN_CONNECTING,
    CONN_HEAD,
    CONN_BODY
};
enum framing {
    BY_CLOSE,
    BY_LENGTH,
    CHUNK_SIZE,
    CHUNK_DATA,
    CHUNK_END,
    TRAILER,
    NOTHING
};

typedef struct plain_engine plain_engine;

typedef struct conn {
    watch w;
    plain_engine *e;
    fetch *f;
    int state;
    bool reused, got_any, keep, zipped, z_ready, z_ended;
    int framing;
    uint64_t left; /* of the body or chunk */
    unsigned line; /* bytes of a chunk's size line or of a trailer line */
    uint64_t deadline, idle_since;
    uint64_t key;
    addresses to;
    int tried;
    buf request;
    size_t sent;
    z_stream z;
    struct conn *next, *prev; /* in flight */
    struct conn *chain;       /* kept, or free */
} conn;

struct plain_engine {
    engine base;
    const config *c;
    int loop;
    resolver *names;
    conn *in_flight, *free_list, *kept[KEPT];
    unsigned kept_count, evict; /* evict: the bucket to look at next */
    uint64_t checked;
    uint8_t *scratch;
};

/* ---- ends ------------------------------------------------------------------------ */

static void close_socket(conn *k)
{
    if (k->w.fd >= 0)
        close(k->w.fd); /* leaves the epoll by itself */
    k->w.fd = -1;
    k->w.events = 0;
}

static void unlink_flight(conn *k)
{
    if (k->prev)
        k->prev->next = k->next;
    else
        k->e->in_flight = k->next;
    if (k->next)
        k->next->prev = k->prev;
}

/* Connections are never freed while the loop runs: an event may still name one. */
static void put_away(conn *k)
{
    close_socket(k);
    k->state = CONN_FREE;
    k->f = NULL;
    k->chain = k->e->free_list;
    k->e->free_list = k;
}

static void forget_kept(conn *k)
{
    conn **p = &k->e->kept[k->key % KEPT];
    while (*p != k)
        p = &(*p)->chain;
    *p = k->chain;
    k->e->kept_count--;
    put_away(k);
}

/* Any of the kept ones goes: hosts come and go by the thousand, descriptors are few. */
static void evict_one(plain_engine *e)
{
    while (!e->kept[e->evict % KEPT])
        e->evict++;
    forget_kept(e->kept[e->evict++ % KEPT]);
}

static void finish(conn *k, int outcome, const char *why)
{
    plain_engine *e = k->e;
    fetch *f = k->f;
    f->outcome = outcome;
    snprintf(f->why, sizeof f->why, "%s", why);
    unlink_flight(k);
    if (outcome == OUT_OK && k->keep && !f->truncated) {
        k->state = CONN_KEPT;
        k->f = NULL;
        k->idle_since = loop_now();
        k->chain = e->kept[k->key % KEPT];
        e->kept[k->key % KEPT] = k;
        if (++e->kept_count > e->c->connections)
            evict_one(e);
    } else {
        put_away(k);
    }
    f->done(f);
}

/* ---- beginnings ------------------------------------------------------------------ */

static void on_ready(watch *w, uint32_t events);
static void on_names(void *ctx, const addresses *a);

static void connect_next(conn *k)
{
    const config *c = k->e->c;
    bool refused = false;
    close_socket(k);
    while (k->tried < k->to.count) {
        int i = k->tried++;
        struct sockaddr *sa = (struct sockaddr *)&k->to.a[i];
        if (!c->allow_private && !addr_is_public(sa)) {
            refused = true;
            continue;
        }
        int one = 1;
        int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (connect(fd, sa, k->to.len[i]) < 0 && errno != EINPROGRESS) {
            close(fd);
            continue;
        }
        const void *raw = sa->sa_family == AF_INET
                              ? (const void *)&((struct sockaddr_in *)sa)->sin_addr
                              : (const void *)&((struct sockaddr_in6 *)sa)->sin6_addr;
        inet_ntop(sa->sa_family, raw, k->f->address, sizeof k->f->address);
        uint64_t limit = loop_now() + (uint64_t)(c->connect_timeout * 1000);
        if (limit < k->deadline)
            k->deadline = limit;
        k->w.fd = fd;
        k->state = CONN_CONNECTING;
        loop_set(k->e->loop, &k->w, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
        return;
    }
    if (refused)
        finish(k, OUT_PRIVATE, "the address is not public");
    else
        finish(k, OUT_CONNECT, "no connection");
}

static void on_names(void *ctx, const addresses *a)
{
    conn *k = ctx;
    if (k->state != CONN_NAMING)
        return; /* given up meanwhile */
    k->to = *a;
    k->tried = 0;
    if (!a->count)
        finish(k, OUT_DNS, "the name does not resolve");
    else
        connect_next(k);
}

/* Everything anew on a fresh connection. */
static void begin(conn *k)
{
    const url *u = &k->f->u;
    k->state = CONN_NAMING;
    k->reused = false;
    resolver_ask(k->e->names, u->text + u->host, u->host_len, u->port, on_names, k);
}

static void write_request(conn *k)
{
    const url *u = &k->f->u;
    buf *b = &k->request;
    b->len = 0;
    k->sent = 0;
    buf_text(b, "GET ");
    buf_add(b, u->text + u->path, u->len - u->path);
    buf_text(b, " HTTP/1.1\r\nHost: ");
    buf_add(b, u->text + u->host, u->path - u->host);
    buf_text(b, "\r\nUser-Agent: ");
    buf_text(b, k->e->c->user_agent);
    buf_text(b, "\r\nAccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5\r\n"
                "Accept-Encoding: gzip\r\n\r\n");
    if (k->e->c->warc)
        buf_add(&k->f->sent, b->p, b->len);
}

static void send_request(conn *k)
{
    while (k->sent < k->request.len) {
        ssize_t n = send(k->w.fd, k->request.p + k->sent, k->request.len - k->sent,
                         MSG_NOSIGNAL);
        if (n < 0)
            return; /* later, or the reading side will say why not */
        k->sent += (size_t)n;
    }
}

static conn *take_kept(plain_engine *e, uint64_t key)
{
    uint64_t now = loop_now();
    for (conn **p = &e->kept[key % KEPT], *k; (k = *p);) {
        if (k->key != key) {
            p = &k->chain;
            continue;
        }
        *p = k->chain;
        e->kept_count--;
        if (now - k->idle_since < IDLE_MS)
            return k;
        put_away(k);
    }
    return NULL;
}

static void plain_start(engine *base, fetch *f)
{
    plain_engine *e = (plain_engine *)base;
    uint64_t key = seen_hash_seeded(1, f->u.text, f->u.path);
    conn *k = take_kept(e, key);
    bool reused = k != NULL;
    if (!k && (k = e->free_list))
        e->free_list = k->chain;
    if (!k) {
        k = kit_alloc(sizeof *k);
        k->w = (watch){on_ready, -1, 0};
        k->e = e;
    }
    k->f = f;
    f->engine = k;
    k->key = key;
    k->reused = reused;
    k->got_any = k->keep = k->zipped = k->z_ended = false;
    k->deadline = loop_now() + (uint64_t)(e->c->timeout * 1000);
    k->prev = NULL;
    k->next = e->in_flight;
    if (k->next)
        k->next->prev = k;
    e->in_flight = k;
    write_request(k);
    if (!reused) {
        begin(k);
        return;
    }
    struct sockaddr *sa = (struct sockaddr *)&k->to.a[k->tried - 1];
    const void *raw = sa->sa_family == AF_INET
                          ? (const void *)&((struct sockaddr_in *)sa)->sin_addr
                          : (const void *)&((struct sockaddr_in6 *)sa)->sin6_addr;
    inet_ntop(sa->sa_family, raw, f->address, sizeof f->address);
    k->state = CONN_HEAD;
    send_request(k);
}

/* ---- answers --------------------------------------------------------------------- */

/* Keeps N bytes of the body, decoded; false when no more are wanted. */
static bool keep_body(fetch *f, const void *p, size_t n)
{
    f->size += n;
    if (f->dropped)
        return f->size <= 64 << 10;
    if (f->body.len + n > f->limit) {
        f->truncated = true;
        buf_add(&f->body, p, f->limit - f->body.len);
        return false;
    }
    buf_add(&f->body, p, n);
    return true;
}

enum { GO_ON, ENOUGH, BAD };

static int take_body(conn *k, const uint8_t *p, size_t n)
{
    if (!k->zipped)
        return keep_body(k->f, p, n) ? GO_ON : ENOUGH;
    uint8_t out[32 << 10];
    k->z.next_in = (Bytef *)(uintptr_t)p;
    k->z.avail_in = (uInt)n;
    while (!k->z_ended) {
        k->z.next_out = out;
        k->z.avail_out = sizeof out;
        int rc = inflate(&k->z, Z_NO_FLUSH);
        if (!keep_body(k->f, out, sizeof out - k->z.avail_out))
            return ENOUGH;
        if (rc == Z_STREAM_END)
            k->z_ended = true; /* what may follow is ignored, as browsers do */
        else if (rc != Z_OK && rc != Z_BUF_ERROR)
            return BAD;
        else if (k->z.avail_out)
            break;
    }
    return GO_ON;
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

/* Reads the framing out of a complete head; false if it makes no sense. */
static bool read_framing(conn *k)
{
    fetch *f = k->f;
    size_t n, from = 0;
    const char *v;
    const char *h = f->head.p;
    if (f->head.len < 12 || memcmp(h, "HTTP/1.", 7) || h[8] != ' ' || h[9] < '1' ||
        h[9] > '5' || h[10] < '0' || h[10] > '9' || h[11] < '0' || h[11] > '9')
        return false;
    f->status = (h[9] - '0') * 100 + (h[10] - '0') * 10 + h[11] - '0';
    fetch_read_head(f, k->e->c->product);
    v = fetch_field(&f->head, "connection", &n, &from);
    k->keep = h[7] == '1' ? !(v && has_token(v, n, "close"))
                          : v && has_token(v, n, "keep-alive");
    k->framing = BY_CLOSE;
    from = 0;
    if ((v = fetch_field(&f->head, "content-length", &n, &from))) {
        uint64_t again = 0;
        if (!read_length(v, n, &k->left))
            return false;
        while ((v = fetch_field(&f->head, "content-length", &n, &from)))
            if (!read_length(v, n, &again) || again != k->left)
                return false;
        k->framing = k->left ? BY_LENGTH : NOTHING;
    }
    from = 0;
    if ((v = fetch_field(&f->head, "transfer-encoding", &n, &from))) {
        if (!has_token(v, n, "chunked"))
            return false;
        k->framing = CHUNK_SIZE;
        k->left = k->line = 0;
    }
    if (f->status == 204 || f->status == 304)
        k->framing = NOTHING;
    if (k->framing == BY_CLOSE)
        k->keep = false;
    from = 0;
    v = fetch_field(&f->head, "content-encoding", &n, &from);
    bool known = !v || !n || has_token(v, n, "identity");
    k->zipped = v && (has_token(v, n, "gzip") || has_token(v, n, "deflate"));
    f->dropped = (!known && !k->zipped) || (!f->all_types && !fetch_is_html(f->type) &&
                                            !k->e->c->warc && !k->e->c->bodies);
    if (k->zipped) {
        int rc = k->z_ready ? inflateReset(&k->z) : inflateInit2(&k->z, 15 + 32);
        if (rc != Z_OK)
            return false;
        k->z_ready = true;
    }
    return true;
}

/* Works through bytes of a chunked body. *DONE when the last chunk is behind. */
static int take_chunks(conn *k, const uint8_t *p, const uint8_t *end, bool *done)
{
    while (p < end) {
        uint8_t c = *p;
        int d;
        switch (k->framing) {
        case CHUNK_SIZE:
            p++;
            d = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
            if (c == '\n') {
                if (!k->line)
                    return BAD;
                k->framing = k->left ? CHUNK_DATA : TRAILER;
                k->line = 0;
            } else if (d >= 0 && k->line < 16) {
                k->left = k->left << 4 | (unsigned)d;
                k->line++;
            } else if (!k->line || (d >= 0 && k->line == 16)) {
                return BAD;
            } else {
                /* an extension, or the end of the line */
                if (k->line < 100)
                    k->line = 100;
                if (++k->line > 4096)
                    return BAD;
            }
            break;
        case CHUNK_DATA: {
            size_t n =
                (size_t)(end - p) < k->left ? (size_t)(end - p) : (size_t)k->left;
            int rc = take_body(k, p, n);
            if (rc != GO_ON)
                return rc;
            p += n;
            if (!(k->left -= n))
                k->framing = CHUNK_END;
            break;
        }
        case CHUNK_END:
            p++;
            if (c == '\n') {
                k->framing = CHUNK_SIZE;
                k->line = 0;
            } else if (c != '\r') {
                return BAD;
            }
            break;
        default: /* TRAILER: lines up to an empty one */
            p++;
            if (c == '\n' && k->line == 0) {
                *done = true;
                k->keep = k->keep && p == end;
                return GO_ON;
            }
            if (c == '\n')
                k->line = 0;
            else if (c != '\r' && ++k->line > 8192)
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

static void body_result(conn *k, int rc)
{
    if (rc == BAD) {
        finish(k, OUT_BROKEN, "the body makes no sense");
    } else { /* ENOUGH */
        k->keep = false;
        finish(k, OUT_OK, "");
    }
}

/* Takes N bytes; false when the answer is complete or given up. */
static bool take(conn *k, const uint8_t *p, size_t n)
{
    fetch *f = k->f;
    k->got_any = true;
    while (k->state == CONN_HEAD) {
        size_t before = f->head.len;
        if (before + n > HEAD_MOST + SCRATCH) {
            finish(k, OUT_BROKEN, "the head is too long");
            return false;
        }
        buf_add(&f->head, p, n);
        size_t end = head_end(&f->head, before);
        if (!end) {
            if (f->head.len > 16 && memcmp(f->head.p, "HTTP/1.", 7)) {
                finish(k, OUT_BROKEN, "not HTTP");
                return false;
            }
            if (f->head.len > HEAD_MOST) {
                finish(k, OUT_BROKEN, "the head is too long");
                return false;
            }
            return true;
        }
        size_t used = end - before;
        f->head.len = end;
        p += used;
        n -= used;
        if (!read_framing(k)) {
            finish(k, OUT_BROKEN, "the head makes no sense");
            return false;
        }
        if (f->status / 100 == 1) {
            f->head.len = 0; /* "continue": the answer is still to come */
            if (!n)
                return true;
            continue;
        }
        k->state = CONN_BODY;
    }
    bool done = k->framing == NOTHING;
    int rc = GO_ON;
    if (k->framing == BY_CLOSE) {
        rc = n ? take_body(k, p, n) : GO_ON;
    } else if (k->framing == BY_LENGTH) {
        if (n > k->left) {
            n = (size_t)k->left;
            k->keep = false; /* more than was promised */
        }
        rc = n ? take_body(k, p, n) : GO_ON;
        k->left -= n;
        done = !k->left;
    } else if (k->framing != NOTHING) {
        rc = take_chunks(k, p, p + n, &done);
    } else if (n) {
        k->keep = false;
    }
    if (rc != GO_ON) {
        body_result(k, rc);
        return false;
    }
    if (done) {
        finish(k, OUT_OK, "");
        return false;
    }
    return true;
}

/* The other side has closed, or failed. */
static void ended(conn *k)
{
    if (k->state == CONN_BODY && k->framing == BY_CLOSE) {
        finish(k, OUT_OK, "");
    } else if (k->reused && !k->got_any) {
        /* A kept connection may have been closed while we wrote: not the page's fault.
         */
        close_socket(k);
        k->sent = 0;
        begin(k);
    } else {
        finish(k, OUT_BROKEN, "the connection ended too early");
    }
}

static void on_ready(watch *w, uint32_t events)
{
    conn *k = (conn *)w;
    if (k->state == CONN_FREE || k->state == CONN_NAMING || w->fd < 0)
        return; /* an event from before */
    if (k->state == CONN_KEPT) {
        if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            forget_kept(k); /* closed, or speaks without being asked */
        return;
    }
    if (k->state == CONN_CONNECTING) {
        int err = 0;
        socklen_t len = sizeof err;
        getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &err, &len);
        if (err) {
            connect_next(k);
            return;
        }
        if (!(events & EPOLLOUT))
            return;
        k->state = CONN_HEAD;
        k->deadline = loop_now() + (uint64_t)(k->e->c->timeout * 1000);
    }
    if (k->sent < k->request.len)
        send_request(k);
    fetch *f = k->f;
    while (k->f == f && (k->state == CONN_HEAD || k->state == CONN_BODY)) {
        ssize_t n = recv(w->fd, k->e->scratch, SCRATCH, 0);
        if (n > 0) {
            if (!take(k, k->e->scratch, (size_t)n))
                return;
            if (n < SCRATCH && !(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
                return; /* that was all for now */
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            ended(k);
            return;
        }
    }
}

/* ---- the engine ------------------------------------------------------------------ */

static int plain_timeout(engine *base)
{
    plain_engine *e = (plain_engine *)base;
    return e->in_flight ? 100 : -1;
}

static void plain_tick(engine *base)
{
    plain_engine *e = (plain_engine *)base;
    uint64_t now = loop_now();
    if (now - e->checked < 100)
        return;
    e->checked = now;
    for (conn *k = e->in_flight, *next; k; k = next) {
        next = k->next;
        if (k->deadline > now)
            continue;
        if (k->state == CONN_CONNECTING && k->tried < k->to.count)
            connect_next(k);
        else
            finish(k, OUT_TIMEOUT, "too slow");
        next = e->in_flight; /* anything may have changed */
    }
}

static void plain_cancel(engine *base)
{
    plain_engine *e = (plain_engine *)base;
    while (e->in_flight)
        finish(e->in_flight, OUT_BROKEN, "cancelled");
}

static void plain_free(engine *base)
{
    plain_engine *e = (plain_engine *)base;
    for (int i = 0; i < KEPT; i++)
        while (e->kept[i])
            forget_kept(e->kept[i]);
    while (e->free_list) {
        conn *k = e->free_list;
        e->free_list = k->chain;
        if (k->z_ready)
            inflateEnd(&k->z);
        free(k->request.p);
        free(k);
    }
    resolver_free(e->names);
    free(e->scratch);
    free(e);
}

engine *engine_plain(const config *c, int loop)
{
    plain_engine *e = kit_alloc(sizeof *e);
    e->base =
        (engine){plain_start, plain_cancel, plain_timeout, plain_tick, plain_free};
    e->c = c;
    e->loop = loop;
    e->names = resolver_new(c, loop);
    e->scratch = kit_alloc(SCRATCH);
    return &e->base;
}
