/* status_server.c - --status: a page and metrics over HTTP, in a thread of
 * libmicrohttpd.
 *
 * The crawl never waits: it leaves a snapshot behind a lock once a second, and if the
 * thread happens to hold the lock, it leaves none this time. Requests are hostile: only
 * GET and HEAD of two paths, few connections, little memory, short patience. A page of
 * a stranger's site must not read the status through the user's browser (DNS
 * rebinding), so on a loopback address only requests that name a loopback host are
 * answered. */
#include "snapshot.h"

#ifdef SEEN_CRAWL_STATUS
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 32, MEMORY = 32 << 10, PATIENCE = 10 };

struct status_server {
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock;
    snapshot latest;  /* under LOCK */
    snapshot reading; /* of the server's thread */
    snapshot next;    /* of the crawl's */
    bool local;       /* bound to a loopback address */
};

/* ---- the address ----------------------------------------------------------------- */

/* Splits "[HOST:]PORT" with a default of 127.0.0.1; IPv6 stands in brackets. */
static bool split_address(const char *s, char name[256], char port[8])
{
    const char *colon = strrchr(s, ':'), *p = colon ? colon + 1 : s;
    size_t n = colon ? (size_t)(colon - s) : 0;
    if (strlen(p) > 5 || !*p || p[strspn(p, "0123456789")] || atoi(p) > 65535 ||
        n > 255)
        return false;
    strcpy(port, p);
    if (n && s[0] == '[') {
        if (s[n - 1] != ']')
            return false;
        s++;
        n -= 2;
    } else if (n && memchr(s, ':', n)) {
        return false;
    }
    memcpy(name, n ? s : "127.0.0.1", n ? n : 10);
    if (n)
        name[n] = 0;
    return true;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static int listen_at(const char *text, bool *local)
{
    char name[256], port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list;
    if (!split_address(text, name, port))
        kit_die(
            "--status %s: not an address such as 8080, 127.0.0.1:8080 or [::1]:8080",
            text);
    int rc = getaddrinfo(name, port, &hints, &list), one = 1;
    if (rc)
        kit_die("--status %s: %s: %s", text, name, gai_strerror(rc));
    int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 ||
        listen(fd, CONNECTIONS) < 0)
        kit_die("--status %s: %s%s", text, strerror(errno),
                errno == EADDRINUSE ? "; give another port, or 0 for a free one" : "");
    *local = is_loopback(list->ai_addr);
    freeaddrinfo(list);
    return fd;
}

/* ---- requests -------------------------------------------------------------------- */

/* Whether the request names this machine's loopback, whatever the port. */
static bool names_loopback(struct MHD_Connection *k)
{
    const char *h = MHD_lookup_connection_value(k, MHD_HEADER_KIND, "Host");
    char name[64];
    if (!h)
        return true; /* not a browser */
    const char *end = *h == '[' ? strchr(h, ']') : strchr(h, ':');
    size_t n = end ? (size_t)(end - h) + (*h == '[') : strlen(h);
    if (n >= sizeof name)
        return false;
    memcpy(name, h, n);
    name[n] = 0;
    struct in_addr v4;
    return !strcasecmp(name, "localhost") || !strcmp(name, "[::1]") ||
           (inet_pton(AF_INET, name, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127);
}

static enum MHD_Result reply(struct MHD_Connection *k, unsigned status,
                             const char *type, buf *b)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(b->len, b->p, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(b->p);
        return MHD_NO;
    }
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(
        r, "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    enum MHD_Result done = MHD_queue_response(k, status, r);
    MHD_destroy_response(r);
    return done;
}

static enum MHD_Result refuse(struct MHD_Connection *k, unsigned status,
                              const char *why)
{
    buf b = {0};
    buf_text(&b, why);
    return reply(k, status, "text/plain; charset=utf-8", &b);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *k, const char *path,
                                  const char *method, const char *version,
                                  const char *data, size_t *size, void **state)
{
    static int begun;
    status_server *s = ctx;
    buf b = {0};
    (void)version, (void)data;
    if (!*state) { /* the head is there; answer once the body, if any, is over */
        *state = &begun;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") && strcmp(method, "HEAD"))
        return refuse(k, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    if (s->local && !names_loopback(k))
        return refuse(k, MHD_HTTP_FORBIDDEN,
                      "this is served to the machine itself only\n");
    bool front = !strcmp(path, "/");
    if (!front && strcmp(path, "/metrics"))
        return refuse(k, MHD_HTTP_NOT_FOUND, "there are / and /metrics\n");
    pthread_mutex_lock(&s->lock);
    s->reading = s->latest;
    pthread_mutex_unlock(&s->lock);
    if (front)
        status_page(&b, &s->reading);
    else
        status_metrics(&b, &s->reading);
    return reply(k, MHD_HTTP_OK,
                 front ? "text/html; charset=utf-8"
                       : "text/plain; version=0.0.4; charset=utf-8",
                 &b);
}

/* libmicrohttpd would tell standard error about every request that is not HTTP. */
static void say_nothing(void *ctx, const char *fmt, va_list ap)
{
    (void)ctx, (void)fmt, (void)ap;
}

/* ---- for the crawl --------------------------------------------------------------- */

status_server *status_server_start(const config *c)
{
    status_server *s = kit_alloc(sizeof *s);
    struct sockaddr_storage a;
    socklen_t len = sizeof a;
    char name[64], port[8];
    int fd = listen_at(c->status, &s->local);
    pthread_mutex_init(&s->lock, NULL);
    /* Signals are for the crawl's thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    s->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO | MHD_USE_ERROR_LOG, 0, NULL,
        NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!s->daemon)
        kit_die("--status %s: the server cannot be started", c->status);
    if (!getsockname(fd, (struct sockaddr *)&a, &len) &&
        !getnameinfo((struct sockaddr *)&a, len, name, sizeof name, port, sizeof port,
                     NI_NUMERICHOST | NI_NUMERICSERV))
        kit_warn(strchr(name, ':') ? "status at http://[%s]:%s/"
                                   : "status at http://%s:%s/",
                 name, port);
    return s;
}

void status_server_update(status_server *s, schedule *q, const stats *counts,
                          const tally *t)
{
    if (!s)
        return;
    snapshot_take(q, counts, t, &s->next);
    if (pthread_mutex_trylock(&s->lock))
        return;
    s->latest = s->next;
    pthread_mutex_unlock(&s->lock);
}

void status_server_stop(status_server *s)
{
    if (!s)
        return;
    MHD_stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

#else
status_server *status_server_start(const config *c)
{
    kit_die(
        "--status %s: this build has no libmicrohttpd; install libmicrohttpd-dev and "
        "build again",
        c->status);
}

void status_server_update(status_server *s, schedule *q, const stats *counts,
                          const tally *t)
{
    (void)s, (void)c;
}

void status_server_stop(status_server *s)
{
    (void)s;
}
#endif
