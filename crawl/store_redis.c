/* store_redis.c - the store of many crawlers: queues, leases and seen-set in Redis.
 *
 * A worker leases hosts, not addresses: it alone asks them, so politeness holds for all
 * workers together. What it has done is sent in batches: first the links it found, each
 * asked of the seen-set and queued in one step, then that the pages are done. A worker
 * that falls silent loses its leases, and its unfinished pages go to another. */
#include "crawler.h"
#include "nodes.h"
#include "scripts.h"
#include "seed.h"
#include "seen.h"

#include <stdarg.h>
#include <unistd.h>

enum {
    SHARDS = 64,
    TAKE = 16,        /* addresses of a host in one lease */
    CLAIM_MS = 25,    /* between two looks for work */
    PUSH_MOST = 300,  /* addresses in one script */
    PUSHED = 1 << 18, /* fingerprints that are remembered */
    MOST_WORDS = 4000 /* of one script */
};

/* A host that is ours for now. */
typedef struct lease {
    host *h;
    char **items;
    size_t count, next;
    unsigned open; /* taken and not yet done */
    bool lost, leaving;
    struct lease *list;
} lease;

/* Words that wait to be sent to one shard. */
typedef struct outbox {
    buf words; /* each: length as varint, bytes */
    size_t count;
} outbox;

typedef struct redis_state {
    nodes *ns;
    redis_url u;
    char sha[SCRIPTS][41];
    char prefix[SHARDS][1100];
    unsigned slot[SHARDS];
    char worker[40], mode[16], cap[32], err[32], lease_ms[32];
    uint64_t seed;
    outbox push[SHARDS], again[SHARDS], done[SHARDS], release[SHARDS];
    size_t waiting; /* words in all of them */
    lease *leases;
    uint64_t claimed_at, claim_wait, renewed_at;
    bool look[SHARDS]; /* hosts were given back here: there may be more to do */
    uint64_t *pushed;  /* fingerprints this worker has sent already, the latest ones */
    unsigned first_shard;
    uint64_t last_status[2], status[5];
    char *seeds;
    bool warned;
    uint64_t owner[SHARDS], alone_until[SHARDS], owners_at; /* for --wait */
} redis_state;

static redis_state *state(const crawler *c)
{
    return c->store_state;
}

static unsigned shard_of(const char *origin, size_t len)
{
    return (unsigned)(seen_hash_seeded(0, origin, len) % SHARDS);
}

/* ---- requests -------------------------------------------------------------------- */

static void run(redis_state *s, request *r, size_t n)
{
    if (!nodes_run(s->ns, r, n))
        kit_die("%s: %s (what was done so far is safe)", s->u.host, nodes_reason());
}

static void check(const request *r)
{
    if (r->reply && r->reply->type == REDIS_REPLY_ERROR)
        kit_die("Redis: %s", r->reply->str);
}

/* A script for one shard; ARGS words follow. */
static void start_script(redis_state *s, request *r, unsigned shard, int script,
                         size_t args)
{
    memset(r, 0, sizeof *r);
    r->slot = s->slot[shard];
    request_start(r, 4 + args);
    request_text(r, "EVALSHA");
    request_text(r, s->sha[script]);
    request_text(r, "1");
    request_text(r, s->prefix[shard]);
}

/* Runs N scripts of one kind; servers that do not know it yet (a new owner of a slot)
 * are told, and asked again. */
