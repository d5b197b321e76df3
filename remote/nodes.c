/* nodes.c - pipelines over one connection a node, with the patience a cluster needs. */
#include "nodes.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef SEEN_REDIS_TLS
#include <hiredis/hiredis_ssl.h>
#endif

enum {
    SLOTS = 16384,
    MOST_NODES = 4096,       /* a cluster has a thousand at most, and they may move */
    MOST_ELEMENTS = 1 << 24, /* of one array in a reply */
    MOST_BYTES = 256 << 20   /* of one reply */
};

typedef struct node {
    char host[256];
    int port;
    redisContext *c;
    uint64_t failed; /* the round in which it could not be reached */
    struct node *next;
} node;

struct nodes {
    redis_url url;
    node *all; /* the first is the one of the URL */
    unsigned count;
    uint64_t round;
    bool cluster;
    node *owner[SLOTS];
    uint64_t retries, moved;
#ifdef SEEN_REDIS_TLS
    redisSSLContext *tls;
#endif
};

static _Thread_local char reason[600];

const char *nodes_reason(void)
{
    return reason;
}

__attribute__((format(printf, 1, 2))) static bool fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    return false;
}

bool nodes_is_cluster(const nodes *ns)
{
    return ns->cluster;
}

void nodes_counts(const nodes *ns, uint64_t *retries, uint64_t *moved)
{
    *retries = ns->retries;
    *moved = ns->moved;
}

/* ---- slots ------------------------------------------------------------------- */

static unsigned crc16(const char *p, size_t len)
{
    unsigned x = 0;
    for (size_t i = 0; i < len; i++) {
        x ^= (unsigned)(unsigned char)p[i] << 8;
        for (int b = 0; b < 8; b++)
            x = (x & 0x8000 ? x << 1 ^ 0x1021 : x << 1) & 0xffff;
    }
    return x;
}

unsigned slot_of(const char *key, size_t len)
{
    /* What is between the first { and the next } is the tag, if it is not empty. */
    const char *open = memchr(key, '{', len);
    if (open) {
        const char *close = memchr(open + 1, '}', len - (size_t)(open + 1 - key));
        if (close && close > open + 1)
            return crc16(open + 1, (size_t)(close - open - 1)) % SLOTS;
    }
    return crc16(key, len) % SLOTS;
}

/* ---- commands ---------------------------------------------------------------- */

static void append(request *r, const void *p, size_t len)
{
    if (r->len + len > r->room) {
        r->room = (r->len + len) * 2;
        r->bytes = realloc(r->bytes, r->room);
        if (!r->bytes)
            abort(); /* a program out of memory for a command cannot go on */
    }
    memcpy(r->bytes + r->len, p, len);
    r->len += len;
}

/* PREFIX, N in decimal, end of line. printf is too slow for a thousand words. */
static void append_count(request *r, char prefix, uint64_t n)
{
    char buf[32], *p = buf + sizeof buf;
    *--p = '\n';
    *--p = '\r';
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    *--p = prefix;
    append(r, p, (size_t)(buf + sizeof buf - p));
}

void request_start(request *r, size_t words)
{
    r->len = 0;
    append_count(r, '*', words);
}

void request_word(request *r, const void *p, size_t len)
{
    append_count(r, '$', len);
    append(r, p, len);
    append(r, "\r\n", 2);
}

void request_text(request *r, const char *s)
{
    request_word(r, s, strlen(s));
}

void request_words(request *r, size_t n, const char *const *words)
{
    request_start(r, n);
    for (size_t i = 0; i < n; i++)
        request_text(r, words[i]);
}

void request_number(request *r, uint64_t n)
{
    char buf[24], *p = buf + sizeof buf;
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    request_word(r, p, (size_t)(buf + sizeof buf - p));
}

void requests_free(request *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i].reply)
            freeReplyObject(r[i].reply);
        free(r[i].bytes);
        r[i] = (request){0};
    }
}

