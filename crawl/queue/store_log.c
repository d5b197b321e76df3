/* store_log.c - the store of one machine: log, seen-set and queues.
 *
 * Only the log is kept; everything else is rebuilt from it when a crawl is resumed. */
#include "crawler.h"
#include "visited.h"

typedef struct log_state {
    frontier *f;
    visited *v;
    seen_key *keys;
    bool *dup;
    uint64_t *place;
    size_t room;
    char referrer[URL_ROOM];
    entry e;
    struct before {
        uint64_t facts_at;
        int status;
    } *before; /* with --again: what is known of each page, by id; else NULL */
    uint64_t before_count;
} log_state;

static log_state *log_of(const crawler *c)
{
    return c->store_state;
}

static job *job_from(crawler *c, const entry *e)
{
    job *j = job_new(c, e->text, e->len);
    j->id = e->id;
    j->at = e->at;
    j->parent_at = e->parent_at;
    j->depth = e->depth;
    j->hops = e->hops;
    j->kind = e->kind;
    log_state *s = log_of(c);
    if (e->id < s->before_count && s->before[e->id].status) {
        frontier_facts(s->f, s->before[e->id].facts_at, &j->before);
        j->before_status = s->before[e->id].status;
        j->f.etag = j->before.etag;
        j->f.modified = j->before.modified;
    }
    return j;
}

/* Targets of redirects and sitemaps go before what already waits: they belong to an
 * earlier level, and there are few of them. */
static void enqueue(crawler *c, const url *u, uint64_t at, int kind)
{
    log_state *s = log_of(c);
    host *h = hosts_get(&c->hosts, u);
    if ((kind & 15) == GROUP_REDIRECT || (kind & GROUP_SITEMAPS)) {
        frontier_read(s->f, at, &s->e);
        crawler_front(c, job_from(c, &s->e));
        return;
    }
    backlog_push(&h->queue, c->spill, at);
    c->queued++;
    if (!h->heap_pos)
        crawler_update(c, h);
}

typedef struct rebuild {
    crawler *crawler;
    seen_bitmap *done, *weighed, *dull; /* pages, by their ids */
    uint64_t count;                     /* of ids */
    struct before *latest;              /* with --again, of all rounds */
    seen_key keys[64];
    char *text[64];
    size_t n;
} rebuild;

static void add_waiting(rebuild *r)
{
    bool dup[64];
    visited_add(log_of(r->crawler)->v, r->keys, r->n, dup);
    for (size_t i = 0; i < r->n; i++)
        free(r->text[i]);
    r->n = 0;
}

static void keep_entry(rebuild *r, const char *text, size_t len)
{
    r->text[r->n] = kit_alloc(len + 1);
    memcpy(r->text[r->n], text, len);
    r->keys[r->n] = (seen_key){r->text[r->n], len};
    if (++r->n == 64)
        add_waiting(r);
}

static void entry_kept(void *ctx, const group *g, uint64_t id, uint64_t at,
                       const char *text, size_t len)
{
    (void)g, (void)id, (void)at;
    keep_entry(ctx, text, len);
}

/* More addresses came than expected: rebuilds the set from the log, a fifth larger
 * (twice as large below a million), so that it stays below 4 bytes per address. */
static void grow_visited(crawler *c)
{
    log_state *s = log_of(c);
    uint64_t n = visited_count(s->v);
    c->store->commit(c, false);
    visited_free(s->v);
    s->v = visited_new(c->conf, frontier_seed(s->f), n < 1000000 ? 2 * n : n + n / 5);
    rebuild *r = kit_alloc(sizeof *r);
    r->crawler = c;
    walker w = {NULL, entry_kept, r};
    frontier_walk(s->f, &w);
    add_waiting(r);
    free(r);
}