static void run_scripts(redis_state *s, request *r, size_t n, int script)
{
    if (!n)
        return;
    run(s, r, n);
    for (size_t i = 0; i < n; i++) {
        redisReply *reply = r[i].reply;
        if (!reply || reply->type != REDIS_REPLY_ERROR ||
            strncmp(reply->str, "NOSCRIPT", 8))
            continue;
        request load = {.slot = r[i].slot}, again = {.slot = r[i].slot};
        request_start(&load, 3);
        request_text(&load, "SCRIPT");
        request_text(&load, "LOAD");
        request_text(&load, script_text[script]);
        run(s, &load, 1);
        check(&load);
        again.bytes = r[i].bytes;
        again.len = r[i].len;
        again.room = r[i].room;
        freeReplyObject(reply);
        r[i].reply = NULL;
        run(s, &again, 1);
        r[i].reply = again.reply;
        requests_free(&load, 1);
    }
    for (size_t i = 0; i < n; i++)
        check(&r[i]);
}

static redisReply *command(redis_state *s, request *r, const char *key, size_t n, ...)
{
    va_list ap;
    memset(r, 0, sizeof *r);
    r->slot = slot_of(key, strlen(key));
    request_start(r, n);
    va_start(ap, n);
    for (size_t i = 0; i < n; i++)
        request_text(r, va_arg(ap, const char *));
    va_end(ap);
    run(s, r, 1);
    return r->reply;
}

/* ---- outboxes -------------------------------------------------------------------- */

static void box_add(redis_state *s, outbox *b, const void *p, size_t n)
{
    buf_varint(&b->words, n);
    buf_add(&b->words, p, n);
    b->count++;
    s->waiting++;
}

/* Sends all boxes through SCRIPT, a request a shard at a time; HEAD words come first,
 * and STEP words belong together. */
static void send_boxes(redis_state *s, outbox *boxes, int script,
                       const char *const *head, size_t head_count, size_t step)
{
    size_t used[SHARDS] = {0};
    for (;;) {
        request r[SHARDS];
        size_t n = 0;
        for (unsigned k = 0; k < SHARDS; k++) {
            outbox *b = &boxes[k];
            if (!b->count)
                continue;
            size_t most =
                script == SCRIPT_PUSH ? PUSH_MOST * step : MOST_WORDS / step * step;
            size_t now = b->count < most ? b->count : most;
            start_script(s, &r[n], k, script, head_count + now);
            for (size_t i = 0; i < head_count; i++)
                request_text(&r[n], head[i]);
            const uint8_t *p = (uint8_t *)b->words.p + used[k],
                          *end = (uint8_t *)b->words.p + b->words.len;
            for (size_t i = 0; i < now; i++) {
                uint64_t len = 0;
                read_varint(&p, end, &len);
                request_word(&r[n], p, len);
                p += len;
            }
            used[k] = (size_t)(p - (uint8_t *)b->words.p);
            b->count -= now;
            s->waiting -= now;
            if (!b->count)
                b->words.len = 0;
            n++;
        }
        if (!n)
            return;
        run_scripts(s, r, n, script);
        requests_free(r, n);
    }
}

/* Which shards one server owns, by the name CLUSTER SLOTS gives it: WAIT is for a
 * server, and waits one after the other add up. */
static void find_owners(redis_state *s)
{
    request r = {.slot = s->slot[0]};
    request_start(&r, 2);
    request_text(&r, "CLUSTER");
    request_text(&r, "SLOTS");
    run(s, &r, 1);
    memset(s->owner, 0, sizeof s->owner); /* no cluster: all are one server's */
    for (size_t i = 0; r.reply->type == REDIS_REPLY_ARRAY && i < r.reply->elements;
         i++) {
        const redisReply *row = r.reply->element[i];
        if (row->elements < 3 || row->element[2]->elements < 3)
            continue;
        const char *id = row->element[2]->element[2]->str;
        for (unsigned k = 0; k < SHARDS; k++)
            if (s->slot[k] >= row->element[0]->integer &&
                s->slot[k] <= row->element[1]->integer)
                s->owner[k] = seen_hash_seeded(0, id, strlen(id));
    }
    requests_free(&r, 1);
}

/* Asynchronous replication may lose what a server confirmed: --wait asks for more. A
 * server without replicas is not waited for again for a while. False if one had fewer
 * than were asked for: it may be a new one that never heard of what we sent. */
