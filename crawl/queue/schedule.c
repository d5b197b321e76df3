/* schedule.c - whose turn it is: hosts by time, jobs by order, and the loop.
 *
 * A host is asked again only when its delay has passed since its last answer, and by
 * no more connections than allowed. What one host does never holds up another. */
#include "crawler.h"
#include "page/sitemap.h"
#include "view/snapshot.h"

/* ---- jobs ----------------------------------------------------------------------- */

job *job_new(crawler *c, const char *text, size_t len)
{
    job *j = c->spare;
    if (j) {
        c->spare = j->next;
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
    j->h = hosts_get(&c->hosts, &j->f.u);
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
    j->f.ctx = c;
    return j;
}

void job_drop(crawler *c, job *j)
{
    fetch_drop_body(&j->f);
    if (j->f.digest && j->f.digest->links.text.room > 1 << 20) {
        digest_free(j->f.digest); /* one page of very many links */
        j->f.digest = NULL;
    }
    free(j->referrer);
    free(j->token);
    j->referrer = j->token = NULL;
    j->next = c->spare;
    c->spare = j;
}

void crawler_front(crawler *c, job *j)
{
    job **p = &j->h->front;
    while (*p)
        p = &(*p)->next;
    j->next = NULL;
    *p = j;
    j->h->front_count++;
    c->queued++;
    crawler_update(c, j->h);
}

bool job_is_deepest(const crawler *c, const job *j)
{
    return c->conf->depth >= 0 && j->depth >= (unsigned)c->conf->depth;
}

/* ---- hosts ----------------------------------------------------------------------- */

double crawler_jitter(crawler *c)
{
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return 0.5 + (double)(c->random >> 11) / (double)(1ull << 53);
}

void crawler_wait(crawler *c, host *h, double seconds)
{
    uint64_t at = c->now + (uint64_t)(seconds * 1000);
    if (at > h->ready_at)
        h->ready_at = at;
}

/* When H may be asked for something it has; UINT64_MAX: not before something happens
 * to it. */
static uint64_t next_time(crawler *c, const host *h)
{
    uint64_t first = UINT64_MAX;
    if (h->in_flight >= c->conf->per_host || h->robots_state == ROBOTS_ASKED)
        return UINT64_MAX;
    if (h->held ? h->held->depth <= c->level : c->store->queued(h) > 0)
        first = 0;
    for (const job *j = h->front; j && first; j = j->next)
        if (j->not_before < first)
            first = j->not_before;
    if (first == UINT64_MAX)
        return first;
    return first > h->ready_at ? first : h->ready_at;
}

void crawler_update(crawler *c, host *h)
{
    hosts_wait(&c->hosts, h, next_time(c, h));
}

static job *next_job(crawler *c, host *h)
{
    for (job **p = &h->front; *p; p = &(*p)->next) {
        job *j = *p;
        if (j->not_before <= c->now) {
            *p = j->next;
            h->front_count--;
            c->queued--;
            return j;
        }
    }
    job *j = h->held;
    if (j && j->depth > c->level)
        return NULL;
    h->held = NULL;
    if (!j)
        j = c->store->next(c, h);
    if (j && c->conf->depth >= 0 && j->depth > c->level) {
        /* With --depth, levels are walked one after the other: otherwise a page
         * might be found by a longer way first, and its links be cut off. */
        h->held = j;
        return NULL;
    }
    if (j)
        c->queued--;
    return j;
}

static bool needs_robots(const crawler *c, const host *h)
{
    return !c->conf->no_robots && !h->dead &&
           (h->robots_state == ROBOTS_UNKNOWN ||
            (h->robots_state == ROBOTS_KNOWN && h->robots_until <= c->now));
}

/* With -j a host's connections are shared out to the threads, so that together they never
 * have more of them than --per-host, kept ones included. Returns the thread that has the
 * least to do for H within its share. */
static unsigned choose_lane(const crawler *c, host *h)
{
    unsigned n = c->conf->threads, best = UINT32_MAX, first = (unsigned)(h->hash % n);
    if (n == 1)
        return 0;
    if (!h->lanes)
        h->lanes = kit_alloc(n * sizeof *h->lanes);
    for (unsigned i = 0; i < n; i++) {
        unsigned lane = (first + i) % n;
        unsigned share = c->conf->per_host / n + (i < c->conf->per_host % n);
        if (h->lanes[lane] < share && (best == UINT32_MAX || h->lanes[lane] < h->lanes[best]))
            best = lane;
    }
    best = best == UINT32_MAX ? first : best;
    h->lanes[best]++;
    return best;
}

static void start_request(crawler *c, host *h, job *j)
{
    fetch *f = &j->f;
    crawler_wait(c, h, h->delay);
    h->in_flight++;
    c->in_flight++;
    c->stats.requests++;
    j->ip = h->ip;
    if (j->ip)
        j->ip->in_flight++;
    crawler_update(c, h);
    j->began = c->now;
    j->reserved = rate_limit_begin(&c->rate);
    f->lane = choose_lane(c, h);
    c->engine->start(c->engine, f);
}

void crawler_ask_robots(crawler *c, host *h, const char *text, size_t len,
                        unsigned hops)
{
    job *j = job_new(c, text, len);
    h->robots_state = ROBOTS_ASKED;
    j->h = h; /* whose rules they are, wherever they have moved to */
    j->hops = hops;
    j->f.all_types = true;
    j->f.is_page = false;
    j->f.limit = ROBOTS_LIMIT;
    j->f.done = on_robots_answer;
    start_request(c, h, j);
}

/* Starts one request to H, if there is one to start. */
static void ask_host(crawler *c, host *h)
{
    if (needs_robots(c, h)) {
        char text[URL_ROOM];
        int n = snprintf(text, sizeof text, "%s/robots.txt", h->origin);
        crawler_ask_robots(c, h, text, (size_t)n, 0);
        return;
    }
    if (h->ip && c->conf->per_address && h->ip->in_flight >= c->conf->per_address) {
        /* Its address is busy with other hosts: the more of them, the longer the wait. */
        unsigned others = h->ip->put_off < 5000 ? h->ip->put_off++ : 5000;
        h->ready_at = c->now + 20 + others;
        crawler_update(c, h);
        return;
    }
    job *j = next_job(c, h);
    if (!j) {
        crawler_update(c, h);
        return;
    }
    const url *u = &j->f.u;
    int verdict = OUT_OK;
    if (h->dead) {
        verdict = h->dead;
        snprintf(j->f.why, sizeof j->f.why, "%s", h->dead_why ? h->dead_why : "");
    } else if (h->robots &&
             !robots_allowed(h->robots, u->text + u->path, u->len - u->path))
        verdict = OUT_ROBOTS;
    else if (c->conf->host_pages && h->pages >= c->conf->host_pages && !j->attempts)
        verdict = OUT_LIMIT;
    if (verdict == OUT_OK && h->void_names && !j->attempts &&
        (h->void_names & session_ids_in(u))) {
        finish_session(c, j);
        crawler_update(c, h);
        c->store->idle(c, h);
        return;
    }
    if (verdict != OUT_OK) {
        finish_unfetched(c, j, verdict);
        crawler_update(c, h);
        c->store->idle(c, h);
        return;
    }
    if (!j->attempts) {
        h->pages++;
        c->taken++;
    }
    j->attempts++;
    fetch_clear(&j->f);
    j->f.all_types = (j->kind & GROUP_SITEMAPS) != 0;
    j->f.is_page = !j->f.all_types;
    j->f.want_links = !job_is_deepest(c, j) || c->conf->links;
    j->f.limit = j->f.all_types ? SITEMAP_LIMIT : c->conf->max_body;
    j->f.done = on_page_answer;
    start_request(c, h, j);
}

/* ---- the loop -------------------------------------------------------------------- */

static bool may_begin(const crawler *c)
{
    return !*c->stop && c->in_flight < c->conf->connections &&
           (!c->conf->max_pages || c->stats.earlier + c->taken < c->conf->max_pages);
}

static void find_level(void *ctx, host *h)
{
    unsigned *level = ctx;
    if (h->held && h->held->depth < *level)
        *level = h->held->depth;
}

static void update_host(void *ctx, host *h)
{
    crawler_update(ctx, h);
}

/* This level is done: begin the next one. False if there is none. */
static bool next_level(crawler *c)
{
    unsigned level = UINT32_MAX;
    hosts_each(&c->hosts, find_level, &level);
    if (level == UINT32_MAX)
        return false;
    c->level = level;
    hosts_each(&c->hosts, update_host, c);
    return true;
}

enum { COMMIT_BYTES = 256 << 10, COMMIT_MS = 20, SYNC_MS = 10000 };

void crawler_run(crawler *c)
{
    uint64_t committed = loop_now(), synced = committed, shown = committed;
    uint64_t stopped = 0;
    c->stats.started = committed;
    rate_limit_start(&c->rate, c->conf->limit_rate, committed);
    status_server_update(c->status, c);
    for (;;) {
        c->now = loop_now();
        if (!*c->stop)
            c->store->refill(c);
        host *h;
        while (may_begin(c) && !rate_limit_wait(&c->rate, c->now) &&
               (h = hosts_first(&c->hosts)) && h->key <= c->now)
            ask_host(c, h);
        bool idle = c->in_flight == 0;
        if (idle && !hosts_first(&c->hosts) && c->conf->depth >= 0 && !*c->stop &&
            next_level(c))
            continue;
        size_t pending = c->store->pending(c);
        if (pending >= COMMIT_BYTES || (pending && c->now - committed >= COMMIT_MS) ||
            (pending && idle)) {
            bool sync = c->now - synced >= SYNC_MS;
            c->store->commit(c, sync);
            committed = c->now;
            if (sync) {
                synced = c->now;
                cookie_jar_save(c->jar);
            }
        }
        if (idle && !may_begin(c))
            break;
        if (idle && !hosts_first(&c->hosts) && c->store->finished(c))
            break;
        if (*c->stop && !stopped)
            stopped = c->now;
        if (stopped && (c->now - stopped > 5000 || *c->stop > 1)) {
            c->cancelling = true;
            c->engine->cancel_all(c->engine);
            break;
        }
        if (c->now - shown >= 1000) {
            tally_second(&c->tally, c->stats.pages);
            status_server_update(c->status, c);
            summary_progress(c, false);
            shown = c->now;
        }
        int most = c->store->pending(c) || c->conf->redis ? COMMIT_MS : 200;
        h = may_begin(c) ? hosts_first(&c->hosts) : NULL;
        uint64_t due = c->now + rate_limit_wait(&c->rate, c->now);
        if (h && h->key > due)
            due = h->key;
        if (h && due < c->now + (uint64_t)most)
            most = (int)(due - c->now);
        int ms = c->engine->timeout(c->engine);
        loop_run(c->loop, ms >= 0 && ms < most ? ms : most);
        c->now = loop_now();
        c->engine->tick(c->engine);
    }
    c->store->commit(c, true);
    summary_progress(c, true);
}
