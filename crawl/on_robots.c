/* on_robots.c - acts on an answer for robots.txt: the rules, the delay and the
 * sitemaps of a host. Follows up to five redirects, as RFC 9309 says. */
#include "crawler.h"

static void add_sitemap(crawler *c, const url *base, const char *text, size_t len)
{
    char out[URL_ROOM];
    url u;
    if (url_resolve(base, text, len, out, sizeof out, &u) == URL_OK &&
        scope_check(c->q.scope, &u, base) == SCOPE_IN)
        found_links_add(&c->found, &u);
}

/* Queues the sitemaps of a host: those its robots.txt names, or the usual one. */
static void queue_sitemaps(crawler *c, host *h, const url *base)
{
    group g = {.kind = GROUP_SITEMAP | GROUP_SITEMAPS};
    found_links_clear(&c->found);
    const char *s;
    for (size_t i = 0; h->robots && (s = robots_sitemap(h->robots, i)); i++)
        add_sitemap(c, base, s, strlen(s));
    if (!c->found.count)
        add_sitemap(c, base, "/sitemap.xml", 12);
    found_links_ready(&c->found);
    c->q.store->done(&c->q, NULL, &g, &c->found);
}

/* Asks for robots.txt where it moved to; false if it cannot be followed. */
static bool follow_robots(crawler *c, host *h, const job *j)
{
    enum { HOPS = 5 };
    const fetch *f = &j->f;
    char out[URL_ROOM];
    url u;
    if (j->hops >= HOPS ||
        url_resolve(&f->u, f->location, strlen(f->location), out, sizeof out, &u) !=
            URL_OK ||
        u.scheme > URL_HTTPS)
        return false;
    crawler_ask_robots(c, h, u.text, u.len, j->hops + 1);
    return true;
}

/* The rules of H are known now: H may be asked for pages, or is given up. */
static void set_rules(crawler *c, host *h, const fetch *f, bool failed, bool busy)
{
    robots_free(h->robots);
    h->robots = NULL;
    h->robots_state = ROBOTS_KNOWN;
    h->robots_tries = 0;
    h->robots_until = c->q.now + 24 * 3600 * 1000ull;
    if (failed) {
        h->dead = (uint8_t)f->outcome; /* no rules, no requests */
        free(h->dead_why);
        h->dead_why = kit_copy(f->why);
    } else if (busy) {
        h->robots = robots_all(false);
    } else if (f->outcome == OUT_OK && f->status / 100 == 2) {
        h->robots = robots_parse(f->body.p, f->body.len, c->conf->product);
    }
    if (!h->robots && !failed && (busy || f->status / 100 == 2))
        kit_die("out of memory"); /* no rules would mean that all is allowed */
    /* Crawl-delay: theirs if it is longer than ours, up to a limit. */
    double theirs = h->robots ? robots_delay(h->robots) : -1;
    if (theirs > c->conf->max_delay)
        theirs = c->conf->max_delay;
    h->delay = theirs > c->conf->delay ? theirs : c->conf->delay;
    schedule_wait(&c->q, h, h->delay);
    if (c->conf->sitemaps && !failed && !busy)
        queue_sitemaps(c, h, &f->u);
}

void on_robots_answer(fetch *f)
{
    job *j = (job *)f;
    crawler *c = f->ctx;
    host *h = j->h;
    free_connection(c, j);
    h->robots_state = ROBOTS_UNKNOWN;
    bool busy = f->outcome == OUT_OK && (f->status == 429 || f->status >= 500);
    bool failed = f->outcome != OUT_OK;
    bool moved = !failed && f->status / 100 == 3 && f->location;
    if (c->cancelling || (moved && follow_robots(c, h, j))) {
        job_drop(&c->q, j);
        return;
    }
    if ((busy || (failed && f->outcome != OUT_PRIVATE && f->outcome != OUT_TLS)) &&
        h->robots_tries < c->conf->retries) {
        h->robots_tries++;
        schedule_wait(&c->q, h, fetch_wait(f, retry_wait(c, h->robots_tries)));
        c->stats.retries++;
    } else {
        set_rules(c, h, f, failed, busy);
    }
    job_drop(&c->q, j);
    schedule_update(&c->q, h);
}