static bool wait_replicas(crawler *c, const bool touched[SHARDS])
{
    redis_state *s = state(c);
    request r[SHARDS];
    unsigned of[SHARDS];
    size_t n = 0;
    char count[16];
    bool good = true;
    if (!c->c->wait_replicas)
        return true;
    if (c->now - s->owners_at >= 5000 || !s->owners_at) {
        s->owners_at = c->now;
        find_owners(s);
    }
    snprintf(count, sizeof count, "%u", c->c->wait_replicas);
    for (unsigned k = 0; k < SHARDS; k++) {
        bool known = !touched[k] || s->alone_until[k] > c->now;
        for (size_t i = 0; i < n && !known; i++)
            known = s->owner[of[i]] == s->owner[k];
        if (known)
            continue;
        of[n] = k;
        r[n] = (request){.slot = s->slot[k]};
        request_start(&r[n], 3);
        request_text(&r[n], "WAIT");
        request_text(&r[n], count);
        request_text(&r[n++], "1000");
    }
    if (n)
        run(s, r, n);
    for (size_t i = 0; i < n; i++) {
        check(&r[i]);
        if (r[i].reply->integer >= c->c->wait_replicas)
            continue;
        good = false;
        s->owners_at = 0;
        for (unsigned k = 0; k < SHARDS; k++)
            if (s->owner[k] == s->owner[of[i]])
                s->alone_until[k] = loop_now() + 10000;
        if (!s->warned)
            kit_warn("only %lld of %s replicas have what was done", r[i].reply->integer,
                     count);
        s->warned = true;
    }
    requests_free(r, n);
    return good;
}

/* A copy of the boxes, to send them again; TO takes over what it had. */
static void copy_boxes(redis_state *s, const outbox *from, outbox *to)
{
    for (unsigned k = 0; k < SHARDS; k++) {
        to[k].words.len = 0;
        buf_add(&to[k].words, from[k].words.p, from[k].words.len);
        to[k].count = from[k].count;
        s->waiting += from[k].count;
    }
}

/* ---- the store ------------------------------------------------------------------- */

static void redis_done(crawler *c, job *j, group *g, found *l)
{
    redis_state *s = state(c);
    buf item = {0};
    for (size_t i = 0; i < l->count; i++) {
        const url *u = &l->u[i];
        uint64_t h = seen_hash_seeded(s->seed, u->text, u->len);
        uint8_t print[8];
        char head[64];
        /* Most links were sent before; all 64 bits are compared, so none is lost. */
        if (s->pushed[h % PUSHED] == h)
            continue;
        s->pushed[h % PUSHED] = h;
        for (int k = 0; k < 8; k++)
            print[k] = (uint8_t)(h >> (8 * k));
        /* What a job must know: depth, hops, kind, address, referrer. */
        item.len = 0;
        snprintf(head, sizeof head, "%u %u %d ", g->depth, g->hops, g->kind);
        buf_text(&item, head);
        buf_add(&item, u->text, u->len);
        buf_byte(&item, ' ');
        if (j)
            buf_add(&item, j->f.u.text, j->f.u.len);
        outbox *b = &s->push[shard_of(u->text, u->path)];
        box_add(s, b, u->text, u->path);
        box_add(s, b, item.p, item.len);
        box_add(s, b, print, 8);
    }
    free(item.p);
    if (j && j->h->lease) {
        lease *e = j->h->lease;
        outbox *b = &s->done[shard_of(j->h->origin, j->h->origin_len)];
        box_add(s, b, j->h->origin, j->h->origin_len);
        box_add(s, b, j->token, strlen(j->token));
        e->open--;
    }
}

