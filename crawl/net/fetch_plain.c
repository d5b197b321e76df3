/* fetch_plain.c - the plain engine: HTTP/1.1 over TCP, and nothing else.
 *
 * TLS and proxies are left to libcurl. A page costs one send and one or two receives on
 * a kept connection: half the work of libcurl for sites that speak plain HTTP. This file
 * has the connections; http1.c reads what comes over them. */
#include "addr.h"
#include "http1.h"
#include "request_fields.h"
#include "resolve.h"
#include "seen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <unistd.h>

enum {
    SCRATCH = 128 << 10,
    IDLE_MS = 15000, /* how long a kept connection may be used again */
    KEPT = 4096      /* buckets of kept connections */
};

enum conn_state { CONN_FREE, CONN_KEPT, CONN_NAMING, CONN_CONNECTING, CONN_READING };

typedef struct plain_engine plain_engine;

typedef struct conn {
    watch w;
    plain_engine *e;
    fetch *f;
    int state;
    bool reused, got_any;
    uint64_t deadline, idle_since;
    uint64_t until; /* a connection must be there, whatever the address */
    uint64_t key;
    addresses to;
    int tried;
    buf request;
    size_t sent;
    http1 answer;
    struct conn *next, *prev; /* in flight */
    struct conn *chain;       /* kept, or free */
} conn;

struct plain_engine {
    engine base;
    const config *conf;
    int loop;
    resolver *names;
    conn *in_flight, *free_list, *kept[KEPT];
    unsigned kept_count, kept_most;
    unsigned evict; /* the bucket to look at next */
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

/* Connections are never freed while the loop runs: an event may still point to one. */
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

/* Closes any kept connection: hosts come and go by the thousand, descriptors are few. */
static void evict_one(plain_engine *e)
{
    while (!e->kept[e->evict % KEPT])
        e->evict++;
    forget_kept(e->kept[e->evict++ % KEPT]);
}

static void finish_conn(conn *k, int outcome, const char *why)
{
    plain_engine *e = k->e;
    fetch *f = k->f;
    f->outcome = outcome;
    snprintf(f->why, sizeof f->why, "%s", why);
    unlink_flight(k);
    if (k->state == CONN_NAMING)
        resolver_forget(e->names, f->u.text + f->u.host, f->u.host_len, f->u.port, k);
    if (outcome == OUT_OK && k->answer.keep && !f->truncated) {
        k->state = CONN_KEPT;
        k->f = NULL;
        k->idle_since = loop_now();
        k->chain = e->kept[k->key % KEPT];
        e->kept[k->key % KEPT] = k;
        if (++e->kept_count > e->kept_most)
            evict_one(e);
    } else {
        put_away(k);
    }
    f->done(f);
}

/* ---- beginnings ------------------------------------------------------------------ */

static void on_conn_ready(watch *w, uint32_t events);
static void on_names(void *ctx, const addresses *a);

/* Writes the address that was tried last as text. */
static void write_address(conn *k)
{
    const struct sockaddr *sa = (struct sockaddr *)&k->to.a[k->tried - 1];
    const void *raw = sa->sa_family == AF_INET
                          ? (const void *)&((struct sockaddr_in *)sa)->sin_addr
                          : (const void *)&((struct sockaddr_in6 *)sa)->sin6_addr;
    inet_ntop(sa->sa_family, raw, k->f->address, sizeof k->f->address);
}

static void connect_next(conn *k)
{
    const config *c = k->e->conf;
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
        write_address(k);
        /* An address that does not answer must leave time for the next. */
        uint64_t now = loop_now(), left = k->until > now ? k->until - now : 0,
                 limit = (uint64_t)(c->connect_timeout * 1000);
        if (k->tried < k->to.count)
            left /= 2;
        k->deadline = now + (left < limit ? left : limit);
        k->w.fd = fd;
        k->state = CONN_CONNECTING;
        loop_set(k->e->loop, &k->w, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
        return;
    }
    if (refused)
        finish_conn(k, OUT_PRIVATE, "the address is not public");
    else
        finish_conn(k, OUT_CONNECT, "no connection");
}

static void on_names(void *ctx, const addresses *a)
{
    conn *k = ctx;
    k->state = CONN_CONNECTING;
    k->to = *a;
    k->tried = 0;
    if (!a->count)
        finish_conn(k, OUT_DNS, "the name does not resolve");
    else
        connect_next(k);
}

/* Starts over on a new connection. */
static void open_connection(conn *k)
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
    buf_text(b, k->e->conf->user_agent);
    buf_text(b, "\r\nAccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.5\r\n"
                "Accept-Encoding: " UNPACK_ACCEPT "\r\n");
    request_fields(k->e->conf, k->f, b);
    buf_text(b, "\r\n");
    if (k->e->conf->warc)
        buf_add(&k->f->sent, b->p, b->len);
}