/* ---- connections ------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void drop(node *n)
{
    if (n->c)
        redisFree(n->c);
    n->c = NULL;
}

/* The node at HOST and PORT, a new one if need be. What a server says of others is not
 * believed blindly: NULL for a host that is none or too long, or if there are too many.
 */
static node *node_at(nodes *ns, const char *host, int port)
{
    node **p = &ns->all;
    if (!*host || strlen(host) >= sizeof(*p)->host)
        return NULL;
    for (; *p; p = &(*p)->next)
        if ((*p)->port == port && !strcmp((*p)->host, host))
            return *p;
    if (ns->count == MOST_NODES)
        return NULL;
    node *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    ns->count++;
    snprintf(n->host, sizeof n->host, "%s", host);
    n->port = port;
    *p = n;
    return n;
}

/* What broke the connection. A read that waited too long is told as a busy resource. */
static const char *trouble(const node *n)
{
    return strcmp(n->c->errstr, strerror(EAGAIN)) ? n->c->errstr : "no answer in time";
}

/* An array's count is only a promise of the server: the memory is asked for before the
 * first element came. */
#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif
static redisReplyObjectFunctions bounded;
static void *(*create_array)(const redisReadTask *, element_count);

static void *create_bounded(const redisReadTask *task, element_count n)
{
    return n > MOST_ELEMENTS ? NULL : create_array(task, n);
}

static pthread_once_t bound_once = PTHREAD_ONCE_INIT;

static void make_bounded(void)
{
    redisReader *r = redisReaderCreate();
    if (!r)
        abort();
    bounded = *r->fn;
    create_array = bounded.createArray;
    bounded.createArray = create_bounded;
    redisReaderFree(r);
}

/* One reply, which has the URL's timeout to come, however slowly it drips. NULL and the
 * reason: the connection is of no more use. */
static redisReply *take_reply(const nodes *ns, const node *n)
{
    void *reply = NULL;
    size_t bytes = 0;
    double end = 0;
    while (redisGetReplyFromReader(n->c, &reply) == REDIS_OK) {
        if (reply)
            return reply;
        if (end == 0)
            end = now() + ns->url.timeout;
        if (now() > end || bytes > MOST_BYTES) {
            fail("%s:%d: %s", n->host, n->port,
                 bytes > MOST_BYTES ? "an answer without end" : "no answer in time");
            return NULL;
        }
        size_t before = n->c->reader->len;
        if (redisBufferRead(n->c) != REDIS_OK)
            break;
        bytes += n->c->reader->len - before;
    }
    fail("%s:%d: %s", n->host, n->port, trouble(n));
    return NULL;
}

/* One command on one connection; NULL if it was refused, or broke: then the connection
 * is closed. */
static redisReply *ask(const nodes *ns, node *n, int argc, const char **argv)
{
    redisReply *r = NULL;
    int sent = 0;
    redisAppendCommandArgv(n->c, argc, argv, NULL);
    while (!sent && redisBufferWrite(n->c, &sent) == REDIS_OK)
        ;
    if (sent)
        r = take_reply(ns, n);
    else
        fail("%s:%d: %s", n->host, n->port, trouble(n));
    if (!r) {
        drop(n);
    } else if (r->type == REDIS_REPLY_ERROR) {
        fail("%s:%d: %s: %s", n->host, n->port, argv[0], r->str);
        freeReplyObject(r);
        r = NULL;
    }
    return r;
}

static bool greet(nodes *ns, node *n)
{
    const redis_url *u = &ns->url;
    redisReply *r;
    if (*u->password) {
        const char *three[] = {"AUTH", u->user, u->password};
        const char *two[] = {"AUTH", u->password};
        r = ask(ns, n, *u->user ? 3 : 2, *u->user ? three : two);
        if (!r)
            return false;
        freeReplyObject(r);
    }
    if (u->db && !ns->cluster) {
        char db[16];
        snprintf(db, sizeof db, "%d", u->db);
        const char *words[] = {"SELECT", db};
        if (!(r = ask(ns, n, 2, words)))
            return false;
        freeReplyObject(r);
    }
    return true;
}