static job *redis_next(crawler *c, host *h)
{
    lease *e = h->lease;
    unsigned depth, hops;
    int kind, at = 0;
    if (!e || e->lost || e->next == e->count)
        return NULL;
    char *item = e->items[e->next++];
    if (sscanf(item, "%u %u %d %n", &depth, &hops, &kind, &at) < 3 || !at)
        kit_die("Redis holds an address that is none: %s", item);
    char *text = item + at, *space = strchr(text, ' ');
    size_t len = space ? (size_t)(space - text) : strlen(text);
    job *j = job_new(c, text, len);
    j->depth = depth;
    j->hops = hops;
    j->kind = kind;
    j->referrer = strdup(space ? space + 1 : "");
    j->token = item;
    e->items[e->next - 1] = NULL;
    e->open++;
    if (j->h != h)
        kit_die("Redis holds %s for %s", j->f.u.text, h->origin);
    return j;
}

static uint64_t redis_queued(const host *h)
{
    const lease *e = h->lease;
    return e && !e->lost ? e->count - e->next : 0;
}

static void redis_idle(crawler *c, host *h)
{
    lease *e = h->lease;
    if (e && !h->in_flight && !h->front && e->next == e->count && !e->open &&
        !e->leaving) {
        e->leaving = true;
        state(c)->waiting++; /* the lease itself has to be given back */
    }
}

static void drop_lease(redis_state *s, lease *e)
{
    lease **p = &s->leases;
    while (*p != e)
        p = &(*p)->list;
    *p = e->list;
    e->h->lease = NULL;
    for (size_t i = e->next; i < e->count; i++)
        free(e->items[i]);
    free(e->items);
    free(e);
}

static void release(crawler *c, lease *e)
{
    redis_state *s = state(c);
    host *h = e->h;
    char wait[32];
    uint64_t ms = h->ready_at > c->now ? h->ready_at - c->now : 0;
    snprintf(wait, sizeof wait, "%llu", (unsigned long long)ms);
    outbox *b = &s->release[shard_of(h->origin, h->origin_len)];
    if (!e->lost) {
        box_add(s, b, h->origin, h->origin_len);
        box_add(s, b, wait, strlen(wait));
    }
    c->queued -= e->count - e->next;
    drop_lease(s, e);
}

static void redis_commit(crawler *c, bool sync)
{
    redis_state *s = state(c);
    uint64_t sizes[FRONTIER_OUTPUTS];
    bool touched[SHARDS];
    const char *push[] = {s->mode, s->cap, s->err};
    const char *mine[] = {s->worker, s->lease_ms};
    report_flush(&c->report, sizes, sync);
    for (unsigned k = 0; k < SHARDS; k++)
        touched[k] = s->push[k].count || s->done[k].count;
    /* Links first: a page is not done before what it brought is safe. */
    if (c->c->wait_replicas)
        copy_boxes(s, s->push, s->again);
    send_boxes(s, s->push, SCRIPT_PUSH, push, 3, 3);
    if (!wait_replicas(c, touched))
        send_boxes(s, s->again, SCRIPT_PUSH, push, 3, 3);
    for (unsigned k = 0; k < SHARDS; k++) {
        s->waiting -= s->again[k].count;
        s->again[k].count = 0;
    }
    send_boxes(s, s->done, SCRIPT_DONE, mine, 2, 2);
    for (lease *e = s->leases, *next; e; e = next) {
        next = e->list;
        if (e->leaving) {
            s->waiting--;
            s->look[shard_of(e->h->origin, e->h->origin_len)] = true;
            release(c, e);
        }
    }
    send_boxes(s, s->release, SCRIPT_RELEASE, mine, 1, 2);
}

static size_t redis_pending(crawler *c)
{
    /* In the unit of the log: bytes, about. */
    return state(c)->waiting * 40;
}

