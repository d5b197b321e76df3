/* store_redis.c - the store of many crawlers: queues, leases and seen-set in Redis.
 *
 * A worker leases hosts, not addresses: only it sends them requests, so politeness
 * holds for all workers together. It reports in batches: first the links it found, each
 * tested against the seen-set and queued in one step, then the pages that are done. A
 * worker that falls silent loses its leases, and its unfinished pages go to another. If
 * it was only asleep, the server refuses its pages when it reports them, and it
 * withdraws its lines: killed workers aside, each page is listed once. */
#include "store_redis.h"

#include <unistd.h>

enum { PUSHED = 1 << 18 }; /* fingerprints that are remembered */

static void redis_done(schedule *q, job *j, group *g, found_links *l)
{
    redis_state *s = state(q);
    buf item = {0};
    for (size_t i = 0; i < l->count; i++) {
        const url *u = &l->u[i];
        uint64_t h = seen_hasher_hash(&s->hasher, u->text, u->len);
        uint8_t print[8];
        char head[64];
        /* Most links were sent before. All 64 bits are compared, so none is lost. */
        if (s->pushed[h % PUSHED] == h)
            continue;
        s->pushed[h % PUSHED] = h;
        for (int k = 0; k < 8; k++)
            print[k] = (uint8_t)(h >> (8 * k));
        /* What a job needs: depth, hops, kind, address, referrer. */
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
        uint32_t number = q->hooks.number(q->hooks.outputs);
        buf_add(&b->pages, &number, sizeof number);
        e->open--;
    }
}

static void redis_commit(schedule *q, bool sync)
{
    redis_state *s = state(q);
    uint64_t sizes[FRONTIER_OUTPUTS] = {0};
    bool touched[SHARDS];
    const char *push[] = {s->mode, s->cap, s->err};
    const char *done[] = {s->worker, s->lease_ms};
    q->hooks.flush(q->hooks.outputs, sizes, sync);
    for (unsigned k = 0; k < SHARDS; k++)
        touched[k] = s->push[k].count || s->done[k].count;
    /* Links first: a page is not done before what it brought is safe. */
    if (q->conf->wait_replicas)
        boxes_copy(s, s->push, s->again);
    boxes_send(s, s->push, SCRIPT_PUSH, push, 3, 3);
    if (!replicas_wait(q, touched))
        boxes_send(s, s->again, SCRIPT_PUSH, push, 3, 3);
    for (unsigned k = 0; k < SHARDS; k++) {
        s->waiting -= s->again[k].count;
        s->again[k].count = 0;
    }
    boxes_send(s, s->done, SCRIPT_DONE, done, 2, 2);
    q->hooks.confirm(q->hooks.outputs, (uint32_t *)s->refused.p,
                     s->refused.len / sizeof(uint32_t));
    s->refused.len = 0;
    leases_give_back(q);
}

static size_t redis_pending(schedule *q)
{
    /* Roughly in bytes, the unit of the log. */
    return state(q)->waiting * 40;
}

static void read_status(redis_state *s)
{
    request r[SHARDS];
    memset(s->status, 0, sizeof s->status);
    for (unsigned k = 0; k < SHARDS; k++)
        script_start(s, &r[k], k, SCRIPT_STATUS, 0);
    scripts_run(s, r, SHARDS, SCRIPT_STATUS);
    for (unsigned k = 0; k < SHARDS; k++)
        for (size_t i = 0; i < 5; i++)
            s->status[i] += reply_number(r[k].reply, i, 5);
    requests_free(r, SHARDS);
}

/* The crawl is finished if nothing is ready or leased, twice, and nothing was found or
 * done in between. One reading of all shards is not atomic, but a page that moved
 * between shards meanwhile changes a count. */
static bool redis_finished(schedule *q)
{
    redis_state *s = state(q);
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

static const char *redis_referrer(schedule *q, job *j)
{
    (void)q;
    return j->referrer ? j->referrer : "";
}

static void redis_close(schedule *q)
{
    redis_state *s = state(q);
    leases_leave(q);
    redis_commit(q, false);
    nodes_close(s->ns);
    free(s->pushed);
    free(s->refused.p);
    for (unsigned k = 0; k < SHARDS; k++) {
        free(s->push[k].words.p);
        free(s->again[k].words.p);
        free(s->done[k].words.p);
        free(s->done[k].pages.p);
        free(s->release[k].words.p);
    }
    free(s);
}

static uint64_t redis_seen(schedule *q)
{
    read_status(state(q));
    return state(q)->status[2];
}
static uint64_t redis_bytes(schedule *q)
{
    return state(q)->status[4];
}
static uint64_t redis_disk(schedule *q)
{
    (void)q;
    return 0;
}
static double redis_lost(schedule *q)
{
    /* An upper bound: the error is that of a full set. */
    double n = (double)state(q)->status[2];
    return q->conf->exact ? n * n / 3.7e19 : n * q->conf->error;
}

static const store redis_store = {
    redis_done,    lease_next,     lease_queued, redis_commit,   redis_pending,
    leases_refill, redis_finished, lease_idle,   redis_referrer, redis_close,
    redis_seen,    redis_bytes,    redis_disk,   redis_lost};

void store_redis_open(schedule *q)
{
    redis_state *s = kit_alloc(sizeof *s);
    const char *bad = redis_url_parse(q->conf->redis, &s->u);
    if (bad)
        kit_die("--redis %s: %s", q->conf->redis, bad);
    if (!(s->ns = nodes_open(&s->u)))
        kit_die("--redis %s: %s", q->conf->redis, nodes_reason());
    q->store_state = s;
    q->store = &redis_store;
    q->level = UINT32_MAX; /* workers do not walk levels in step */
    uint64_t random;
    if (seen_random_bytes(&random, sizeof random) < 0)
        kit_die("%s", seen_reason());
    snprintf(s->worker, sizeof s->worker, "%llx.%d", (unsigned long long)random,
             (int)getpid());
    s->pushed = kit_alloc(PUSHED * sizeof *s->pushed);
    leases_open(q);
    shards_open(s);
    join_crawl(q);
}
