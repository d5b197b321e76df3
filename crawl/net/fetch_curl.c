/* fetch_curl.c - the engine on libcurl's multi interface.
 *
 * Easy handles are reused; the multi handles keep connections, names and TLS sessions.
 * Redirects are not followed here: their targets are addresses like any other.
 *
 * A server can hold up its own page only. A transfer ends after --timeout, whatever
 * comes; its head, with interim answers and trailers, after FETCH_HEAD_MOST bytes; its
 * body after --max-body; and a connection that brings far more bytes than pages
 * (libcurl skips the extensions of chunks without a word) is closed.
 *
 * HTTP/2 needs libcurl 8.14.1 or later. 7.88.1 (Debian 12) loses the end of some
 * HTTP/2 streams, depending on the size of their frames: the body arrives whole, but
 * the transfer never ends, and no way of driving it helps. 8.14.1 (Debian 13) is the
 * oldest version known to be good; older ones speak HTTP/1.1. */
#include "addr.h"
#include "request_fields.h"
#include "fetch.h"
#include "seen.h"
#include "unpack.h"

#define CURL_DISABLE_DEPRECATION /* curl_multi_socket_all, in curl_tick */
#include <curl/curl.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>

typedef struct curl_engine curl_engine;

typedef struct socket_watch socket_watch;

/* A part of the engine: all transfers of a host are in the same one. When a transfer
 * ends, libcurl walks through all connections of its multi handle, so several small
 * handles cost less than a large one. */
typedef struct share {
    CURLM *multi;
    curl_engine *e;
    uint64_t due; /* of libcurl's timer; 0: none */
} share;
enum { SHARES = 8 };

typedef struct transfer {
    CURL *easy;
    fetch *f;
    curl_engine *e;
    share *share;
    bool private_seen, head_ended, body_begun, bad_body;
    size_t head_bytes;  /* interim answers and trailers too */
    uint64_t uncounted; /* bytes that came before the socket was known */
    socket_watch *socket;
    unpack packed;
    struct curl_slist *fields; /* of this request alone, or NULL */
    char error[CURL_ERROR_SIZE];
    struct transfer *next, *prev; /* in flight, or free */
} transfer;

/* libcurl's sockets: one watch each, reused. */
struct socket_watch {
    watch w;
    share *s;
    unsigned events;
    bool flooded;      /* closed by us */
    uint64_t received; /* by the kernel, before the bytes were counted */
    uint64_t useful;   /* bytes that were part of an answer */
    socket_watch *next;
};

struct curl_engine {
    engine base;
    const config *conf;
    int loop;
    share share[SHARES];
    transfer *free_list, *in_flight;
    socket_watch *free_watches;
    socket_watch *current; /* whose event libcurl is handling, or NULL */
    struct curl_slist *fields, *resolve;
    buf own_fields;
    const cookie_jar *jar; /* NULL: no cookies */
    bool ticking;
    bool address_failed; /* a socket was closed that did not connect */
    long http;           /* the highest version to offer */
};

enum { GOOD_HTTP2 = 0x080e01 };

/* N bytes of T's answer came. libcurl does not say on which socket, but it reads most
 * of them while it handles an event of that socket. */
static void count_useful(transfer *t, size_t n)
{
    t->uncounted += n;
    if (t->e->current)
        t->socket = t->e->current;
    if (t->socket) {
        t->socket->useful += t->uncounted;
        t->uncounted = 0;
    }
}

/* Called with one line at a time: those of interim answers, of the answer, and of the
 * trailers after a chunked body. Only the answer's are kept. */
