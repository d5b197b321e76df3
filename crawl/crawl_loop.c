/* crawl_loop.c - the loop of a crawl: hosts whose time has come are asked, answers are
 * acted on (on_answer.c), and what happened is committed. */
#include "crawler.h"
#include "page/sitemap.h"
#include "view/snapshot.h"

static bool needs_robots(const crawler *c, const host *h)
{
    return !c->conf->no_robots && !h->dead &&
           (h->robots_state == ROBOTS_UNKNOWN ||
            (h->robots_state == ROBOTS_KNOWN && h->robots_until <= c->q.now));
}

static void start_request(crawler *c, host *h, job *j)
{
    fetch *f = &j->f;
    schedule_wait(&c->q, h, h->delay);
    h->in_flight++;
    c->q.in_flight++;
    c->stats.requests++;
    j->ip = h->ip;
    if (j->ip)
        j->ip->in_flight++;
    schedule_update(&c->q, h);
    j->began = c->q.now;
    j->reserved = rate_limit_begin(&c->rate);
    f->lane = schedule_lane(&c->q, h);
    f->ctx = c;
    c->engine->start(c->engine, f);
}

void crawler_ask_robots(crawler *c, host *h, const char *text, size_t len,
                        unsigned hops)
{
    job *j = job_new(&c->q, text, len);
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
        /* Its address is busy with other hosts: the more of them, the longer the wait.
         */
        unsigned others = h->ip->put_off < 5000 ? h->ip->put_off++ : 5000;
        h->ready_at = c->q.now + 20 + others;
        schedule_update(&c->q, h);
        return;
    }
    job *j = schedule_next(&c->q, h);
    if (!j) {
        schedule_update(&c->q, h);
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
        schedule_update(&c->q, h);
        c->q.store->idle(&c->q, h);
        return;
    }
    if (verdict != OUT_OK) {
        finish_unfetched(c, j, verdict);
        schedule_update(&c->q, h);
        c->q.store->idle(&c->q, h);
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
    j->f.want_links = !job_is_deepest(&c->q, j) || c->conf->links;
    j->f.limit = j->f.all_types ? SITEMAP_LIMIT : c->conf->max_body;
    j->f.done = on_page_answer;
    start_request(c, h, j);
}

/* ---- the loop -------------------------------------------------------------------- */

static bool may_begin(const crawler *c)
{
    return !*c->stop && c->q.in_flight < c->conf->connections &&
           (!c->conf->max_pages || c->q.earlier + c->taken < c->conf->max_pages);
}

enum { COMMIT_BYTES = 256 << 10, COMMIT_MS = 20, SYNC_MS = 10000 };

void crawler_run(crawler *c)
{
    uint64_t committed = loop_now(), synced = committed, shown = committed;
    uint64_t stopped = 0;
    c->stats.started = committed;
    rate_limit_start(&c->rate, c->conf->limit_rate, committed);
    status_server_update(c->status, &c->q, &c->stats, &c->tally);
    for (;;) {
        c->q.now = loop_now();
        if (!*c->stop)
            c->q.store->refill(&c->q);
        host *h;
        while (may_begin(c) && !rate_limit_wait(&c->rate, c->q.now) &&
               (h = hosts_first(&c->q.hosts)) && h->key <= c->q.now)
            ask_host(c, h);
        bool idle = c->q.in_flight == 0;
        if (idle && !hosts_first(&c->q.hosts) && c->conf->depth >= 0 && !*c->stop &&
            schedule_next_level(&c->q))
            continue;
        size_t pending = c->q.store->pending(&c->q);
        if (pending >= COMMIT_BYTES || (pending && c->q.now - committed >= COMMIT_MS) ||
            (pending && idle)) {
            bool sync = c->q.now - synced >= SYNC_MS;
            c->q.store->commit(&c->q, sync);
            committed = c->q.now;
            if (sync) {
                synced = c->q.now;
                cookie_jar_save(c->jar);
            }
        }
        if (idle && !may_begin(c))
            break;
        if (idle && !hosts_first(&c->q.hosts) && c->q.store->finished(&c->q))
            break;
        if (*c->stop && !stopped)
            stopped = c->q.now;
        if (stopped && (c->q.now - stopped > 5000 || *c->stop > 1)) {
            c->cancelling = true;
            c->engine->cancel_all(c->engine);
            break;
        }
        if (c->q.now - shown >= 1000) {
            tally_second(&c->tally, c->stats.pages);
            status_server_update(c->status, &c->q, &c->stats, &c->tally);
            summary_progress(c, false);
            shown = c->q.now;
        }
        int most = c->q.store->pending(&c->q) || c->conf->redis ? COMMIT_MS : 200;
        h = may_begin(c) ? hosts_first(&c->q.hosts) : NULL;
        uint64_t due = c->q.now + rate_limit_wait(&c->rate, c->q.now);
        if (h && h->key > due)
            due = h->key;
        if (h && due < c->q.now + (uint64_t)most)
            most = (int)(due - c->q.now);
        int ms = c->engine->timeout(c->engine);
        loop_run(c->loop, ms >= 0 && ms < most ? ms : most);
        c->q.now = loop_now();
        c->engine->tick(c->engine);
    }
    c->q.store->commit(&c->q, true);
    summary_progress(c, true);
}
