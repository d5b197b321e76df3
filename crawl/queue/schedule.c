/* schedule.c - jobs, and the times at which their hosts may be asked. */
#include "schedule.h"
#include "page/page_extract.h"

/* ---- jobs ----------------------------------------------------------------------- */

job *job_new(schedule *q, const char *text, size_t len)
{
    job *j = q->spare;
    if (j) {
        q->spare = j->next;
    } else {
        j = kit_alloc(sizeof *j);
    }
    if (j->room < len + 1) {
        j->room = len + 128;
        j->text = kit_grow(j->text, j->room, 1);
    }
    fetch_clear(&j->f);
    if (url_normalise(text, len, j->text, j->room, &j->f.u) != URL_OK)
        kit_die("the queue holds something that is not a URL: %.*s", (int)len, text);
    j->h = hosts_get(&q->hosts, &j->f.u);
    j->id = j->at = j->parent_at = j->not_before = 0;
    j->depth = j->hops = j->attempts = 0;
    j->kind = GROUP_PAGE;
    j->print = (fingerprint){0, 0};
    j->dull = false;
    j->before_status = 0;
    j->change = CHANGE_NONE;
    j->f.etag = NULL;
    j->f.modified = 0;
    j->next = NULL;
    return j;
}

void job_drop(schedule *q, job *j)
{
    fetch_drop_body(&j->f);
    if (j->f.extract && j->f.extract->links.text.room > 1 << 20) {
        page_extract_free(j->f.extract); /* one page of very many links */
        j->f.extract = NULL;
    }
    free(j->referrer);
    free(j->token);
    j->referrer = j->token = NULL;
    j->next = q->spare;
    q->spare = j;
}

void schedule_front(schedule *q, job *j)
{
    job **p = &j->h->front;
    while (*p)
        p = &(*p)->next;
    j->next = NULL;
    *p = j;
    j->h->front_count++;
    q->queued++;
    schedule_update(q, j->h);
}

bool job_is_deepest(const schedule *q, const job *j)
{
    return q->conf->depth >= 0 && j->depth >= (unsigned)q->conf->depth;
}

/* ---- hosts ----------------------------------------------------------------------- */

double schedule_jitter(schedule *q)
{
    q->random ^= q->random << 13;
    q->random ^= q->random >> 7;
    q->random ^= q->random << 17;
    return 0.5 + (double)(q->random >> 11) / (double)(1ull << 53);
}

void schedule_wait(schedule *q, host *h, double seconds)
{
    uint64_t at = q->now + (uint64_t)(seconds * 1000);
    if (at > h->ready_at)
        h->ready_at = at;
}

/* When H may be asked for a page that it has; UINT64_MAX: not before its state
 * changes. */
static uint64_t next_time(schedule *q, const host *h)
{
    uint64_t first = UINT64_MAX;
    if (h->in_flight >= q->conf->per_host || h->robots_state == ROBOTS_ASKED)
        return UINT64_MAX;
    if (h->held ? h->held->depth <= q->level : q->store->queued(h) > 0)
        first = 0;
    for (const job *j = h->front; j && first; j = j->next)
        if (j->not_before < first)
            first = j->not_before;
    if (first == UINT64_MAX)
        return first;
    return first > h->ready_at ? first : h->ready_at;
}

void schedule_update(schedule *q, host *h)
{
    hosts_wait(&q->hosts, h, next_time(q, h));
}

job *schedule_next(schedule *q, host *h)
{
    for (job **p = &h->front; *p; p = &(*p)->next) {
        job *j = *p;
        if (j->not_before <= q->now) {
            *p = j->next;
            h->front_count--;
            q->queued--;
            return j;
        }
    }
    job *j = h->held;
    if (j && j->depth > q->level)
        return NULL;
    h->held = NULL;
    if (!j)
        j = q->store->next(q, h);
    if (j && q->conf->depth >= 0 && j->depth > q->level) {
        /* With --depth, levels are walked one after the other: otherwise a page
         * might be found by a longer way first, and its links be cut off. */
        h->held = j;
        return NULL;
    }
    if (j)
        q->queued--;
    return j;
}

/* Each thread has a share of a host's connections, so that together they never have
 * more than --per-host, kept ones included. The thread with the least to do for H
 * within its share is chosen. */
unsigned schedule_lane(const schedule *q, host *h)
{
    unsigned n = q->conf->threads, best = UINT32_MAX, first = (unsigned)(h->hash % n);
    if (n == 1)
        return 0;
    if (!h->lanes)
        h->lanes = kit_alloc(n * sizeof *h->lanes);
    for (unsigned i = 0; i < n; i++) {
        unsigned lane = (first + i) % n;
        unsigned share = q->conf->per_host / n + (i < q->conf->per_host % n);
        if (h->lanes[lane] < share &&
            (best == UINT32_MAX || h->lanes[lane] < h->lanes[best]))
            best = lane;
    }
    best = best == UINT32_MAX ? first : best;
    h->lanes[best]++;
    return best;
}

static void find_level(void *ctx, host *h)
{
    unsigned *level = ctx;
    if (h->held && h->held->depth < *level)
        *level = h->held->depth;
}

static void update_host(void *ctx, host *h)
{
    schedule_update(ctx, h);
}

bool schedule_next_level(schedule *q)
{
    unsigned level = UINT32_MAX;
    hosts_each(&q->hosts, find_level, &level);
    if (level == UINT32_MAX)
        return false;
    q->level = level;
    hosts_each(&q->hosts, update_host, q);
    return true;
}