static size_t on_head(char *p, size_t size, size_t n, void *ctx)
{
    transfer *t = ctx;
    buf *head = &t->f->head;
    (void)size;
    count_useful(t, n);
    t->head_bytes += n;
    if (t->head_bytes > FETCH_HEAD_MOST)
        return 0;
    if (t->head_ended && !t->body_begun && n > 5 && !memcmp(p, "HTTP/", 5)) {
        head->len = 0; /* what came before was an interim answer */
        t->head_ended = false;
    }
    if (!t->head_ended)
        buf_add(head, p, n);
    t->head_ended |= n == 1 || (n == 2 && *p == '\r');
    return n;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
    transfer *t = ctx;
    fetch *f = t->f;
    (void)size;
    count_useful(t, n);
    if (!t->body_begun) {
        t->body_begun = true;
        fetch_read_head(f);
        if (f->two_lengths)
            return 0;
        size_t len, from = 0;
        const char *coding = fetch_field(&f->head, "content-encoding", &len, &from);
        f->dropped =
            !unpack_begin(&t->packed, coding, len) || !fetch_wants_body(f, t->e->conf);
    }
    switch (unpack_feed(&t->packed, p, n, fetch_keep_body, f)) {
    case UNPACK_MORE:
        return n;
    case UNPACK_BAD:
        t->bad_body = true;
    }
    return 0;
}

static int on_debug(CURL *easy, curl_infotype what, char *p, size_t n, void *ctx)
{
    transfer *t = ctx;
    (void)easy;
    if (what == CURLINFO_HEADER_OUT) {
        t->f->sent.len = 0;
        buf_add(&t->f->sent, p, n);
    }
    return 0;
}

/* libcurl calls this before it connects to an address: the first one of a name, and
 * each further one it tries. */
static curl_socket_t on_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
    transfer *t = ctx;
    (void)purpose;
    if (!t->e->conf->allow_private && !t->e->conf->proxy && !addr_is_public(&a->addr)) {
        t->private_seen = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* ---- libcurl's sockets and timer in our loop ------------------------------------ */

static void collect_done(share *s);

/* Closes a socket that receives far more bytes than its answers have. Most answers
 * are complete before the first check. */
static void stop_flood(socket_watch *s)
{
    enum { LOOK_EVERY = 64, OVERHEAD = 8, FREE = 16 << 20 };
    struct tcp_info i = {0};
    socklen_t len = sizeof i;
    if (++s->events % LOOK_EVERY || s->flooded ||
        getsockopt(s->w.fd, IPPROTO_TCP, TCP_INFO, &i, &len) < 0)
        return;
    if (!s->received)
        s->received = i.tcpi_bytes_received;
    if (i.tcpi_bytes_received - s->received <= OVERHEAD * s->useful + FREE)
        return;
    s->flooded = true;
    shutdown(s->w.fd, SHUT_RDWR); /* libcurl finds it ended */
}

static void on_socket_ready(watch *w, uint32_t events)
{
    socket_watch *s = (socket_watch *)w;
    int mask = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
               (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & EPOLLERR ? CURL_CSELECT_ERR : 0),
        running;
    curl_engine *e = s->s->e;
    if (w->events) {
        stop_flood(s);
        e->current = s;
        curl_multi_socket_action(s->s->multi, w->fd, mask, &running);
        e->current = NULL;
    }
    collect_done(s->s);
}

static int on_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
    share *in = ctx;
    curl_engine *e = in->e;
    socket_watch *s = socket_ctx;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s) {
            /* closed while it was connecting */
            e->address_failed |= s->w.events == EPOLLOUT && fcntl(fd, F_GETFD) < 0;
            loop_set(e->loop, &s->w, 0);
            s->next = e->free_watches;
            e->free_watches = s;
            curl_multi_assign(in->multi, fd, NULL);
        }
        return 0;
    }
    if (!s) {
        s = e->free_watches;
        if (s)
            e->free_watches = s->next;
        else
            s = kit_alloc(sizeof *s);
        *s = (socket_watch){.w = {on_socket_ready, fd, 0}, .s = in};
        curl_multi_assign(in->multi, fd, s);
    }
    loop_set(e->loop, &s->w,
             (what & CURL_POLL_IN ? EPOLLIN : 0u) |
                 (what & CURL_POLL_OUT ? EPOLLOUT : 0u));
    return 0;
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    share *s = ctx;
    (void)multi;
    s->due = ms < 0 ? 0 : ms == 0 ? 1 /* at once */ : loop_now() + (uint64_t)ms + 1;
    return 0;
}

