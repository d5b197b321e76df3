/* answer.c - what an answer means: links, a redirect, rules, or a reason to wait. */
#include "page/charset.h"
#include "crawler.h"
#include "page/sitemap.h"

/* ---- addresses found together ---------------------------------------------------- */

void found_add(found *l, const url *u)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->u = kit_grow(l->u, l->room, sizeof *l->u);
    }
    l->u[l->count] = *u;
    l->u[l->count++].text = (const char *)(uintptr_t)l->text.len;
    buf_add(&l->text, u->text, u->len + 1);
}

void found_ready(found *l)
{
    for (size_t i = 0; i < l->count; i++)
        l->u[i].text = l->text.p + (uintptr_t)l->u[i].text;
}

static void found_clear(found *l)
{
    l->count = l->text.len = 0;
}

enum { FOUND_MOST = 64 << 20 }; /* bytes of one page's links: a batch must stay small */

/* Resolves one link of a page and keeps it if it belongs to the crawl. */
static void consider(crawler *c, const url *base, const url *from, const char *text,
                     size_t len, unsigned kind)
{
    char out[URL_ROOM];
    url u;
    c->s.links++;
    if (c->found.text.len > FOUND_MOST ||
        url_resolve(base, text, len, out, sizeof out, &u) != URL_OK) {
        c->s.unreadable++;
        return;
    }
    report_link(&c->report, from, &u, kind);
    int verdict = scope_check(c->scope, &u, from);
    c->s.skipped[verdict]++;
    if (verdict == SCOPE_IN)
        found_add(&c->found, &u);
}

/* ---- ends of jobs ---------------------------------------------------------------- */

static void count_page(crawler *c, const fetch *f, int outcome)
{
    c->s.pages++;
    c->s.outcome[outcome]++;
    if (outcome == OUT_OK) {
        c->s.fetched++;
        c->s.status[f->status / 100 % 6]++;
    }
}

static group group_of(const job *j, int kind, int outcome)
{
    const fetch *f = &j->f;
    group g = {.kind = kind,
               .has_done = true,
               .done_id = j->id,
               .done_at = j->at,
               .status = f->status,
               .outcome = outcome,
               .size = f->size,
               .depth = j->depth + (kind == GROUP_PAGE),
               .hops = kind == GROUP_REDIRECT ? j->hops + 1 : 0};
    strcpy(g.type, f->type);
    if (j->h->origin_len < sizeof g.origin)
        strcpy(g.origin, j->h->origin);
    return g;
}

/* J is done and brought c->found. */
static void finish(crawler *c, job *j, int kind, int outcome)
{
    group g = group_of(j, kind, outcome);
    count_page(c, &j->f, outcome);
    report_page(&c->report, j, c->c->out ? c->store->referrer(c, j) : "", outcome);
    found_ready(&c->found);
    c->store->done(c, j, &g, &c->found);
    job_drop(c, j);
}

void answer_without_fetch(crawler *c, job *j, int outcome)
{
    found_clear(&c->found);
    finish(c, j, GROUP_PAGE, outcome);
}

/* ---- failures -------------------------------------------------------------------- */

enum {
    HOST_PATIENCE = 8,     /* connections that fail in a row before a host is left */
    RETRIES_WAITING = 1000 /* of one host; beyond that a failure is final */
};

static bool is_transient(const fetch *f)
{
    switch (f->outcome) {
    case OUT_OK:
        return f->status == 408 || f->status == 429 || f->status == 500 ||
               f->status == 502 || f->status == 503 || f->status == 504;
    case OUT_CONNECT:
    case OUT_TIMEOUT:
    case OUT_BROKEN:
    case OUT_DNS:
        return true;
    }
    return false;
}

static double backoff(crawler *c, unsigned attempts)
{
    double s = c->c->retry_wait * crawler_jitter(c);
    for (unsigned i = 1; i < attempts && s < c->c->max_wait; i++)
        s *= 2;
    return s < c->c->max_wait ? s : c->c->max_wait;
}

/* Puts J back for another attempt; false if it had enough of them. */
static bool try_again(crawler *c, job *j)
{
    fetch *f = &j->f;
    /* "Too many" and "not now" are said for the whole host. */
    bool whole = f->outcome == OUT_OK && (f->status == 429 || f->status == 503);
    if (!is_transient(f) || j->attempts > c->c->retries || j->h->dead ||
        j->h->front_count >= RETRIES_WAITING) {
        if (whole)
            crawler_wait(c, j->h, fetch_wait(f, 0));
        return false;
    }
    double wait = fetch_wait(f, backoff(c, j->attempts));
    if (whole)
        crawler_wait(c, j->h, wait);
    j->not_before = c->now + (uint64_t)(wait * 1000);
    c->s.retries++;
    fetch_free(f); /* it may wait long, and needs no memory meanwhile */
    f->head = f->body = f->sent = f->location_room = (buf){0};
    crawler_front(c, j);
    return true;
}