static void take_claim(crawler *c, const redisReply *row)
{
    redis_state *s = state(c);
    char text[URL_ROOM], out[URL_ROOM];
    url u;
    int n = snprintf(text, sizeof text, "%s/", row->element[0]->str);
    if (url_normalise(text, (size_t)n, out, sizeof out, &u) != URL_OK)
        kit_die("Redis holds a host that is none: %s", row->element[0]->str);
    host *h = hosts_get(&c->hosts, &u);
    if (h->lease)
        return; /* ours already: a claim that ran twice; it comes back in time */
    lease *e = kit_alloc(sizeof *e);
    e->h = h;
    e->count = row->elements - 1;
    e->items = kit_alloc(e->count * sizeof *e->items);
    for (size_t i = 0; i < e->count; i++)
        e->items[i] = strdup(row->element[i + 1]->str);
    e->list = s->leases;
    s->leases = e;
    h->lease = e;
    c->queued += e->count;
    /* What waits was in scope for whoever found it. */
    scope_add(c->scope, &u);
    crawler_update(c, h);
}

/* Looks for work in the shards that are marked; false if there was none. */
static bool claim(crawler *c)
{
    redis_state *s = state(c);
    request r[SHARDS];
    char hosts_most[16], take[16];
    size_t n = 0, got = 0;
    unsigned room =
        c->c->connections > c->in_flight ? c->c->connections - c->in_flight : 0;
    unsigned each = (room + SHARDS - 1) / SHARDS;
    snprintf(hosts_most, sizeof hosts_most, "%u", each ? each : 1);
    snprintf(take, sizeof take, "%u", (unsigned)TAKE * c->c->per_host);
    for (unsigned i = 0; i < SHARDS; i++) {
        unsigned k = (s->first_shard + i) % SHARDS;
        if (!s->look[k])
            continue;
        s->look[k] = false;
        start_script(s, &r[n], k, SCRIPT_CLAIM, 4);
        request_text(&r[n], s->worker);
        request_text(&r[n], s->lease_ms);
        request_text(&r[n], hosts_most);
        request_text(&r[n++], take);
    }
    run_scripts(s, r, n, SCRIPT_CLAIM);
    for (size_t i = 0; i < n; i++) {
        got += r[i].reply->elements;
        for (size_t k = 0; k < r[i].reply->elements; k++)
            take_claim(c, r[i].reply->element[k]);
    }
    requests_free(r, n);
    return got > 0;
}

/* Leases of hosts that have to wait are kept alive; those that were lost all the same
 * (this process slept) are not asked any further. */
static void renew(crawler *c)
{
    redis_state *s = state(c);
    for (lease *e = s->leases; e; e = e->list) {
        request r;
        start_script(s, &r, shard_of(e->h->origin, e->h->origin_len), SCRIPT_RENEW, 3);
        request_text(&r, s->worker);
        request_text(&r, s->lease_ms);
        request_text(&r, e->h->origin);
        run_scripts(s, &r, 1, SCRIPT_RENEW);
        if (r.reply->elements == 1 && r.reply->element[0]->integer == 0 && !e->lost) {
            e->lost = true;
            c->queued -= e->count - e->next;
            for (; e->next < e->count; e->next++)
                free(e->items[e->next]);
            redis_idle(c, e->h);
        }
        requests_free(&r, 1);
    }
}

static void redis_refill(crawler *c)
{
    redis_state *s = state(c);
    if (c->now - s->renewed_at >= (uint64_t)(c->c->lease * 1000 / 4)) {
        s->renewed_at = c->now;
        renew(c);
    }
    if (c->in_flight + c->hosts.waiting >= c->c->connections)
        return;
    /* Everywhere from time to time, less often while nothing is found; at once where
     * hosts were given back. */
    bool all = c->now - s->claimed_at >= s->claim_wait, any = all;
    for (unsigned k = 0; k < SHARDS; k++)
        any |= s->look[k] |= all;
    if (all) {
        s->claimed_at = c->now;
        s->first_shard++;
    }
    if (!any)
        return;
    if (claim(c))
        s->claim_wait = CLAIM_MS;
    else if (all && s->claim_wait < 8 * CLAIM_MS)
        s->claim_wait *= 2;
}

