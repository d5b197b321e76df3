/* resolve.c - four threads around getaddrinfo, and a table of what they found. */
#include "resolve.h"
#include "buf.h"
#include "seen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { THREADS = 4, TABLE = 4096, KEEP_MS = 300000, KEEP_FAILURE_MS = 60000 };

typedef struct waiter {
    void (*done)(void *ctx, const addresses *a); /* NULL: the caller stopped waiting */
    void *ctx;
    struct waiter *next;
} waiter;

/* A name with a port, known or being asked. */
typedef struct name {
    char host[256];
    uint16_t port;
    addresses found;
    uint64_t until; /* 0: being asked */
    waiter *waiting;
    struct name *chain, *next;
} name;

struct resolver {
    watch w;
    const config *conf;
    int loop;
    pthread_t thread[THREADS];
    int threads;
    pthread_mutex_t lock;
    pthread_cond_t more;
    name *asked, *answered; /* under the lock */
    bool stop;
    name *table[TABLE];
};

static void ask_system(name *n)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG},
                    *list;
    char port[8];
    snprintf(port, sizeof port, "%u", n->port);
    n->found.count = 0;
    if (getaddrinfo(n->host, port, &hints, &list) != 0)
        return;
    for (struct addrinfo *i = list; i && n->found.count < RESOLVE_MOST; i = i->ai_next)
        if (i->ai_addrlen <= sizeof n->found.a[0]) {
            memcpy(&n->found.a[n->found.count], i->ai_addr, i->ai_addrlen);
            n->found.len[n->found.count++] = i->ai_addrlen;
        }
    freeaddrinfo(list);
}

static void *work(void *ctx)
{
    resolver *r = ctx;
    uint64_t one = 1;
    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        name *n = r->asked;
        if (!n) {
            pthread_cond_wait(&r->more, &r->lock);
            continue;
        }
        r->asked = n->next;
        pthread_mutex_unlock(&r->lock);
        ask_system(n);
        pthread_mutex_lock(&r->lock);
        n->next = r->answered;
        r->answered = n;
        if (write(r->w.fd, &one, 8) != 8)
            break;
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void on_answers(watch *w, uint32_t events)
{
    resolver *r = (resolver *)w;
    uint64_t count;
    (void)events;
    if (read(w->fd, &count, 8) != 8)
        return;
    pthread_mutex_lock(&r->lock);
    name *n = r->answered;
    r->answered = NULL;
    pthread_mutex_unlock(&r->lock);
    for (name *next; n; n = next) {
        next = n->next;
        n->until = loop_now() + (n->found.count ? KEEP_MS : KEEP_FAILURE_MS);
        for (waiter *x = n->waiting, *after; x; x = after) {
            after = x->next;
            if (x->done)
                x->done(x->ctx, &n->found);
            free(x);
        }
        n->waiting = NULL;
    }
}

resolver *resolver_new(const config *c, int loop)
{
    resolver *r = kit_alloc(sizeof *r);
    r->conf = c;
    r->loop = loop;
    r->w = (watch){on_answers, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), 0};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->more, NULL);
    loop_set(loop, &r->w, EPOLLIN);
    return r;
}

void resolver_free(resolver *r)
{
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->more);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->threads; i++)
        pthread_join(r->thread[i], NULL);
    for (int i = 0; i < TABLE; i++)
        for (name *n = r->table[i], *next; n; n = next) {
            next = n->chain;
            for (waiter *x = n->waiting, *after; x; x = after) {
                after = x->next;
                free(x);
            }
            free(n);
        }
    close(r->w.fd);
    free(r);
}

/* Numeric addresses need no resolver. */
static bool as_number(const char *host, size_t len, uint16_t port, addresses *out)
{
    char text[64];
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (len >= 2 && host[0] == '[')
        host++, len -= 2;
    if (len >= sizeof text)
        return false;
    memcpy(text, host, len);
    text[len] = 0;
    out->count = 1;
    if (inet_pton(AF_INET, text, &in.sin_addr) == 1) {
        memcpy(&out->a[0], &in, out->len[0] = sizeof in);
        return true;
    }
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1) {
        memcpy(&out->a[0], &in6, out->len[0] = sizeof in6);
        return true;
    }
    return false;
}

/* What --resolve HOST:PORT:ADDRESS says. */
static bool as_told(const config *c, const char *host, size_t len, uint16_t port,
                    addresses *out)
{
    for (size_t i = 0; i < c->resolve.n; i++) {
        const char *s = c->resolve.p[i], *colon = strchr(s, ':');
        if (!colon || (size_t)(colon - s) != len || strncasecmp(s, host, len) ||
            strtoul(colon + 1, NULL, 10) != port || !(colon = strchr(colon + 1, ':')))
            continue;
        if (as_number(colon + 1, strlen(colon + 1), port, out))
            return true;
    }
    return false;
}

static name *find_name(const resolver *r, const char *host, size_t len, uint16_t port)
{
    name *n = r->table[seen_hash_seeded(port, host, len) % TABLE];
    while (n && (n->port != port || strncmp(n->host, host, len) || n->host[len]))
        n = n->chain;
    return n;
}

void resolver_forget(resolver *r, const char *host, size_t len, uint16_t port,
                     const void *ctx)
{
    name *n = len < sizeof n->host ? find_name(r, host, len, port) : NULL;
    for (waiter *x = n ? n->waiting : NULL; x; x = x->next)
        if (x->ctx == ctx)
            x->done = NULL; /* freed with the others: they may be called right now */
}

void resolver_ask(resolver *r, const char *host, size_t len, uint16_t port,
                  void (*done)(void *ctx, const addresses *a), void *ctx)
{
    addresses known = {0};
    if (as_number(host, len, port, &known) || as_told(r->conf, host, len, port, &known)) {
        done(ctx, &known);
        return;
    }
    if (len >= sizeof r->table[0]->host) {
        known.count = 0;
        done(ctx, &known);
        return;
    }
    name *n = find_name(r, host, len, port);
    if (n && n->until > loop_now()) {
        done(ctx, &n->found);
        return;
    }
    bool ask = !n || n->until;
    if (!n) {
        name **slot = &r->table[seen_hash_seeded(port, host, len) % TABLE];
        n = kit_alloc(sizeof *n);
        memcpy(n->host, host, len);
        n->port = port;
        n->chain = *slot;
        *slot = n;
    }
    waiter *x = kit_alloc(sizeof *x);
    *x = (waiter){done, ctx, n->waiting};
    n->waiting = x;
    if (!ask)
        return;
    n->until = 0;
    if (r->threads < THREADS &&
        pthread_create(&r->thread[r->threads], NULL, work, r) == 0)
        r->threads++;
    if (!r->threads)
        kit_die("cannot start a thread for the resolver");
    pthread_mutex_lock(&r->lock);
    name **tail = &r->asked;
    while (*tail)
        tail = &(*tail)->next;
    n->next = NULL;
    *tail = n;
    pthread_cond_signal(&r->more);
    pthread_mutex_unlock(&r->lock);
}
