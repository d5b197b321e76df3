/* leases.c - hosts leased to this worker: claimed, renewed, given back.
 *
 * Only the worker that holds the lease of a host sends it requests, so politeness holds
 * for all workers together. */
#include "store_redis.h"

enum {
    HOST_BATCH = 16, /* addresses of a host in one lease */
    CLAIM_MS = 25    /* between two claims */
};

/* ---- addresses of a host --------------------------------------------------------- */

job *lease_next(schedule *q, host *h)
{
    lease *e = h->lease;
    unsigned depth, hops;
    int kind, at = 0;
    if (!e || e->lost || e->next == e->count)
        return NULL;
    char *item = e->items[e->next++];
    if (sscanf(item, "%u %u %d %n", &depth, &hops, &kind, &at) < 3 || !at)
        kit_die("Redis holds something that is not an address: %s", item);
    char *text = item + at, *space = strchr(text, ' ');
    size_t len = space ? (size_t)(space - text) : strlen(text);
    job *j = job_new(q, text, len);
    j->depth = depth;
    j->hops = hops;
    j->kind = kind;
    j->referrer = kit_copy(space ? space + 1 : "");
    j->token = item;
    e->items[e->next - 1] = NULL;
    e->open++;
    if (j->h != h)
        kit_die("Redis holds %s for %s", j->f.u.text, h->origin);
    return j;
}

uint64_t lease_queued(const host *h)
{
    const lease *e = h->lease;
    return e && !e->lost ? e->count - e->next : 0;
}

/* ---- giving back ----------------------------------------------------------------- */

/* Marks E to be given back with the next commit. */
static void mark_leaving(redis_state *s, lease *e)
{
    if (!e->leaving)
        s->waiting++;
    e->leaving = true;
}

void lease_idle(schedule *q, host *h)
{
    lease *e = h->lease;
    if (e && !h->in_flight && !h->front && e->next == e->count && !e->open)
        mark_leaving(state(q), e);
}