/* Common to all answers: the connection is free, the host may be asked again later. */
static void settle(crawler *c, job *j)
{
    host *h = j->h;
    fetch *f = &j->f;
    h->in_flight--;
    c->in_flight--;
    c->s.bytes += f->size;
    if (j->place) {
        j->place->in_flight--;
        j->place->put_off -= j->place->put_off / 8;
    }
    if (f->address[0] && (!h->place || strcmp(h->place->text, f->address)))
        h->place = hosts_place(&c->hosts, f->address);
    c->now = loop_now();
    crawler_wait(c, h, h->delay);
    if (f->outcome == OUT_OK)
        h->fails = 0;
    else if (f->outcome == OUT_CONNECT || f->outcome == OUT_DNS ||
             f->outcome == OUT_TIMEOUT)
        h->fails++;
    if (h->fails >= HOST_PATIENCE && !h->dead && !c->cancelling)
        h->dead = OUT_HOST;
}

/* ---- robots.txt ------------------------------------------------------------------ */

static void add_sitemap(crawler *c, const url *base, const char *text, size_t len)
{
    char out[URL_ROOM];
    url u;
    if (url_resolve(base, text, len, out, sizeof out, &u) == URL_OK &&
        scope_check(c->scope, &u, base) == SCOPE_IN)
        found_add(&c->found, &u);
}

/* The sitemaps of a host: those its robots.txt names, or the usual one. */
static void find_sitemaps(crawler *c, host *h, const url *base)
{
    group g = {.kind = GROUP_SITEMAP | GROUP_SITEMAPS};
    found_clear(&c->found);
    const char *s;
    for (size_t i = 0; h->robots && (s = robots_sitemap(h->robots, i)); i++)
        add_sitemap(c, base, s, strlen(s));
    if (!c->found.count)
        add_sitemap(c, base, "/sitemap.xml", 12);
    found_ready(&c->found);
    c->store->done(c, NULL, &g, &c->found);
}

void answer_robots(fetch *f)
{
    job *j = (job *)f;
    crawler *c = f->ctx;
    host *h = j->h;
    settle(c, j);
    h->robots_state = ROBOTS_UNKNOWN;
    if (c->cancelling) {
        job_drop(c, j);
        return;
    }
    bool busy = f->outcome == OUT_OK && (f->status == 429 || f->status >= 500);
    bool failed = f->outcome != OUT_OK && f->outcome != OUT_REDIRECTS;
    if ((busy || (failed && f->outcome != OUT_PRIVATE && f->outcome != OUT_TLS)) &&
        h->robots_tries < c->c->retries) {
        h->robots_tries++;
        crawler_wait(c, h, fetch_wait(f, backoff(c, h->robots_tries)));
        c->s.retries++;
    } else {
        robots_free(h->robots);
        h->robots = NULL;
        h->robots_state = ROBOTS_KNOWN;
        h->robots_tries = 0;
        h->robots_until = c->now + 24 * 3600 * 1000ull;
        if (failed)
            h->dead = (uint8_t)f->outcome; /* who cannot say is not asked */
        else if (busy)
            h->robots = robots_all(false);
        else if (f->outcome == OUT_OK && f->status / 100 == 2)
            h->robots = robots_parse(f->body.p, f->body.len, c->c->product);
        double theirs = h->robots ? robots_delay(h->robots) : -1;
        if (theirs > c->c->max_delay)
            theirs = c->c->max_delay;
        h->delay = theirs > c->c->delay ? theirs : c->c->delay;
        crawler_wait(c, h, h->delay);
        if (c->c->sitemaps && !failed && !busy)
            find_sitemaps(c, h, &f->u);
    }
    job_drop(c, j);
    crawler_update(c, h);
}

/* ---- pages ----------------------------------------------------------------------- */

static void read_links(crawler *c, job *j)
{
    fetch *f = &j->f;
    page *pg = &c->page;
    char base_text[URL_ROOM];
    url base = f->u, other;
    size_t n = 0, from = 0;
    const char *type = fetch_field(&f->head, "content-type", &n, &from);
    const char *charset = charset_of(type, n, f->body.p, f->body.len);
    const buf *text = &f->body;
    if (charset && charset_to_utf8(charset, f->body.p, f->body.len, &c->utf8))
        text = &c->utf8;
    if (!page_read(pg, text->p, text->len, c->c->follow, c->c->product))
        kit_die("out of memory reading %s", f->u.text);
    if (pg->has_base && url_resolve(&f->u, pg->text + pg->base_at, pg->base_len,
                                    base_text, sizeof base_text, &other) == URL_OK)
        base = other;
    f->noindex |= pg->noindex;
    f->nofollow |= pg->nofollow;
    bool silent = f->nofollow && !c->c->follow_nofollow;
    from = 0;
    const char *refresh = fetch_field(&f->head, "refresh", &n, &from);
    html_span next = refresh ? page_refresh(refresh, n) : (html_span){0};
    if (next.len && (c->c->follow & PAGE_REFRESH) && !silent)
        consider(c, &f->u, &f->u, next.p, next.len, PAGE_REFRESH);
    for (size_t i = 0; i < pg->count; i++) {
        const page_link *l = &pg->links[i];
        if (silent || (l->nofollow && !c->c->follow_nofollow)) {
            c->s.nofollow++;
            continue;
        }
        if (charset && charset_link(charset, pg->text + l->at, l->len, &c->link))
            consider(c, &base, &f->u, c->link.p, c->link.len, l->kind);
        else
            consider(c, &base, &f->u, pg->text + l->at, l->len, l->kind);
    }
}