static int curl_timeout(engine *base)
{
    curl_engine *e = (curl_engine *)base;
    uint64_t due = UINT64_MAX, now;
    if (e->address_failed)
        return 0;
    for (int i = 0; i < SHARES; i++)
        if (e->share[i].due && e->share[i].due < due)
            due = e->share[i].due;
    if (due == UINT64_MAX)
        return -1;
    now = loop_now();
    return due <= now ? 0 : (int)(due - now);
}

static void curl_tick(engine *base)
{
    curl_engine *e = (curl_engine *)base;
    int running;
    if (e->address_failed) {
        /* libcurl 7.88 begins with the next address of a name when the transfer runs
         * again, and sets no timer for that. */
        e->address_failed = false;
        for (int i = 0; i < SHARES; i++)
            curl_multi_socket_all(e->share[i].multi, &running);
    }
    uint64_t now = loop_now();
    for (share *s = e->share; s < e->share + SHARES; s++)
        if (s->due && s->due <= now) {
            s->due = 0;
            curl_multi_socket_action(s->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
    for (int i = 0; i < SHARES; i++)
        collect_done(&e->share[i]);
}

/* ---- requests ------------------------------------------------------------------- */

static transfer *new_transfer(curl_engine *e)
{
    const config *c = e->conf;
    transfer *t = kit_alloc(sizeof *t);
    CURL *h = curl_easy_init();
    if (!h)
        kit_die("libcurl: out of memory");
    t->easy = h;
    t->e = e;
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    /* A transfer that is given up while a name is looked up does not wait for it. */
    curl_easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(h, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* unpack.h */
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_HTTP_VERSION, e->http);
    curl_easy_setopt(h, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, (long)(c->timeout * 1000));
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, (long)(c->connect_timeout * 1000));
    curl_easy_setopt(h, CURLOPT_DNS_CACHE_TIMEOUT, 300L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, c->insecure ? 0L : 1L);
    curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, c->insecure ? 0L : 2L);
    const char *authorities = c->cacert ? c->cacert : getenv("SSL_CERT_FILE");
    if (authorities && *authorities)
        curl_easy_setopt(h, CURLOPT_CAINFO, authorities);
    if (c->cert)
        curl_easy_setopt(h, CURLOPT_SSLCERT, c->cert);
    if (c->cert_key)
        curl_easy_setopt(h, CURLOPT_SSLKEY, c->cert_key);
    if (e->jar) {
        curl_easy_setopt(h, CURLOPT_SHARE, cookie_jar_share(e->jar));
        curl_easy_setopt(h, CURLOPT_COOKIEFILE, ""); /* turns cookies on */
    }
    curl_easy_setopt(h, CURLOPT_PROXY, c->proxy ? c->proxy : "");
    if (!c->proxy)
        curl_easy_setopt(h, CURLOPT_NOPROXY, "*"); /* else the environment is asked */
    curl_easy_setopt(h, CURLOPT_ERRORBUFFER, t->error);
    curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(h, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(h, CURLOPT_PRIVATE, t);
    if (c->warc) {
        curl_easy_setopt(h, CURLOPT_VERBOSE, 1L);
        curl_easy_setopt(h, CURLOPT_DEBUGFUNCTION, on_debug);
        curl_easy_setopt(h, CURLOPT_DEBUGDATA, t);
    }
    return t;
}

/* The fields of every request, and those of this one. */
static void set_fields(curl_engine *e, transfer *t, const fetch *f)
{
    buf *own = &e->own_fields;
    curl_slist_free_all(t->fields);
    t->fields = NULL;
    own->len = 0;
    request_fields(e->conf, f, own);
    buf_byte(own, 0);
    for (char *line = own->p, *end; (end = strstr(line, "\r\n")); line = end + 2) {
        *end = 0;
        t->fields = curl_slist_append(t->fields, line);
    }
    if (t->fields)
        for (const struct curl_slist *s = e->fields; s; s = s->next)
            t->fields = curl_slist_append(t->fields, s->data);
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->fields ? t->fields : e->fields);
}

