/* nodes.c - pipelines over one connection per node; follows slots that move and waits
 * for nodes that fail over. */
#include "nodes.h"
#include "server_tls.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum {
    MOST_NODES = 4096,       /* a cluster has a thousand at most, and they may change */
    MOST_ELEMENTS = 1 << 24, /* of one array in a reply */
    MOST_BYTES = 256 << 20   /* of one reply */
};

typedef struct node {
    char host[256];
    int port;
    sn_conn *conn;   /* NULL: not connected */
    uint64_t failed; /* the last round in which it could not be reached */
    struct node *next;
} node;

struct nodes {
    redis_url url;
    node *all; /* the first is the one of the URL */
    unsigned count;
    uint64_t round; /* from 1 on */
    bool cluster;
    node *teacher; /* the node that named the owners last */
    node *owner[CLUSTER_SLOTS];
    uint64_t retries, moved;
    void *tls; /* shared by all connections */
};

const char *nodes_reason(void)
{
    return sn_conn_reason();
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

/* ---- connections ------------------------------------------------------------- */

static void drop(node *n)
{
    sn_conn_close(n->conn);
    n->conn = NULL;
}

/* The node at HOST and PORT, created if it is new. What a server says about others is
 * checked: NULL for a host that is empty or too long, or if there are too many nodes.
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

/* One command on one connection. NULL if it was refused; if the connection broke, it is
 * closed as well. */
static redisReply *ask(node *n, int argc, const char **argv)
{
    redisReply *r = sn_conn_command(n->conn, argc, argv, NULL);
    if (!r) {
        drop(n);
    } else if (r->type == REDIS_REPLY_ERROR) {
        sn_conn_fail("%s:%d: %s: %s", n->host, n->port, argv[0], r->str);
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
        r = ask(n, *u->user ? 3 : 2, *u->user ? three : two);
        if (!r)
            return false;
        freeReplyObject(r);
    }
    if (u->db && !ns->cluster) {
        char db[16];
        snprintf(db, sizeof db, "%d", u->db);
        const char *words[] = {"SELECT", db};
        if (!(r = ask(n, 2, words)))
            return false;
        freeReplyObject(r);
    }
    return true;
}

static bool connect_to(nodes *ns, node *n)
{
    if (n->conn && !sn_conn_broken(n->conn))
        return true;
    drop(n);
    double most = ns->url.timeout;
    sn_conn_limits limits = {.connect = most < 5 ? most : 5,
                             .silence = most < 20 ? most : 20,
                             .reply = most,
                             .most_elements = MOST_ELEMENTS,
                             .most_bytes = MOST_BYTES};
    n->conn = sn_conn_open(n->host, n->port, &limits);
    if (!n->conn)
        return false;
    if ((!ns->url.tls || sn_tls_start(n->conn, n->host, &ns->tls)) && greet(ns, n))
        return true;
    drop(n);
    return false;
}

/* One row of CLUSTER SLOTS: first slot, last slot, {host, port, ...} of the
 * owner. A node that does not know its own address leaves it empty. */
static bool take_row(nodes *ns, const node *said, const redisReply *row)
{
    if (row->elements < 3 || row->element[0]->type != REDIS_REPLY_INTEGER ||
        row->element[1]->type != REDIS_REPLY_INTEGER || row->element[2]->elements < 2)
        return false;
    long long a = row->element[0]->integer, b = row->element[1]->integer;
    const redisReply *host = row->element[2]->element[0];
    const redisReply *port = row->element[2]->element[1];
    if (a < 0 || b < a || b >= CLUSTER_SLOTS || port->type != REDIS_REPLY_INTEGER ||
        port->integer < 1 || port->integer > 65535)
        return false;
    bool named = host->type == REDIS_REPLY_STRING && host->len > 0;
    node *o = node_at(ns, named ? host->str : said->host, (int)port->integer);
    for (long long s = a; o && s <= b; s++)
        ns->owner[s] = o;
    return o;
}

/* Asks node N who owns which slot; false if it does not know. */
static bool learn_from(nodes *ns, node *n)
{
    const char *words[] = {"CLUSTER", "SLOTS"};
    redisReply *r = ask(n, 2, words);
    bool any = false;
    if (!r)
        return false;
    for (size_t i = 0; i < r->elements; i++)
        any |= take_row(ns, n, r->element[i]);
    freeReplyObject(r);
    return any || sn_conn_fail("%s:%d: CLUSTER SLOTS names no owner", n->host,
                               n->port);
}

/* Asks one node after another until END, each time starting after the one that answered
 * last: a node that is cut off from the others keeps naming the owners it knew. */
static bool learn(nodes *ns, double end)
{
    node *n = ns->teacher;
    for (unsigned i = ns->count; i; i--) {
        n = n && n->next ? n->next : ns->all;
        if (n->failed == ns->round)
            continue; /* it could not be reached a moment ago */
        if (connect_to(ns, n) && learn_from(ns, n)) {
            ns->teacher = n;
            return true;
        }
        if (sn_conn_now() > end)
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
    ns->round = 1;
    node *first = node_at(ns, u->host, u->port);
    if (!first) {
        free(ns);
        sn_conn_fail("the host is too long");
        return NULL;
    }
    double end = sn_conn_now() + u->timeout;
    for (long wait = 50;; wait = wait < 1000 ? wait * 2 : wait) {
        if (connect_to(ns, first)) {
            const char *words[] = {"INFO", "cluster"};
            redisReply *r = ask(first, 2, words);
            bool known = r && r->type == REDIS_REPLY_STRING;
            ns->cluster = known && strstr(r->str, "cluster_enabled:1");
            if (r && !known)
                sn_conn_fail("%s:%d: INFO: a reply of the wrong type", first->host,
                             first->port);
            if (r)
                freeReplyObject(r);
            if (known && (!ns->cluster || learn(ns, end)))
                return ns;
        }
        /* Waiting longer does not fix a missing server or a wrong password. */
        if (sn_conn_now() > end || sn_conn_now() > end - u->timeout + 3 ||
            strstr(nodes_reason(), "AUTH") || strstr(nodes_reason(), "NOAUTH") ||
            strstr(nodes_reason(), "NOPERM") || strstr(nodes_reason(), "rediss://")) {
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
    sn_tls_free(ns->tls);
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

/* What a reply means for its request: done, send again now, or after a pause. */
enum { DONE, AGAIN, LATER };

static int verdict_on(nodes *ns, node *n, request *r)
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
    sn_conn_fail("%s:%d: %s", n->host, n->port, reply->str);
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

/* Sends the open requests of node N in order; false if the connection broke. */
static bool send_to(node *n, request *r, size_t count, node **to)
{
    for (size_t i = 0; i < count; i++) {
        if (to[i] != n)
            continue;
        if (r[i].ask)
            sn_conn_queue(n->conn, "*1\r\n$6\r\nASKING\r\n", 16);
        sn_conn_queue(n->conn, r[i].bytes, r[i].len);
    }
    return sn_conn_send(n->conn);
}

/* Reads the replies of node N. A request without a reply when the connection breaks may
 * have been executed. */
static bool read_from(nodes *ns, node *n, request *r, size_t count, node **to,
                      bool *later)
{
    for (size_t i = 0; i < count; i++) {
        if (to[i] != n)
            continue;
        redisReply *reply = NULL, *asking = r[i].ask ? sn_conn_reply(n->conn) : NULL;
        if (asking || !r[i].ask)
            reply = sn_conn_reply(n->conn);
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
        if (verdict_on(ns, n, &r[i]) == LATER)
            *later = true;
    }
    return true;
}

static bool run(nodes *ns, request *r, size_t n)
{
    double end = sn_conn_now() + ns->url.timeout;
    long wait = 20;
    unsigned rounds = 0;
    node **to = calloc(n, sizeof *to);
    if (!to)
        return sn_conn_fail("out of memory");
    for (;;) {
        size_t left = 0;
        /* Two nodes that redirect to each other get time to agree. */
        bool later = ++rounds > 8;
        ns->round++;
        for (size_t i = 0; i < n; i++) {
            to[i] = NULL;
            if (r[i].reply)
                continue;
            left++;
            to[i] = node_for(ns, &r[i]);
            /* A node that does not answer is not tried again for each request. */
            if (!to[i] || to[i]->failed == ns->round || !connect_to(ns, to[i])) {
                if (!to[i])
                    sn_conn_fail("slot %u has no owner", r[i].slot);
                else
                    to[i]->failed = ns->round;
                r[i].ask = NULL;
                to[i] = NULL;
                later = true;
            }
        }
        if (!left)
            break;
        /* Everything is sent before the first reply is read, so nodes work in parallel.
         */
        for (node *o = ns->all; o; o = o->next)
            if (o->conn && !send_to(o, r, n, to))
                later = true; /* read_from() notices */
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
            if (sn_conn_now() > end) {
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
    sn_sigpipe s = sn_sigpipe_hold();
    bool good = run(ns, r, n);
    sn_sigpipe_release(&s);
    return good;
}