static void log_done(crawler *c, job *j, group *g, found *l)
{
    log_state *s = log_of(c);
    if (l->count > s->room) {
        s->room = l->count * 2;
        s->keys = kit_grow(s->keys, s->room, sizeof *s->keys);
        s->dup = kit_grow(s->dup, s->room, sizeof *s->dup);
        s->place = kit_grow(s->place, s->room, sizeof *s->place);
    }
    if (visited_full(s->v))
        grow_visited(c);
    for (size_t i = 0; i < l->count; i++)
        s->keys[i] = (seen_key){l->u[i].text, l->u[i].len};
    visited_add(s->v, s->keys, l->count, s->dup);
    if (!j) {
        bool any = false;
        for (size_t i = 0; i < l->count; i++)
            any |= !s->dup[i];
        if (!any)
            return;
    }
    frontier_begin(s->f, g);
    /* Entries can be read once their group is complete: so write all of them first,
     * then queue them. */
    for (size_t i = 0; i < l->count; i++) {
        uint64_t id;
        if (!s->dup[i])
            s->place[i] = frontier_add(s->f, l->u[i].text, l->u[i].len, &id);
    }
    frontier_end(s->f);
    for (size_t i = 0; i < l->count; i++)
        if (!s->dup[i] && s->place[i]) {
            c->stats.found++;
            enqueue(c, &l->u[i], s->place[i], g->kind);
        }
}

static job *log_next(crawler *c, host *h)
{
    log_state *s = log_of(c);
    uint64_t at;
    if (!backlog_pop(&h->queue, c->spill, &at))
        return NULL;
    frontier_read(s->f, at, &s->e);
    return job_from(c, &s->e);
}

static uint64_t log_queued(const host *h)
{
    return h->queue.count;
}

static void log_commit(crawler *c, bool sync)
{
    uint64_t sizes[FRONTIER_OUTPUTS] = {0};
    report_flush(&c->report, sizes, sync);
    frontier_commit(log_of(c)->f, sizes, sync);
}

static size_t log_pending(crawler *c)
{
    return frontier_pending(log_of(c)->f);
}

static void log_refill(crawler *c)
{
    (void)c;
}

static bool log_finished(crawler *c)
{
    (void)c;
    return true;
}

static void log_idle(crawler *c, host *h)
{
    (void)c, (void)h;
}

static const char *log_referrer(crawler *c, job *j)
{
    log_state *s = log_of(c);
    if (!j->parent_at)
        return "";
    if (!frontier_read(s->f, j->parent_at, &s->e))
        return "";
    memcpy(s->referrer, s->e.text, s->e.len + 1);
    return s->referrer;
}

static void log_close(crawler *c)
{
    log_state *s = log_of(c);
    frontier_close(s->f);
    visited_free(s->v);
    free(s->keys);
    free(s->dup);
    free(s->place);
    free(s->before);
    free(s);
}

static uint64_t log_seen(crawler *c)
{
    return visited_count(log_of(c)->v);
}
static uint64_t log_memory(crawler *c)
{
    return visited_bytes(log_of(c)->v);
}
static uint64_t log_disk(crawler *c)
{
    return frontier_bytes(log_of(c)->f) + spill_bytes(c->spill);
}
static const uint64_t *log_outputs(crawler *c)
{
    return frontier_outputs(log_of(c)->f);
}
static double log_lost(crawler *c)
{
    return visited_lost(log_of(c)->v);
}

static const store log_store = {log_done,     log_next,   log_queued,   log_commit,
                                log_pending,  log_refill, log_finished, log_idle,
                                log_referrer, log_close};

/* ---- resuming -------------------------------------------------------------------- */

static void new_bitmaps(rebuild *r)
{
    seen_bitmap **all[] = {&r->done, &r->weighed, &r->dull};
    for (int i = 0; i < 3; i++) {
        seen_bitmap_free(*all[i]);
        if (seen_bitmap_new(r->count ? r->count : 1, NULL, all[i]) < 0)
            kit_die("%s", seen_reason());
    }
}

/* From here on no page is done, and what is known is what was before. */
static void begin_round(rebuild *r)
{
    log_state *s = log_of(r->crawler);
    memcpy(s->before, r->latest, r->count * sizeof *s->before);
    r->crawler->stats.earlier = 0;
    new_bitmaps(r);
}

