/* store_log.c - the store of one machine: log, seen-set and queues.
 *
 * Only the log is kept; everything else is rebuilt from it when a crawl is resumed. */
#include "schedule.h"
#include "visited.h"
#include "human_numbers.h"

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
        uint64_t record_at;
        int status;
    } * before; /* with --again: what is known of each page, by id; else NULL */
    uint64_t before_count;
} log_state;

static log_state *log_of(const schedule *q)
{
    return q->store_state;
}

static job *job_from(schedule *q, const entry *e)
{
    job *j = job_new(q, e->text, e->len);
    j->id = e->id;
    j->at = e->at;
    j->parent_at = e->parent_at;
    j->depth = e->depth;
    j->hops = e->hops;
    j->kind = e->kind;
    log_state *s = log_of(q);
    if (e->id < s->before_count && s->before[e->id].status) {
        frontier_record(s->f, s->before[e->id].record_at, &j->before);
        j->before_status = s->before[e->id].status;
        j->f.etag = j->before.etag;
        j->f.modified = j->before.modified;
    }
    return j;
}

/* Targets of redirects and sitemaps go to the front of the queue: they belong to an
 * earlier level, and there are few of them. */
static void enqueue(schedule *q, const url *u, uint64_t at, int kind)
{
    log_state *s = log_of(q);
    host *h = hosts_get(&q->hosts, u);
    if ((kind & 15) == GROUP_REDIRECT || (kind & GROUP_SITEMAPS)) {
        frontier_read(s->f, at, &s->e);
        schedule_front(q, job_from(q, &s->e));
        return;
    }
    backlog_push(&h->queue, q->spill, at);
    q->queued++;
    if (!h->heap_pos)
        schedule_update(q, h);
}

typedef struct rebuild {
    schedule *q;
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
    visited_add(log_of(r->q)->v, r->keys, r->n, dup);
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
static void grow_visited(schedule *q)
{
    log_state *s = log_of(q);
    uint64_t n = visited_next(s->v);
    q->store->commit(q, false);
    visited_free(s->v);
    s->v = visited_new(q->conf, frontier_seed(s->f), n);
    rebuild *r = kit_alloc(sizeof *r);
    r->q = q;
    walker w = {NULL, entry_kept, r};
    frontier_walk(s->f, &w);
    add_waiting(r);
    free(r);
}

static void log_done(schedule *q, job *j, group *g, found_links *l)
{
    log_state *s = log_of(q);
    if (l->count > s->room) {
        s->room = l->count * 2;
        s->keys = kit_grow(s->keys, s->room, sizeof *s->keys);
        s->dup = kit_grow(s->dup, s->room, sizeof *s->dup);
        s->place = kit_grow(s->place, s->room, sizeof *s->place);
    }
    if (visited_full(s->v))
        grow_visited(q);
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
            q->found++;
            enqueue(q, &l->u[i], s->place[i], g->kind);
        }
}

static job *log_next(schedule *q, host *h)
{
    log_state *s = log_of(q);
    uint64_t at;
    if (!backlog_pop(&h->queue, q->spill, &at))
        return NULL;
    frontier_read(s->f, at, &s->e);
    return job_from(q, &s->e);
}

static uint64_t log_queued(const host *h)
{
    return h->queue.count;
}

static void log_commit(schedule *q, bool sync)
{
    uint64_t sizes[FRONTIER_OUTPUTS] = {0};
    q->hooks.flush(q->hooks.outputs, sizes, sync);
    frontier_commit(log_of(q)->f, sizes, sync);
}

static size_t log_pending(schedule *q)
{
    return frontier_pending(log_of(q)->f);
}

static void log_refill(schedule *q)
{
    (void)q;
}

static bool log_finished(schedule *q)
{
    (void)q;
    return true;
}

static void log_idle(schedule *q, host *h)
{
    (void)q, (void)h;
}

static const char *log_referrer(schedule *q, job *j)
{
    log_state *s = log_of(q);
    if (!j->parent_at)
        return "";
    if (!frontier_read(s->f, j->parent_at, &s->e))
        return "";
    memcpy(s->referrer, s->e.text, s->e.len + 1);
    return s->referrer;
}

static void log_close(schedule *q)
{
    log_state *s = log_of(q);
    frontier_close(s->f);
    visited_free(s->v);
    free(s->keys);
    free(s->dup);
    free(s->place);
    free(s->before);
    free(s);
}

