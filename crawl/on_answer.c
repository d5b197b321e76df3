/* on_answer.c - acts on an answer: links, a redirect, a failure. */
#include "crawler.h"
#include "page/sitemap.h"
#include "human_numbers.h"

#include <time.h>

/* ---- links ----------------------------------------------------------------------- */

enum {
    FOUND_MOST = 64 << 20
}; /* bytes of one page's links, so that a batch stays small */

static bool same_origin(const url *a, const url *b)
{
    return a->path == b->path && !memcmp(a->text, b->text, a->path);
}

/* Removes the session ids NAMES from U, whose text goes to OUT; BARE is scratch
 * space. */
static void strip_session(unsigned names, char bare[URL_ROOM], char out[URL_ROOM],
                          url *u)
{
    if (session_ids_in(u) & names) {
        size_t n = session_ids_strip(u, names, bare);
        if (url_normalise(bare, n, out, URL_ROOM, u) != URL_OK)
            kit_die("%s cannot be read without its session id", bare);
    }
}

/* Keeps the address U of a link on the page FROM if it is in scope. */
static void keep_link(crawler *c, const url *from, const url *link, unsigned kind)
{
    char bare[URL_ROOM], out[URL_ROOM];
    url u = *link;
    outputs_link(&c->outputs, from, &u, kind);
    if (c->asked && c->asked->void_names && same_origin(&u, from))
        strip_session(c->asked->void_names, bare, out, &u);
    int verdict = scope_check(c->q.scope, &u, from);
    c->stats.skipped[verdict]++;
    if (verdict == SCOPE_IN)
        found_links_add(&c->found, &u);
}

/* The same for a link that is not yet resolved. */
static void add_link(crawler *c, const url *from, const char *text, size_t len,
                     unsigned kind)
{
    char out[URL_ROOM];
    url u;
    c->stats.links++;
    if (c->found.text.len > FOUND_MOST ||
        url_resolve(from, text, len, out, sizeof out, &u) != URL_OK)
        c->stats.unreadable++;
    else
        keep_link(c, from, &u, kind);
}

/* ---- ends of jobs ---------------------------------------------------------------- */

static void count_page(crawler *c, const fetch *f, int outcome)
{
    stats *s = &c->stats;
    s->pages++;
    s->outcome[outcome]++;
    if (outcome != OUT_OK) {
        snprintf(s->why[outcome], sizeof s->why[outcome], "%s", f->why);
        snprintf(s->whose[outcome], sizeof s->whose[outcome], "%s", f->u.text);
    }
    if (outcome == OUT_OK) {
        s->good += f->status < 400;
        s->fetched++;
        s->status[f->status / 100 % 6]++;
    }
}

/* What to ask with next time. */
static void keep_validators(const fetch *f, page_record *r)
{
    size_t n, from = 0;
    const char *v = fetch_field(&f->head, "etag", &n, &from);
    if (v && n < sizeof r->etag && !memchr(v, 0, n)) {
        memcpy(r->etag, v, n);
        r->etag[n] = 0;
    }
    from = 0;
    if ((v = fetch_field(&f->head, "last-modified", &n, &from)))
        r->modified = fetch_date(v, n);
}

/* What became of a page since the previous crawl. */
static unsigned change_of(const job *j, int outcome)
{
    const fetch *f = &j->f;
    bool was = j->before_status && j->before_status < 400;
    if (outcome != OUT_OK)
        return CHANGE_NONE;
    if (f->status >= 400)
        return was && (f->status == 404 || f->status == 410) ? CHANGE_GONE
                                                             : CHANGE_NONE;
    if (!was)
        return CHANGE_NEW;
    bool known = j->print.hash && j->before.hash;
    if (f->status == 304 || (known && j->print.hash == j->before.hash) ||
        (f->status / 100 == 3 && f->status == j->before_status))
        return CHANGE_UNCHANGED;
    return known || f->status != j->before_status ? CHANGE_CHANGED : CHANGE_NONE;
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
    if (f->status == 304 && j->before_status)
        g.record = j->before;
    else
        keep_validators(f, &g.record);
    if (j->print.hash)
        g.record.hash = j->print.hash;
    g.record.dull = j->dull;
    g.record.change = j->change;
    g.record.fetched = f->status ? (uint64_t)time(NULL) : 0;
    g.record.took = f->status ? f->took + 1 : 0;
    if (outcome != OUT_OK)
        snprintf(g.record.why, sizeof g.record.why, "%s", f->why);
    strcpy(g.type, f->type);
    if (j->h->origin_len < sizeof g.origin)
        strcpy(g.origin, j->h->origin);
    return g;
}