static void read_status(redis_state *s)
{
    request r[SHARDS];
    memset(s->status, 0, sizeof s->status);
    for (unsigned k = 0; k < SHARDS; k++)
        start_script(s, &r[k], k, SCRIPT_STATUS, 0);
    run_scripts(s, r, SHARDS, SCRIPT_STATUS);
    for (unsigned k = 0; k < SHARDS; k++)
        for (size_t i = 0; i < 5 && i < r[k].reply->elements; i++)
            s->status[i] += (uint64_t)r[k].reply->element[i]->integer;
    requests_free(r, SHARDS);
}

/* Nothing is ready and nothing is leased, in two looks between which nothing was found
 * or done: a look is not one moment, but a page that moved between shards meanwhile
 * was counted in one of them. */
static bool redis_finished(crawler *c)
{
    redis_state *s = state(c);
    if (s->waiting)
        return false;
    read_status(s);
    if (s->status[0] || s->status[1])
        return false;
    uint64_t counts[2] = {s->status[2], s->status[3]};
    read_status(s);
    return !s->status[0] && !s->status[1] && s->status[2] == counts[0] &&
           s->status[3] == counts[1];
}

static const char *redis_referrer(crawler *c, job *j)
{
    (void)c;
    return j->referrer ? j->referrer : "";
}

static void redis_close(crawler *c)
{
    redis_state *s = state(c);
    for (lease *e = s->leases; e; e = e->list)
        if (!e->leaving) {
            e->leaving = true;
            s->waiting++;
        }
    redis_commit(c, false);
    nodes_close(s->ns);
    free(s->pushed);
    for (unsigned k = 0; k < SHARDS; k++) {
        free(s->push[k].words.p);
        free(s->again[k].words.p);
        free(s->done[k].words.p);
        free(s->release[k].words.p);
    }
    free(s);
}

static uint64_t redis_seen(crawler *c)
{
    read_status(state(c));
    return state(c)->status[2];
}
static uint64_t redis_bytes(crawler *c)
{
    return state(c)->status[4];
}
static uint64_t redis_disk(crawler *c)
{
    (void)c;
    return 0;
}
static double redis_lost(crawler *c)
{
    /* At most: the error holds for a full set. */
    double n = (double)state(c)->status[2];
    return c->c->exact ? n * n / 3.7e19 : n * c->c->error;
}

static const store redis_store = {
    redis_done,   redis_next,     redis_queued, redis_commit,   redis_pending,
    redis_refill, redis_finished, redis_idle,   redis_referrer, redis_close};

/* ---- opening --------------------------------------------------------------------- */

/* The first worker decides how the crawl remembers; the others read it. */
static void agree(crawler *c, redis_state *s, const char *meta)
{
    request r;
    char seed[32];
    const char *mode = c->c->exact ? "set" : "bitmap";
    if (!c->c->exact) {
        redisReply *info = command(s, &r, meta, 3, "COMMAND", "INFO", "BF.INSERT");
        if (info && info->type == REDIS_REPLY_ARRAY && info->elements == 1 &&
            info->element[0]->type == REDIS_REPLY_ARRAY && info->element[0]->elements)
            mode = "module";
        requests_free(&r, 1);
    }
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)kit_new_seed());
    snprintf(
        s->cap, sizeof s->cap, "%llu",
        (unsigned long long)(c->c->expect / SHARDS + c->c->expect / 8 / SHARDS + 64));
    snprintf(s->err, sizeof s->err, "%.17g", c->c->error);
    /* All in one step, and only if there is nothing. */
    redisReply *reply = command(
        s, &r, meta, 8, "EVAL",
        "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], "
        "'version', 1, "
        "'mode', ARGV[1], 'cap', ARGV[2], 'err', ARGV[3], 'seed', ARGV[4]) end "
        "return redis.call('HMGET', KEYS[1], 'mode', 'cap', 'err', 'seed', 'version')",
        "1", meta, mode, s->cap, s->err, seed);
    check(&r);
    if (reply->elements != 5 || reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[4]->type != REDIS_REPLY_STRING ||
        strcmp(reply->element[4]->str, "1"))
        kit_die("%s in Redis is not a crawl of this version", meta);
    snprintf(s->mode, sizeof s->mode, "%s", reply->element[0]->str);
    snprintf(s->cap, sizeof s->cap, "%s", reply->element[1]->str);
    snprintf(s->err, sizeof s->err, "%s", reply->element[2]->str);
    s->seed = strtoull(reply->element[3]->str, NULL, 10);
    c->c->error = strtod(s->err, NULL);
    c->c->exact = !strcmp(s->mode, "set");
    requests_free(&r, 1);
}