static bool start_tls(nodes *ns, node *n)
{
    if (!ns->url.tls)
        return true;
#ifdef SEEN_REDIS_TLS
    redisSSLContextError bad;
    if (!ns->tls) {
        redisInitOpenSSL();
        ns->tls =
            redisCreateSSLContext(NULL, "/etc/ssl/certs", NULL, NULL, n->host, &bad);
    }
    if (!ns->tls || redisInitiateSSLWithContext(n->c, ns->tls) != REDIS_OK)
        return fail("%s:%d: TLS: %s", n->host, n->port,
                    ns->tls ? n->c->errstr : "cannot be set up");
    return true;
#else
    return fail("rediss:// needs a build with hiredis 1.0 or newer, which has TLS");
#endif
}

/* Zero would mean for ever. */
static struct timeval patience(double s)
{
    s = s < 0.001 ? 0.001 : s;
    return (struct timeval){(time_t)s, (suseconds_t)((s - (double)(time_t)s) * 1e6)};
}

static bool connect_to(nodes *ns, node *n)
{
    if (n->c && !n->c->err)
        return true;
    drop(n);
    double most = ns->url.timeout;
    struct timeval tv = patience(most < 5 ? most : 5);
    n->c = n->port ? redisConnectWithTimeout(n->host, n->port, tv)
                   : redisConnectUnixWithTimeout(n->host, tv);
    if (!n->c || n->c->err) {
        fail("%s:%d: %s", n->host, n->port, n->c ? n->c->errstr : "out of memory");
        drop(n);
        return false;
    }
    pthread_once(&bound_once, make_bounded);
    n->c->reader->fn = &bounded;
    redisSetTimeout(n->c, patience(most < 20 ? most : 20));
    if (start_tls(ns, n) && greet(ns, n))
        return true;
    drop(n);
    return false;
}

/* One row of CLUSTER SLOTS: first slot, last slot, {host, port, ...} of the owner. A
 * node that does not know its own address leaves it empty. */
static bool take_row(nodes *ns, const node *said, const redisReply *row)
{
    if (row->elements < 3 || row->element[0]->type != REDIS_REPLY_INTEGER ||
        row->element[1]->type != REDIS_REPLY_INTEGER || row->element[2]->elements < 2)
        return false;
    long long a = row->element[0]->integer, b = row->element[1]->integer;
    const redisReply *host = row->element[2]->element[0];
    const redisReply *port = row->element[2]->element[1];
    if (a < 0 || b < a || b >= SLOTS || port->type != REDIS_REPLY_INTEGER ||
        port->integer < 1 || port->integer > 65535)
        return false;
    bool named = host->type == REDIS_REPLY_STRING && host->len > 0;
    node *o = node_at(ns, named ? host->str : said->host, (int)port->integer);
    for (long long s = a; o && s <= b; s++)
        ns->owner[s] = o;
    return o;
}

/* Reads who owns which slot from node N; false if it cannot tell. */
static bool learn_from(nodes *ns, node *n)
{
    const char *words[] = {"CLUSTER", "SLOTS"};
    redisReply *r = ask(ns, n, 2, words);
    bool any = false;
    if (!r)
        return false;
    for (size_t i = 0; i < r->elements; i++)
        any |= take_row(ns, n, r->element[i]);
    freeReplyObject(r);
    return any || fail("%s:%d: CLUSTER SLOTS names no owner", n->host, n->port);
}