void leases_leave(schedule *q)
{
    for (lease *e = state(q)->leases; e; e = e->list)
        mark_leaving(state(q), e);
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

static void give_back(schedule *q, lease *e)
{
    redis_state *s = state(q);
    host *h = e->h;
    char wait[32];
    uint64_t ms = h->ready_at > q->now ? h->ready_at - q->now : 0;
    snprintf(wait, sizeof wait, "%llu", (unsigned long long)ms);
    outbox *b = &s->release[shard_of(h->origin, h->origin_len)];
    if (!e->lost) {
        box_add(s, b, h->origin, h->origin_len);
        box_add(s, b, wait, strlen(wait));
    }
    q->queued -= e->count - e->next;
    drop_lease(s, e);
}

void leases_give_back(schedule *q)
{
    redis_state *s = state(q);
    const char *mine[] = {s->worker};
    for (lease *e = s->leases, *next; e; e = next) {
        next = e->list;
        if (e->leaving) {
            s->waiting--;
            s->look[shard_of(e->h->origin, e->h->origin_len)] = true;
            give_back(q, e);
        }
    }
    boxes_send(s, s->release, SCRIPT_RELEASE, mine, 1, 2);
}

/* ---- claiming -------------------------------------------------------------------- */

void leases_open(schedule *q)
{
    redis_state *s = state(q);
    snprintf(s->lease_ms, sizeof s->lease_ms, "%.0f", q->conf->lease * 1000);
    s->first_shard = (unsigned)(q->random % SHARDS);
    s->claim_wait = CLAIM_MS;
}

static void accept_claim(schedule *q, const redisReply *row)
{
    redis_state *s = state(q);
    char text[URL_ROOM], out[URL_ROOM];
    url u;
    const char *origin = reply_text(row->elements > 1 ? row->element[0] : NULL);
    int n = snprintf(text, sizeof text, "%s/", origin);
    if (n >= (int)sizeof text ||
        url_normalise(text, (size_t)n, out, sizeof out, &u) != URL_OK)
        kit_die("Redis holds something that is not a host: %s", origin);
    host *h = hosts_get(&q->hosts, &u);
    if (h->lease)
        return; /* already ours: the claim ran twice; the second lease expires */
    lease *e = kit_alloc(sizeof *e);
    e->h = h;
    e->count = row->elements - 1;
    e->items = kit_alloc(e->count * sizeof *e->items);
    for (size_t i = 0; i < e->count; i++)
        e->items[i] = kit_copy(reply_text(row->element[i + 1]));
    e->list = s->leases;
    s->leases = e;
    h->lease = e;
    q->queued += e->count;
    /* Waiting addresses were in scope for the worker that found them. */
    scope_add(q->scope, &u);
    schedule_update(q, h);
}

/* Claims hosts in the marked shards; false if there were none. */
static bool claim_hosts(schedule *q)
{
    redis_state *s = state(q);
    request r[SHARDS];
    char hosts_most[16], batch[16];
    size_t n = 0, got = 0;
    unsigned room =
        q->conf->connections > q->in_flight ? q->conf->connections - q->in_flight : 0;
    unsigned each = (room + SHARDS - 1) / SHARDS;
    snprintf(hosts_most, sizeof hosts_most, "%u", each ? each : 1);
    snprintf(batch, sizeof batch, "%u", (unsigned)HOST_BATCH * q->conf->per_host);
    for (unsigned i = 0; i < SHARDS; i++) {
        unsigned k = (s->first_shard + i) % SHARDS;
        if (!s->look[k])
            continue;
        s->look[k] = false;
        script_start(s, &r[n], k, SCRIPT_CLAIM, 4);
        request_text(&r[n], s->worker);
        request_text(&r[n], s->lease_ms);
        request_text(&r[n], hosts_most);
        request_text(&r[n++], batch);
    }
    uint64_t asked = loop_now();
    scripts_run(s, r, n, SCRIPT_CLAIM);
    /* If we slept meanwhile, these leases may already have run out. */
    bool late = (double)(loop_now() - asked) >= q->conf->lease * 1000;
    for (size_t i = 0; i < n && !late; i++) {
        reply_array(r[i].reply);
        got += r[i].reply->elements;
        for (size_t k = 0; k < r[i].reply->elements; k++)
            accept_claim(q, r[i].reply->element[k]);
    }
    requests_free(r, n);
    return got > 0;
}

/* Renews the leases of hosts that have to wait. A lease may be lost because this
 * process slept: it is neither used nor renewed. If we have claimed the host again
 * since, its addresses are in Redis under our name and nobody fetches them, so they
 * must come back when that lease expires. */
static void renew_leases(schedule *q)
{
    redis_state *s = state(q);
    for (lease *e = s->leases; e; e = e->list) {
        request r;
        if (e->lost) {
            lease_idle(q, e->h);
            continue;
        }
        script_start(s, &r, shard_of(e->h->origin, e->h->origin_len), SCRIPT_RENEW, 3);
        request_text(&r, s->worker);
        request_text(&r, s->lease_ms);
        request_text(&r, e->h->origin);
        scripts_run(s, &r, 1, SCRIPT_RENEW);
        if (reply_number(r.reply, 0, 1) == 0) {
            e->lost = true;
            q->queued -= e->count - e->next;
            for (; e->next < e->count; e->next++)
                free(e->items[e->next]);
            lease_idle(q, e->h);
        }
        requests_free(&r, 1);
    }
}

void leases_refill(schedule *q)
{
    redis_state *s = state(q);
    if (q->now - s->renewed_at >= (uint64_t)(q->conf->lease * 1000 / 4)) {
        s->renewed_at = q->now;
        renew_leases(q);
    }
    if (q->in_flight + q->hosts.waiting >= q->conf->connections)
        return;
    /* Ask all shards from time to time, less often while they have nothing; at once
     * where hosts were given back. */
    bool all = q->now - s->claimed_at >= s->claim_wait, any = all;
    for (unsigned k = 0; k < SHARDS; k++)
        any |= s->look[k] |= all;
    if (all) {
        s->claimed_at = q->now;
        s->first_shard++;
    }
    if (!any)
        return;
    if (claim_hosts(q))
        s->claim_wait = CLAIM_MS;
    else if (all && s->claim_wait < 8 * CLAIM_MS)
        s->claim_wait *= 2;
}