static void group_again(void *ctx, const group *g)
{
    rebuild *r = ctx;
    if (g->kind == GROUP_ROUND && r->latest)
        begin_round(r);
    if (g->has_done && r->latest && g->outcome == OUT_OK && g->done_id < r->count)
        r->latest[g->done_id] = (struct before){
            g->facts_at, g->status == 304 ? 200 : g->status};
    if (!g->has_done || seen_bitmap_set(r->done, g->done_id) != SEEN_NEW)
        return;
    r->crawler->stats.earlier++;
    if (g->facts.hash)
        seen_bitmap_set(r->weighed, g->done_id);
    if (g->facts.dull)
        seen_bitmap_set(r->dull, g->done_id);
}

static void entry_again(void *ctx, const group *g, uint64_t id, uint64_t at,
                        const char *text, size_t len)
{
    rebuild *r = ctx;
    url u;
    char out[URL_ROOM];
    (void)id, (void)at;
    r->text[r->n] = kit_alloc(len + 1);
    memcpy(r->text[r->n], text, len);
    r->keys[r->n] = (seen_key){r->text[r->n], len};
    if (++r->n == 64)
        add_waiting(r);
    /* The scope is what the seeds and their redirects make it. */
    if ((g->kind == GROUP_SEEDS || (g->kind == GROUP_REDIRECT && g->depth == 0)) &&
        url_normalise(text, len, out, sizeof out, &u) == URL_OK)
        scope_add(r->crawler->scope, &u);
}

static void queue_again(void *ctx, const group *g, uint64_t id, uint64_t at,
                        const char *text, size_t len)
{
    rebuild *r = ctx;
    url u;
    char out[URL_ROOM];
    if (url_normalise(text, len, out, sizeof out, &u) != URL_OK)
        return;
    host *h = hosts_get(&r->crawler->hosts, &u);
    if (seen_bitmap_get(r->done, id) == 1) {
        bool dull = seen_bitmap_get(r->dull, id) == 1;
        h->pages++;
        h->dull += dull;
        h->fresh += !dull && seen_bitmap_get(r->weighed, id) == 1;
    } else
        enqueue(r->crawler, &u, at, g->kind);
}

/* Makes room to compare pages with what they were, if a round of --again begins or goes
 * on: 32 bytes an address. */
static void compare_rounds(crawler *c, rebuild *r)
{
    log_state *s = log_of(c);
    c->again = c->conf->run == RUN_AGAIN || frontier_rounds(s->f);
    if (!c->again)
        return;
    s->before = kit_alloc((r->count + 1) * sizeof *s->before);
    s->before_count = r->count;
    r->latest = kit_alloc((r->count + 1) * sizeof *r->latest);
}

static void log_round(crawler *c, rebuild *r)
{
    log_state *s = log_of(c);
    group g = {.kind = GROUP_ROUND};
    begin_round(r);
    frontier_begin(s->f, &g);
    frontier_end(s->f);
}

void store_log_open(crawler *c, const char *dir)
{
    log_state *s = kit_alloc(sizeof *s);
    c->store_state = s;
    c->store = &log_store;
    c->seen_count = log_seen;
    c->seen_bytes = log_memory;
    c->disk_bytes = log_disk;
    c->seen_lost = log_lost;
    c->outputs = log_outputs;
    c->repaired = false;
    if (c->conf->run == RUN_NEW) {
        s->f = frontier_create(dir, c->conf->seed);
        s->v = visited_new(c->conf, c->conf->seed, c->conf->expect);
        return;
    }
    s->f = frontier_open(dir, false, c->conf->seed);
    uint64_t n = frontier_count(s->f);
    c->repaired = frontier_repaired(s->f);
    if (frontier_cut(s->f))
        kit_warn("%llu bytes of an unfinished write were cut off the log",
                 (unsigned long long)frontier_cut(s->f));
    s->v = visited_new(c->conf, frontier_seed(s->f),
                       n > c->conf->expect ? n + n / 5 : c->conf->expect);
    rebuild r = {.crawler = c, .count = n};
    new_bitmaps(&r);
    compare_rounds(c, &r);
    walker first = {group_again, entry_again, &r};
    frontier_walk(s->f, &first);
    add_waiting(&r);
    if (c->conf->run == RUN_AGAIN)
        log_round(c, &r);
    walker second = {NULL, queue_again, &r};
    frontier_walk(s->f, &second);
    free(r.latest);
    seen_bitmap_free(r.done);
    seen_bitmap_free(r.weighed);
    seen_bitmap_free(r.dull);
}