/* Asks one node after the other until END. */
static bool learn(nodes *ns, double end)
{
    for (node *n = ns->all; n; n = n->next) {
        if (connect_to(ns, n) && learn_from(ns, n))
            return true;
        if (now() > end)
            break;
    }
    return false;
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

nodes *nodes_open(const redis_url *u)
{
    nodes *ns = calloc(1, sizeof *ns);
    if (!ns)
        abort();
    ns->url = *u;
    node *first = node_at(ns, u->host, u->port);
    if (!first) {
        free(ns);
        fail("the host is too long");
        return NULL;
    }
    double end = now() + u->timeout;
    for (long wait = 50;; wait = wait < 1000 ? wait * 2 : wait) {
        if (connect_to(ns, first)) {
            const char *words[] = {"INFO", "cluster"};
            redisReply *r = ask(ns, first, 2, words);
            bool known = r && r->type == REDIS_REPLY_STRING;
            ns->cluster = known && strstr(r->str, "cluster_enabled:1");
            if (r && !known)
                fail("%s:%d: INFO: a strange answer", first->host, first->port);
            if (r)
                freeReplyObject(r);
            if (known && (!ns->cluster || learn(ns, end)))
                return ns;
        }
        /* Nobody there, or a password that is wrong, will not change by waiting long.
         */
        if (now() > end || now() > end - u->timeout + 3 || strstr(reason, "AUTH") ||
            strstr(reason, "NOAUTH") || strstr(reason, "NOPERM") ||
            strstr(reason, "rediss://")) {
            nodes_close(ns);
            return NULL;
        }
        sleep_ms(wait);
    }
}

void nodes_close(nodes *ns)
{
    if (!ns)
        return;
    for (node *n = ns->all, *next; n; n = next) {
        next = n->next;
        drop(n);
        free(n);
    }
#ifdef SEEN_REDIS_TLS
    if (ns->tls)
        redisFreeSSLContext(ns->tls);
#endif
    free(ns);
}

/* ---- running ----------------------------------------------------------------- */

static bool begins(const redisReply *r, const char *word)
{
    return r->type == REDIS_REPLY_ERROR && !strncmp(r->str, word, strlen(word));
}

/* "MOVED 3999 127.0.0.1:6381"; NULL if it names no node. */
static node *target_of(nodes *ns, const redisReply *r, const node *said)
{
    char host[256], *end;
    const char *space = strrchr(r->str, ' '), *colon = strrchr(r->str, ':');
    if (!space || !colon || colon < space || (size_t)(colon - space) > sizeof host ||
        colon[1] < '0' || colon[1] > '9')
        return NULL;
    unsigned long port = strtoul(colon + 1, &end, 10);
    if (*end || port < 1 || port > 65535)
        return NULL;
    snprintf(host, sizeof host, "%.*s", (int)(colon - space - 1), space + 1);
    return node_at(ns, *host ? host : said->host, (int)port);
}

/* What a reply means for its request. */
enum { DONE, AGAIN, LATER };

static int judge(nodes *ns, node *n, request *r)
{
    redisReply *reply = r->reply;
    int verdict = LATER;
    if (begins(reply, "MOVED ") || begins(reply, "ASK ")) {
        node *to = target_of(ns, reply, n);
        if (to) {
            ns->moved++;
            if (begins(reply, "ASK "))
                r->ask = to;
            else
                ns->owner[r->slot] = to;
            verdict = AGAIN;
        }
    } else if (!begins(reply, "TRYAGAIN") && !begins(reply, "CLUSTERDOWN") &&
               !begins(reply, "LOADING") && !begins(reply, "MASTERDOWN") &&
               !begins(reply, "READONLY")) {
        return DONE;
    }
    fail("%s:%d: %s", n->host, n->port, reply->str);
    freeReplyObject(reply);
    r->reply = NULL;
    return verdict;
}

static node *node_for(nodes *ns, const request *r)
{
    if (r->ask)
        return r->ask;
    return ns->cluster ? ns->owner[r->slot] : ns->all;
}

/* Sends what is not done to node N, in order; false if the connection broke. */
static bool send_to(nodes *ns, node *n, request *r, size_t count, node **to)
{
    int sent = 0;
    for (size_t i = 0; i < count; i++) {
        if (to[i] != n)
            continue;
        if (r[i].ask)
            redisAppendFormattedCommand(n->c, "*1\r\n$6\r\nASKING\r\n", 16);
        redisAppendFormattedCommand(n->c, r[i].bytes, r[i].len);
    }
    while (!sent)
        if (redisBufferWrite(n->c, &sent) != REDIS_OK)
            return false;
    return true;
}

/* Takes the replies of node N. Whatever has none when the connection breaks may have
 * been done all the same. */
static bool read_from(nodes *ns, node *n, request *r, size_t count, node **to,
                      bool *later)
{
    for (size_t i = 0; i < count; i++) {
        if (to[i] != n)
            continue;
        redisReply *reply = NULL, *asking = r[i].ask ? take_reply(ns, n) : NULL;
        if (asking || !r[i].ask)
            reply = take_reply(ns, n);
        if (asking)
            freeReplyObject(asking);
        if (!reply) {
            for (; i < count; i++)
                if (to[i] == n) {
                    r[i].unsure = true;
                    r[i].ask = NULL;
                    ns->retries++;
                }
            return false;
        }
        r[i].ask = NULL;
        r[i].reply = reply;
        to[i] = NULL;
        if (judge(ns, n, &r[i]) == LATER)
            *later = true;
    }
    return true;
}

/* Writing to a connection that broke must not end the program: hiredis writes without
 * care for SIGPIPE, so the signal is held back and, if it came, thrown away. */
typedef struct pipe_guard {
    sigset_t before;
    bool pending;
} pipe_guard;

static pipe_guard hold_sigpipe(void)
{
    pipe_guard g;
    sigset_t pipe, waiting;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&waiting);
    g.pending = sigismember(&waiting, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &g.before);
    return g;
}