static void curl_start(engine *base, fetch *f)
{
    curl_engine *e = (curl_engine *)base;
    transfer *t = e->free_list;
    if (t)
        e->free_list = t->next;
    else
        t = new_transfer(e);
    t->f = f;
    f->engine = t;
    t->private_seen = t->head_ended = t->body_begun = t->bad_body = false;
    t->head_bytes = t->uncounted = 0;
    t->socket = NULL;
    t->error[0] = 0;
    t->prev = NULL;
    t->next = e->in_flight;
    if (t->next)
        t->next->prev = t;
    e->in_flight = t;
    curl_easy_setopt(t->easy, CURLOPT_URL, f->u.text);
    if (e->resolve) /* again each time: the handle may come from another share */
        curl_easy_setopt(t->easy, CURLOPT_RESOLVE, e->resolve);
    set_fields(e, t, f);
    t->share = &e->share[seen_hash_seeded(0, f->u.text, f->u.path) % SHARES];
    if (curl_multi_add_handle(t->share->multi, t->easy) != CURLM_OK)
        kit_die("libcurl: out of memory");
}

static int outcome_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return OUT_OK;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_URL_MALFORMAT:
        return OUT_DNS;
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_PROXY:
        return OUT_CONNECT;
    case CURLE_OPERATION_TIMEDOUT:
        return OUT_TIMEOUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CACERT_BADFILE: /* also if there is no such file (ca-certificates) */
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        return OUT_TLS;
    default:
        return OUT_BROKEN;
    }
}

/* Writes why T failed: libcurl's words, except where they contain times or ports. */
static void write_reason(transfer *t, CURLcode code)
{
    fetch *f = t->f;
    const char *why = t->error[0] ? t->error : curl_easy_strerror(code);
    long number = 0;
    if (f->outcome == OUT_PRIVATE)
        why = "the address is not public";
    else if (code == CURLE_COULDNT_RESOLVE_HOST)
        why = "the name does not resolve";
    else if (code == CURLE_OPERATION_TIMEDOUT)
        why = "too slow";
    snprintf(f->why, sizeof f->why, "%s", why);
    if (code != CURLE_COULDNT_CONNECT || f->outcome == OUT_PRIVATE)
        return;
    curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &number);
    snprintf(f->why, sizeof f->why, "no connection%s%s", number ? ": " : "",
             number ? strerror((int)number) : "");
}

static void finish_transfer(curl_engine *e, transfer *t, CURLcode code)
{
    fetch *f = t->f;
    long status = 0;
    char *ip = NULL;
    if (code == CURLE_WRITE_ERROR && (f->truncated || f->dropped))
        code = CURLE_OK;
    f->outcome = t->private_seen && code != CURLE_OK ? OUT_PRIVATE : outcome_of(code);
    if (code != CURLE_OK)
        write_reason(t, code);
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_PRIMARY_IP, &ip);
    f->status = (int)status;
    curl_off_t body = 0;
    long head = 0;
    curl_easy_getinfo(t->easy, CURLINFO_SIZE_DOWNLOAD_T, &body);
    curl_easy_getinfo(t->easy, CURLINFO_HEADER_SIZE, &head);
    f->wire = (uint64_t)body + (uint64_t)head;
    snprintf(f->address, sizeof f->address, "%s", ip ? ip : "");
    if (!t->body_begun)
        fetch_read_head(f);
    /* libcurl accepts a head that breaks off. */
    if (status && (!t->head_ended || status < 200)) {
        f->status = 0;
        if (f->outcome == OUT_OK) {
            f->outcome = OUT_BROKEN;
            snprintf(f->why, sizeof f->why, "%s", "the connection ended too early");
        }
    }
    bool whole = f->truncated || f->dropped || !t->body_begun;
    if (f->outcome == OUT_OK && !whole && !unpack_complete(&t->packed)) {
        f->outcome = OUT_BROKEN;
        snprintf(f->why, sizeof f->why, "%s", "the packed body ends too early");
    }
    if (t->head_bytes > FETCH_HEAD_MOST)
        snprintf(f->why, sizeof f->why, "%s", "the head is too long");
    if (t->socket && t->socket->flooded && f->outcome != OUT_OK)
        snprintf(f->why, sizeof f->why, "%s", "far more bytes than the answer has");
    if (t->bad_body)
        snprintf(f->why, sizeof f->why, "%s", "the body is malformed");
    if (f->two_lengths) {
        f->outcome = OUT_BROKEN;
        f->status = 0;
        snprintf(f->why, sizeof f->why, "%s", "Content-Length contradicts itself");
    }
    curl_multi_remove_handle(t->share->multi, t->easy);
    if (t->prev)
        t->prev->next = t->next;
    else
        e->in_flight = t->next;
    if (t->next)
        t->next->prev = t->prev;
    t->next = e->free_list;
    e->free_list = t;
    f->done(f);
}