/* Seeds stand in Redis too, so that workers without any know the scope. */
static void share_seeds(crawler *c, redis_state *s, const char *key)
{
    request r;
    for (size_t i = 0; i < c->c->seeds.n; i++) {
        command(s, &r, key, 3, "SADD", key, c->c->seeds.p[i]);
        check(&r);
        requests_free(&r, 1);
    }
    redisReply *reply = command(s, &r, key, 2, "SMEMBERS", key);
    check(&r);
    if (!reply->elements)
        kit_die("the crawl %s has not begun: give the first worker a URL", s->u.name);
    c->c->seeds.n = 0;
    c->c->seeds.p = kit_grow(c->c->seeds.p, reply->elements, sizeof *c->c->seeds.p);
    for (size_t i = 0; i < reply->elements; i++)
        c->c->seeds.p[c->c->seeds.n++] = strdup(reply->element[i]->str);
    requests_free(&r, 1);
}

void store_redis_open(crawler *c)
{
    redis_state *s = kit_alloc(sizeof *s);
    char meta[700], key[700];
    const char *bad = redis_url_parse(c->c->redis, &s->u);
    if (bad)
        kit_die("--redis %s: %s", c->c->redis, bad);
    if (!(s->ns = nodes_open(&s->u)))
        kit_die("--redis %s: %s", c->c->redis, nodes_reason());
    c->store_state = s;
    c->store = &redis_store;
    c->seen_count = redis_seen;
    c->seen_bytes = redis_bytes;
    c->disk_bytes = redis_disk;
    c->seen_lost = redis_lost;
    c->level = UINT32_MAX; /* levels cannot be walked in step with others */
    snprintf(s->worker, sizeof s->worker, "%llx.%d",
             (unsigned long long)seen_random_seed(), (int)getpid());
    snprintf(s->lease_ms, sizeof s->lease_ms, "%.0f", c->c->lease * 1000);
    s->first_shard = (unsigned)(c->random % SHARDS);
    s->claim_wait = CLAIM_MS;
    s->pushed = kit_alloc(PUSHED * sizeof *s->pushed);
    for (unsigned k = 0; k < SHARDS; k++) {
        snprintf(s->prefix[k], sizeof s->prefix[k], "seen:%s:{%s.%u}:", s->u.name,
                 s->u.name, k);
        s->slot[k] = slot_of(s->prefix[k], strlen(s->prefix[k]));
    }
    for (int i = 0; i < SCRIPTS; i++) {
        request r;
        redisReply *reply =
            command(s, &r, s->prefix[0], 3, "SCRIPT", "LOAD", script_text[i]);
        check(&r);
        snprintf(s->sha[i], sizeof s->sha[i], "%s", reply->str);
        requests_free(&r, 1);
    }
    snprintf(meta, sizeof meta, "seen:%s:crawl", s->u.name);
    agree(c, s, meta);
    snprintf(key, sizeof key, "seen:%s:seeds", s->u.name);
    share_seeds(c, s, key);
}