static void release_sigpipe(const pipe_guard *g)
{
    sigset_t pipe;
    struct timespec none = {0, 0};
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!g->pending)
        while (sigtimedwait(&pipe, NULL, &none) > 0)
            ;
    pthread_sigmask(SIG_SETMASK, &g->before, NULL);
}

static bool run(nodes *ns, request *r, size_t n)
{
    double end = now() + ns->url.timeout;
    long wait = 20;
    unsigned rounds = 0;
    node **to = calloc(n, sizeof *to);
    if (!to)
        return fail("out of memory");
    for (;;) {
        size_t left = 0;
        /* Two nodes that send us to each other get time to agree. */
        bool later = ++rounds > 8;
        ns->round++;
        for (size_t i = 0; i < n; i++) {
            to[i] = NULL;
            if (r[i].reply)
                continue;
            left++;
            to[i] = node_for(ns, &r[i]);
            /* Who does not answer is not tried again for each of its requests. */
            if (!to[i] || to[i]->failed == ns->round || !connect_to(ns, to[i])) {
                if (!to[i])
                    fail("slot %u has no owner", r[i].slot);
                else
                    to[i]->failed = ns->round;
                r[i].ask = NULL;
                to[i] = NULL;
                later = true;
            }
        }
        if (!left)
            break;
        /* All are written before the first is read: the nodes work side by side. */
        for (node *o = ns->all; o; o = o->next)
            if (o->c && !send_to(ns, o, r, n, to))
                later = true; /* reading says the rest */
        for (node *o = ns->all; o; o = o->next) {
            bool asked = false;
            for (size_t i = 0; i < n && !asked; i++)
                asked = to[i] == o;
            if (asked && !read_from(ns, o, r, n, to, &later)) {
                drop(o);
                later = true;
            }
        }
        if (later) {
            if (now() > end) {
                free(to);
                return false;
            }
            sleep_ms(wait);
            wait = wait < 500 ? wait * 2 : wait;
            if (ns->cluster)
                learn(ns, end);
        }
    }
    free(to);
    return true;
}

bool nodes_run(nodes *ns, request *r, size_t n)
{
    pipe_guard g = hold_sigpipe();
    bool good = run(ns, r, n);
    release_sigpipe(&g);
    return good;
}