/* Not reentrant: a callback may start requests, and libcurl may call back. */
static void collect_done(share *s)
{
    curl_engine *e = s->e;
    CURLMsg *m;
    int left;
    if (e->ticking)
        return;
    e->ticking = true;
    while ((m = curl_multi_info_read(s->multi, &left))) {
        transfer *t = NULL;
        CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        finish_transfer(e, t, code);
    }
    e->ticking = false;
}

static void curl_cancel(engine *base)
{
    curl_engine *e = (curl_engine *)base;
    while (e->in_flight)
        finish_transfer(e, e->in_flight, CURLE_ABORTED_BY_CALLBACK);
}

static void curl_free_engine(engine *base)
{
    curl_engine *e = (curl_engine *)base;
    while (e->free_list) {
        transfer *t = e->free_list;
        e->free_list = t->next;
        curl_easy_cleanup(t->easy);
        unpack_free(&t->packed);
        curl_slist_free_all(t->fields);
        free(t);
    }
    for (int i = 0; i < SHARES; i++)
        curl_multi_cleanup(e->share[i].multi);
    while (e->free_watches) {
        socket_watch *s = e->free_watches;
        e->free_watches = s->next;
        free(s);
    }
    free(e->own_fields.p);
    curl_slist_free_all(e->fields);
    curl_slist_free_all(e->resolve);
    free(e);
    curl_global_cleanup();
}

static void begin_share(curl_engine *e, share *s)
{
    const config *c = e->conf;
    long kept = ((long)c->connections + (long)fetch_keeps(c)) / SHARES;
    s->e = e;
    if (!(s->multi = curl_multi_init()))
        kit_die("libcurl cannot be started");
    curl_multi_setopt(s->multi, CURLMOPT_SOCKETFUNCTION, on_watch);
    curl_multi_setopt(s->multi, CURLMOPT_SOCKETDATA, s);
    curl_multi_setopt(s->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(s->multi, CURLMOPT_TIMERDATA, s);
    curl_multi_setopt(s->multi, CURLMOPT_MAXCONNECTS,
                      kept > (long)c->per_host ? kept : (long)c->per_host);
}

engine *engine_curl(const config *c, int loop, cookie_jar *jar)
{
    curl_engine *e = kit_alloc(sizeof *e);
    e->base =
        (engine){curl_start, curl_cancel, curl_timeout, curl_tick, curl_free_engine};
    e->conf = c;
    e->jar = jar;
    e->loop = loop;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        kit_die("libcurl cannot be started");
    for (int i = 0; i < SHARES; i++)
        begin_share(e, &e->share[i]);
    e->http = curl_version_info(CURLVERSION_NOW)->version_num < GOOD_HTTP2
                  ? CURL_HTTP_VERSION_1_1
                  : CURL_HTTP_VERSION_2TLS;
    e->fields = curl_slist_append(NULL, "Accept: text/html,*/*;q=0.9");
    e->fields = curl_slist_append(e->fields, "Accept-Encoding: " UNPACK_ACCEPT);
    buf agent = {0};
    buf_text(&agent, "User-Agent: ");
    buf_add(&agent, c->user_agent, strlen(c->user_agent) + 1);
    e->fields = curl_slist_append(e->fields, agent.p);
    free(agent.p);
    for (size_t i = 0; i < c->resolve.n; i++)
        e->resolve = curl_slist_append(e->resolve, c->resolve.p[i]);
    return &e->base;
}