static uint64_t log_seen(schedule *q)
{
    return visited_count(log_of(q)->v);
}
static uint64_t log_memory(schedule *q)
{
    return visited_bytes(log_of(q)->v);
}
static uint64_t log_disk(schedule *q)
{
    return frontier_bytes(log_of(q)->f) + spill_bytes(q->spill);
}
static double log_lost(schedule *q)
{
    return visited_lost(log_of(q)->v);
}

static const store log_store = {log_done,     log_next,   log_queued,   log_commit,
                                log_pending,  log_refill, log_finished, log_idle,
                                log_referrer, log_close,  log_seen,     log_memory,
                                log_disk,     log_lost};

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

/* A new round begins: no page is done, and the previous round is what pages are
 * compared with. */
static void begin_round(rebuild *r)
{
    log_state *s = log_of(r->q);
    memcpy(s->before, r->latest, r->count * sizeof *s->before);
    r->q->earlier = 0;
    new_bitmaps(r);
}

static void group_again(void *ctx, const group *g)
{
    rebuild *r = ctx;
    if (g->kind == GROUP_ROUND && r->latest)
        begin_round(r);
    if (g->has_done && r->latest && g->outcome == OUT_OK && g->done_id < r->count)
        r->latest[g->done_id] =
            (struct before){g->record_at, g->status == 304 ? 200 : g->status};
    if (!g->has_done || seen_bitmap_set(r->done, g->done_id) != SEEN_NEW)
        return;
    r->q->earlier++;
    if (g->record.hash)
        seen_bitmap_set(r->weighed, g->done_id);
    if (g->record.dull)
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
    /* The seeds and their redirects make the scope. */
    if ((g->kind == GROUP_SEEDS || (g->kind == GROUP_REDIRECT && g->depth == 0)) &&
        url_normalise(text, len, out, sizeof out, &u) == URL_OK)
        scope_add(r->q->scope, &u);
}

static void queue_again(void *ctx, const group *g, uint64_t id, uint64_t at,
                        const char *text, size_t len)
{
    rebuild *r = ctx;
    url u;
    char out[URL_ROOM];
    if (url_normalise(text, len, out, sizeof out, &u) != URL_OK)
        return;
    host *h = hosts_get(&r->q->hosts, &u);
    if (seen_bitmap_get(r->done, id) == 1) {
        bool dull = seen_bitmap_get(r->dull, id) == 1;
        h->pages++;
        h->dull += dull;
        h->fresh += !dull && seen_bitmap_get(r->weighed, id) == 1;
    } else
        enqueue(r->q, &u, at, g->kind);
}

/* If a round of --again begins or continues, makes room to compare pages with their
 * previous state: 32 bytes per address. */
static void compare_rounds(schedule *q, rebuild *r)
{
    log_state *s = log_of(q);
    q->again = q->conf->run == RUN_AGAIN || frontier_rounds(s->f);
    if (!q->again)
        return;
    s->before = kit_alloc((r->count + 1) * sizeof *s->before);
    s->before_count = r->count;
    r->latest = kit_alloc((r->count + 1) * sizeof *r->latest);
}

static void log_round(schedule *q, rebuild *r)
{
    log_state *s = log_of(q);
    group g = {.kind = GROUP_ROUND};
    begin_round(r);
    frontier_begin(s->f, &g);
    frontier_end(s->f);
}

void store_log_open(schedule *q, const char *dir, const uint64_t **sizes)
{
    log_state *s = kit_alloc(sizeof *s);
    q->store_state = s;
    q->store = &log_store;
    q->repaired = false;
    if (q->conf->run == RUN_NEW) {
        s->f = frontier_create(dir, q->conf->seed);
        s->v = visited_new(q->conf, q->conf->seed, q->conf->expect);
        return;
    }
    s->f = frontier_open(dir, false, q->conf->seed);
    *sizes = frontier_outputs(s->f);
    uint64_t n = frontier_count(s->f);
    q->repaired = frontier_repaired(s->f);
    if (frontier_cut(s->f))
        kit_warn("%s bytes of an unfinished write were cut off the log",
                 kit_counted(frontier_cut(s->f)));
    s->v = visited_new(q->conf, frontier_seed(s->f),
                       n > q->conf->expect ? n + n / 5 : q->conf->expect);
    rebuild r = {.q = q, .count = n};
    new_bitmaps(&r);
    compare_rounds(q, &r);
    walker first = {group_again, entry_again, &r};
    frontier_walk(s->f, &first);
    add_waiting(&r);
    if (q->conf->run == RUN_AGAIN)
        log_round(q, &r);
    walker second = {NULL, queue_again, &r};
    frontier_walk(s->f, &second);
    free(r.latest);
    seen_bitmap_free(r.done);
    seen_bitmap_free(r.weighed);
    seen_bitmap_free(r.dull);
}