typedef struct sitemap_ctx {
    crawler *c;
    job *j;
    bool nested; /* which of both is wanted */
} sitemap_ctx;

static void on_loc(void *ctx, const char *loc, size_t len, bool nested)
{
    sitemap_ctx *x = ctx;
    if (nested == x->nested)
        consider(x->c, &x->j->f.u, &x->j->f.u, loc, len, PAGE_SITEMAP);
}

/* A sitemap brings pages; an index brings sitemaps, which go into a group of their
 * own in front. */
static int read_sitemap(crawler *c, job *j)
{
    fetch *f = &j->f;
    sitemap_ctx x = {c, j, true};
    sitemap_read(f->body.p, f->body.len, on_loc, &x);
    if (c->found.count && j->hops < 5) {
        group g = {.kind = GROUP_SITEMAP | GROUP_SITEMAPS, .hops = j->hops + 1};
        found_ready(&c->found);
        c->store->done(c, NULL, &g, &c->found);
    }
    found_clear(&c->found);
    x.nested = false;
    sitemap_read(f->body.p, f->body.len, on_loc, &x);
    return GROUP_SITEMAP;
}

static void follow_redirect(crawler *c, job *j, int *outcome)
{
    fetch *f = &j->f;
    char out[URL_ROOM];
    url u;
    if (j->hops >= c->c->max_redirects) {
        *outcome = OUT_REDIRECTS;
        return;
    }
    /* A seed may move: "example.org" to "www.example.org" takes the crawl along. */
    if (j->depth == 0 && c->c->scope == SCOPE_HOST &&
        url_resolve(&f->u, f->location, strlen(f->location), out, sizeof out, &u) ==
            0 &&
        u.scheme <= URL_HTTPS && scope_related(&f->u, &u))
        scope_add(c->scope, &u);
    consider(c, &f->u, &f->u, f->location, strlen(f->location), 0);
}

void answer_page(fetch *f)
{
    job *j = (job *)f;
    crawler *c = f->ctx;
    host *h = j->h;
    settle(c, j);
    if (c->cancelling) {
        job_drop(c, j);
        return;
    }
    if (!try_again(c, j)) {
        int kind = GROUP_PAGE, outcome = f->outcome;
        if (outcome == OUT_PRIVATE && !h->dead)
            h->dead = OUT_PRIVATE;
        found_clear(&c->found);
        bool good = outcome == OUT_OK && f->status / 100 == 2;
        if (outcome == OUT_OK && f->status / 100 == 3 && f->location) {
            kind = GROUP_REDIRECT | (j->kind & GROUP_SITEMAPS);
            follow_redirect(c, j, &outcome);
        } else if (good && (j->kind & GROUP_SITEMAPS)) {
            kind = read_sitemap(c, j);
        } else if (good && fetch_is_html(f->type) && !f->dropped &&
                   (c->c->depth < 0 || j->depth < (unsigned)c->c->depth ||
                    c->c->links)) {
            read_links(c, j);
            if (c->c->depth >= 0 && j->depth >= (unsigned)c->c->depth)
                found_clear(&c->found);
        }
        finish(c, j, kind, outcome);
    }
    crawler_update(c, h);
    if (!h->in_flight)
        c->store->idle(c, h);
}

void answer_seeds(crawler *c, const words *seeds)
{
    group g = {.kind = GROUP_SEEDS};
    found_clear(&c->found);
    for (size_t i = 0; i < seeds->n; i++) {
        char text[URL_ROOM], out[URL_ROOM];
        url u;
        const char *s = seeds->p[i];
        int rc = url_normalise(s, strlen(s), out, sizeof out, &u);
        if (rc == URL_ERELATIVE || (rc == URL_ESCHEME && !strstr(s, "://"))) {
            /* "example.org" and "example.org:8080" as people write them */
            int n = snprintf(text, sizeof text, "http://%s", s);
            if (n < (int)sizeof text)
                rc = url_normalise(text, (size_t)n, out, sizeof out, &u);
        }
        if (rc == URL_ESCHEME || (rc == URL_OK && u.scheme > URL_HTTPS))
            kit_die("%s: only http and https can be crawled", s);
        if (rc < 0)
            kit_die("%s: %s", s, url_strerror(rc));
        if (u.user != u.host)
            kit_die("%s: a password in an address would end up in every output", s);
        scope_add(c->scope, &u);
        found_add(&c->found, &u);
    }
    found_ready(&c->found);
    c->store->done(c, NULL, &g, &c->found);
}