/* J is done, and c->found holds its links. */
static void finish_page(crawler *c, job *j, int kind, int outcome)
{
    /* A reason is one field of a line. */
    for (char *p = j->f.why; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    if (outcome == OUT_OK)
        j->f.why[0] = 0;
    if (c->q.again)
        j->change = change_of(j, outcome);
    c->stats.change[j->change]++;
    group g = group_of(j, kind, outcome);
    count_page(c, &j->f, outcome);
    outputs_page(&c->outputs, j, c->conf->out ? c->q.store->referrer(&c->q, j) : "",
                 outcome);
    found_links_ready(&c->found);
    c->q.store->done(&c->q, j, &g, &c->found);
    job_drop(&c->q, j);
}

void finish_unfetched(crawler *c, job *j, int outcome)
{
    found_links_clear(&c->found);
    finish_page(c, j, GROUP_PAGE, outcome);
}

void finish_session(crawler *c, job *j)
{
    char bare[URL_ROOM], out[URL_ROOM];
    unsigned names = j->h->void_names;
    url u = j->f.u;
    snprintf(j->f.why, sizeof j->f.why, "%s is a session id",
             session_ids_name(names & session_ids_in(&u)));
    found_links_clear(&c->found);
    strip_session(names, bare, out, &u);
    if (scope_check(c->q.scope, &u, &j->f.u) == SCOPE_IN)
        found_links_add(&c->found, &u);
    finish_page(c, j, GROUP_PAGE, OUT_SESSION);
}

/* ---- pages ----------------------------------------------------------------------- */

/* Compares the text of a page with earlier ones. A host that shows nothing new is a
 * trap in the end, and equal texts under two session ids prove that they are ids. */
static void weigh_page(crawler *c, job *j, const fingerprint *print)
{
    enum { PROOFS = 3 };
    host *h = j->h;
    fetch *f = &j->f;
    j->print = *print;
    j->dull = trap_detector_dull(c->traps, h->hash, j->print.simhash);
    h->dull += j->dull;
    c->stats.dull += j->dull;
    h->fresh += !j->dull;
    unsigned names = session_ids_learn(c->sessions, &f->u, j->print.hash);
    if (names && j->print.hash != h->last_proof) {
        h->last_proof = j->print.hash;
        if (++h->session_proofs >= PROOFS)
            h->void_names |= names;
    }
    if (!h->dead && trap_detector_spent(c->conf->host_budget, h->fresh, h->dull)) {
        char why[WHY_ROOM];
        snprintf(why, sizeof why, "of %s pages %s looked like earlier ones",
                 kit_counted(h->fresh + h->dull), kit_counted(h->dull));
        h->dead = OUT_TRAP;
        free(h->dead_why);
        h->dead_why = kit_copy(why);
    }
}

static void keep_links(crawler *c, const job *j, const page_extract *d)
{
    c->stats.links += d->links.count + d->unreadable;
    c->stats.unreadable += d->unreadable;
    c->stats.nofollow += d->nofollow;
    for (size_t i = 0; i < d->links.count; i++)
        keep_link(c, &j->f.u, &d->links.u[i], (uint8_t)d->kinds.p[i]);
}

static void read_page(crawler *c, job *j)
{
    fetch *f = &j->f;
    if (!f->extracted)
        page_extract_read(&c->extractor, c->conf, f, &c->extract);
    const page_extract *d = f->extracted ? f->extract : &c->extract;
    if (d->print.hash)
        weigh_page(c, j, &d->print);
    keep_links(c, j, d);
    if (job_is_deepest(&c->q, j))
        found_links_clear(&c->found);
}

typedef struct sitemap_ctx {
    crawler *crawler;
    job *j;
    bool nested; /* which of the two is wanted */
} sitemap_ctx;

static void on_loc(void *ctx, const char *loc, size_t len, bool nested)
{
    sitemap_ctx *x = ctx;
    if (nested == x->nested)
        add_link(x->crawler, &x->j->f.u, loc, len, PAGE_SITEMAP);
}

/* A sitemap lists pages; an index lists sitemaps, which go into a group of their own,
 * before the pages. */
static int read_sitemap(crawler *c, job *j)
{
    fetch *f = &j->f;
    sitemap_ctx x = {c, j, true};
    sitemap_read(f->body.p, f->body.len, on_loc, &x);
    if (c->found.count && j->hops < 5) {
        group g = {.kind = GROUP_SITEMAP | GROUP_SITEMAPS, .hops = j->hops + 1};
        found_links_ready(&c->found);
        c->q.store->done(&c->q, NULL, &g, &c->found);
    }
    found_links_clear(&c->found);
    x.nested = false;
    sitemap_read(f->body.p, f->body.len, on_loc, &x);
    return GROUP_SITEMAP;
}

/* Whether a page sets a cookie and redirects to itself, so that it is asked for with
 * the cookie. */
static bool cookie_redirect(const crawler *c, const job *j)
{
    const fetch *f = &j->f;
    char out[URL_ROOM];
    url u;
    size_t n, from = 0;
    return c->conf->cookies && f->outcome == OUT_OK && f->status / 100 == 3 &&
           f->location && j->hops < c->conf->max_redirects &&
           fetch_field(&f->head, "set-cookie", &n, &from) &&
           url_resolve(&f->u, f->location, strlen(f->location), out, sizeof out, &u) ==
               URL_OK &&
           u.len == f->u.len && !memcmp(u.text, f->u.text, u.len);
}

static void follow_redirect(crawler *c, job *j, int *outcome)
{
    fetch *f = &j->f;
    char out[URL_ROOM];
    url u;
    if (j->hops >= c->conf->max_redirects) {
        *outcome = OUT_REDIRECTS;
        snprintf(f->why, sizeof f->why, "%u redirects in a row", j->hops + 1);
        return;
    }
    bool readable = url_resolve(&f->u, f->location, strlen(f->location), out,
                                sizeof out, &u) == URL_OK;
    if (readable && u.len == f->u.len && !memcmp(u.text, f->u.text, u.len)) {
        *outcome = OUT_REDIRECTS;
        snprintf(f->why, sizeof f->why, "redirects to itself%s",
                 c->conf->cookies ? "" : "; --cookies may help");
        return;
    }
    /* A seed may move, from "example.org" to "www.example.org": the scope follows. */
    if (readable && j->depth == 0 && c->conf->scope == SCOPE_HOST &&
        u.scheme <= URL_HTTPS && scope_related(&f->u, &u))
        scope_add(c->q.scope, &u);
    add_link(c, &f->u, f->location, strlen(f->location), 0);
}

void on_page_answer(fetch *f)
{
    job *j = (job *)f;
    crawler *c = f->ctx;
    host *h = j->h;
    free_connection(c, j);
    if (!f->extracted)
        page_header_rules(c->conf, f);
    if (c->cancelling) {
        job_drop(&c->q, j);
        return;
    }
    if (cookie_redirect(c, j)) {
        j->hops++;
        schedule_front(&c->q, j);
    } else if (!retry_later(c, j)) {
        int kind = GROUP_PAGE, outcome = f->outcome;
        if (outcome == OUT_PRIVATE && !h->dead)
            h->dead = OUT_PRIVATE;
        found_links_clear(&c->found);
        c->asked = h;
        bool good = (outcome == OUT_OK || (outcome == OUT_BROKEN && f->body.len)) &&
                    f->status / 100 == 2;
        if (outcome == OUT_OK && f->status / 100 == 3 && f->location) {
            kind = GROUP_REDIRECT | (j->kind & GROUP_SITEMAPS);
            follow_redirect(c, j, &outcome);
        } else if (good && (j->kind & GROUP_SITEMAPS)) {
            kind = read_sitemap(c, j);
        } else if (page_extract_wanted(f) || f->extracted) {
            read_page(c, j);
        }
        finish_page(c, j, kind, outcome);
    }
    schedule_update(&c->q, h);
    if (!h->in_flight)
        c->q.store->idle(&c->q, h);
}