static void send_request(conn *k)
{
    while (k->sent < k->request.len) {
        ssize_t n = send(k->w.fd, k->request.p + k->sent, k->request.len - k->sent,
                         MSG_NOSIGNAL);
        if (n < 0)
            return; /* later; or reading will tell why not */
        k->sent += (size_t)n;
    }
}

static conn *reuse_kept(plain_engine *e, uint64_t key)
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
    conn *k = reuse_kept(e, key);
    bool reused = k != NULL;
    if (!k && (k = e->free_list))
        e->free_list = k->chain;
    if (!k) {
        k = kit_alloc(sizeof *k);
        k->w = (watch){on_conn_ready, -1, 0};
        k->e = e;
    }
    k->f = f;
    f->engine = k;
    k->key = key;
    k->reused = reused;
    k->got_any = false;
    http1_begin(&k->answer, f, e->conf);
    k->deadline = k->until = loop_now() + (uint64_t)(e->conf->timeout * 1000);
    k->prev = NULL;
    k->next = e->in_flight;
    if (k->next)
        k->next->prev = k;
    e->in_flight = k;
    write_request(k);
    if (!reused) {
        open_connection(k);
        return;
    }
    write_address(k);
    k->state = CONN_READING;
    send_request(k);
}

/* ---- answers --------------------------------------------------------------------- */

/* Parses N bytes; false when the answer is complete or given up. */
static bool feed_answer(conn *k, const uint8_t *p, size_t n)
{
    k->got_any = true;
    k->f->wire += n;
    switch (http1_parse(&k->answer, p, n)) {
    case HTTP1_MORE:
        return true;
    case HTTP1_DONE:
        finish_conn(k, OUT_OK, "");
        return false;
    default:
        finish_conn(k, OUT_BROKEN, k->answer.why);
        return false;
    }
}

/* The server has closed the connection, or it failed. */
static void on_close(conn *k)
{
    if (http1_may_end(&k->answer) && http1_unpacked(&k->answer)) {
        finish_conn(k, OUT_OK, "");
    } else if (k->reused && !k->got_any) {
        /* The server closed a kept connection while we wrote: that is not a failure
         * of the page. */
        close_socket(k);
        k->sent = 0;
        open_connection(k);
    } else {
        finish_conn(k, OUT_BROKEN, "the connection ended too early");
    }
}

static void on_conn_ready(watch *w, uint32_t events)
{
    conn *k = (conn *)w;
    if (k->state == CONN_FREE || k->state == CONN_NAMING || w->fd < 0)
        return; /* a stale event */
    if (k->state == CONN_KEPT) {
        if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            forget_kept(k); /* closed, or speaks without a request */
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
        k->state = CONN_READING;
        k->deadline = loop_now() + (uint64_t)(k->e->conf->timeout * 1000);
    }
    if (k->sent < k->request.len)
        send_request(k);
    fetch *f = k->f;
    while (k->f == f && k->state == CONN_READING) {
        ssize_t n = recv(w->fd, k->e->scratch, SCRATCH, 0);
        if (n > 0) {
            if (!feed_answer(k, k->e->scratch, (size_t)n))
                return;
            if (n < SCRATCH && !(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)))
                return; /* that was all for now */
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else if (n < 0 && errno == EAGAIN) {
            return;
        } else {
            on_close(k);
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
            finish_conn(k, OUT_TIMEOUT, "too slow");
        next = e->in_flight; /* anything may have changed */
    }
}

static void plain_cancel(engine *base)
{
    plain_engine *e = (plain_engine *)base;
    while (e->in_flight)
        finish_conn(e->in_flight, OUT_BROKEN, "cancelled");
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
        http1_free(&k->answer);
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
    e->conf = c;
    e->kept_most = fetch_keeps(c);
    e->loop = loop;
    e->names = resolver_new(c, loop);
    e->scratch = kit_alloc(SCRATCH);
    return &e->base;
}
