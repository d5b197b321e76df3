/* crawl_report.c - counts the pages in a log and draws them.
 *
 * Two walks: one to know the span of time, one to count. Memory grows with the hosts,
 * and by 8 bytes for each address. */
#include "crawl_report.h"
#include "human_numbers.h"
#include "markup.h"
#include "output.h"
#include "queue/frontier.h"
#include "queue/host.h"
#include "queue/same_text.h"

#include <errno.h>

enum {
    BINS = 100,
    STATUSES = 600,
    DEPTHS = 64,
    TYPES = 24,
    SLOWEST = 20,
    SHARED = 20,
    SEEDS = 5
};

typedef struct counts {
    frontier *f;
    uint64_t *latest; /* where the record of each page is, that of its latest round */
    uint64_t from, to,
        now; /* seconds since 1970: of the first and last page, of the latest */
    double done[BINS], found[BINS];
    size_t bins; /* a second each, or more */
    uint64_t pages, addresses, bytes, dull, timed;
    uint64_t status[STATUSES], outcome[OUT_KINDS], depth[DEPTHS + 1], change[CHANGES];
    char why[OUT_KINDS][WHY_ROOM], whose[OUT_KINDS][URL_ROOM];
    struct type {
        char name[64];
        uint64_t pages;
    } type[TYPES + 1]; /* the last one: all others */
    char seed[SEEDS][URL_ROOM];
    size_t seeds;
    hosts hosts;
    tally tally;
    same_text texts;
    const host *slowest[SLOWEST];
    size_t slow;
    entry e;
} counts;

static bool counts_page(const counts *n, const group *g)
{
    return g->has_done && n->latest[g->done_id] == g->record_at;
}

/* ---- walks ----------------------------------------------------------------------- */

static void find_span(void *ctx, const group *g)
{
    counts *n = ctx;
    uint64_t t = g->record.fetched;
    if (!counts_page(n, g) || !t)
        return;
    if (!n->from || t < n->from)
        n->from = t;
    if (t > n->to)
        n->to = t;
}

static size_t bin_of(const counts *n)
{
    if (n->now <= n->from)
        return 0;
    uint64_t bin = (n->now - n->from) * n->bins / (n->to - n->from + 1);
    return bin < n->bins ? (size_t)bin : n->bins - 1;
}

static void count_type(counts *n, const char *name)
{
    size_t i = 0;
    while (i < TYPES && n->type[i].pages && strcmp(n->type[i].name, name))
        i++;
    snprintf(n->type[i].name, sizeof n->type[i].name, "%s",
             i == TYPES ? "others" : name);
    n->type[i].pages++;
}

static void count_host(counts *n, const group *g)
{
    char out[URL_ROOM];
    url u;
    if (url_normalise(n->e.text, n->e.len, out, sizeof out, &u) != URL_OK)
        return;
    n->timed += g->record.took > 0;
    host *h = hosts_get(&n->hosts, &u);
    tally_answer(&n->tally, h, g->record.took ? g->record.took - 1 : 0, g->size,
                 g->outcome != OUT_OK);
}

static void count_group(void *ctx, const group *g)
{
    counts *n = ctx;
    if (g->record.fetched)
        n->now = g->record.fetched;
    n->addresses += g->links;
    n->found[bin_of(n)] += (double)g->links;
    if (!counts_page(n, g) || !frontier_read(n->f, g->done_at, &n->e))
        return;
    n->pages++;
    n->done[bin_of(n)]++;
    n->bytes += g->size;
    n->dull += g->record.dull;
    if (g->record.hash)
        same_text_add(&n->texts, g->record.hash, g->done_at);
    n->depth[n->e.depth < DEPTHS ? n->e.depth : DEPTHS]++;
    n->outcome[g->outcome < OUT_KINDS ? g->outcome : OUT_BROKEN]++;
    n->change[g->record.change]++;
    count_host(n, g);
    if (g->outcome == OUT_OK) {
        n->status[g->status < STATUSES ? g->status : 0]++;
        count_type(n, g->type);
    } else if (g->outcome < OUT_KINDS) {
        snprintf(n->why[g->outcome], WHY_ROOM, "%s", g->record.why);
        snprintf(n->whose[g->outcome], URL_ROOM, "%s", n->e.text);
    }
}

static void keep_seed(void *ctx, const group *g, uint64_t id, uint64_t at,
                      const char *text, size_t len)
{
    counts *n = ctx;
    (void)id, (void)at, (void)len;
    if (g->kind == GROUP_SEEDS && n->seeds < SEEDS)
        snprintf(n->seed[n->seeds++], URL_ROOM, "%s", text);
}

static double mean_of(const host *h)
{
    return h->tally.answers ? (double)h->tally.took / (double)h->tally.answers : 0;
}

/* Keeps the hosts whose answers take longest on average, the longest first. */
static void rank_host(void *ctx, host *h)
{
    counts *n = ctx;
    size_t at = n->slow;
    if (!h->tally.answers ||
        (at == SLOWEST && mean_of(h) <= mean_of(n->slowest[at - 1])))
        return;
    if (at == SLOWEST)
        at--;
    else
        n->slow++;
    for (; at > 0 && mean_of(n->slowest[at - 1]) < mean_of(h); at--)
        n->slowest[at] = n->slowest[at - 1];
    n->slowest[at] = h;
}

/* ---- the page -------------------------------------------------------------------- */

static void put_summary(buf *b, const counts *n)
{
    char text[32];
    buf_text(b, "<p>From ");
    for (size_t i = 0; i < n->seeds; i++) {
        buf_text(b, i ? ", " : "");
        markup_text(b, n->seed[i]);
    }
    buf_text(b, n->seeds == SEEDS ? " and perhaps others.</p>\n" : ".</p>\n");
    buf_text(b, "<table id=\"summary\">\n");
    markup_row(b, "pages done", n->pages);
    markup_row(b, "waiting", n->addresses > n->pages ? n->addresses - n->pages : 0);
    markup_row(b, "addresses found", n->addresses);
    markup_row(b, "hosts", n->hosts.count);
    markup_row(b, "pages that showed nothing new", n->dull);
    markup_add(b, "<tr><th>bytes of pages</th><td>%s</td></tr>\n",
               kit_show_bytes((double)n->bytes, text));
    for (unsigned i = CHANGE_NEW; i < CHANGES; i++)
        if (n->change[i])
            markup_row(b, change_name(i), n->change[i]);
    if (n->from) {
        markup_add(b, "<tr><th>first page</th><td>%s</td></tr>\n",
                   markup_time(n->from, text));
        markup_add(b, "<tr><th>latest page</th><td>%s</td></tr>\n",
                   markup_time(n->to, text));
    }
    buf_text(b, "</table>\n");
}

static void put_time(buf *b, const counts *n)
{
    double done[BINS], found[BINS], rate[BINS],
        seconds = (double)(n->to - n->from + 1) / (double)n->bins;
    char from[32], to[32];
    for (size_t i = 0; i < n->bins; i++) {
        done[i] = n->done[i] + (i ? done[i - 1] : 0);
        found[i] = n->found[i] + (i ? found[i - 1] : 0);
        rate[i] = n->done[i] / seconds;
    }
    markup_time(n->from, from);
    markup_time(n->to, to);
    buf_text(b, "<h2>Pages over time</h2>\n");
    plot_line both[] = {{"pages done", done}, {"addresses found", found}},
              one = {"pages per second", rate};
    plot_lines(b, "pages done and addresses found", from, to, n->bins, both, 2);
    plot_lines(b, "pages per second", from, to, n->bins, &one, 1);
}

static void put_bars(buf *b, const char *id, const char *title, const plot_bar *bars,
                     size_t n)
{
    markup_add(b, "<h2>%s</h2>\n", title);
    plot_bars(b, title, bars, n);
    markup_add(b, "<table id=\"%s\">\n", id);
    for (size_t i = 0; i < n; i++)
        markup_row(b, bars[i].name, (uint64_t)bars[i].value);
    buf_text(b, "</table>\n");
}

static void put_numbers(buf *b, const char *id, const char *title,
                        const uint64_t *count, size_t n)
{
    static char name[STATUSES][16];
    static plot_bar bars[STATUSES];
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (count[i]) {
            snprintf(name[k], sizeof name[k], "%zu%s", i,
                     i == DEPTHS && n == DEPTHS + 1 ? " and more" : "");
            bars[k] = (plot_bar){name[k], (double)count[i], NULL};
            k++;
        }
    put_bars(b, id, title, bars, k);
}

static void put_types(buf *b, const counts *n)
{
    plot_bar bars[TYPES + 1];
    size_t k = 0;
    for (size_t i = 0; i <= TYPES; i++)
        if (n->type[i].pages)
            bars[k++] = (plot_bar){n->type[i].name[0] ? n->type[i].name : "(none)",
                                   (double)n->type[i].pages, NULL};
    put_bars(b, "types", "Types", bars, k);
}

static void put_failures(buf *b, const counts *n)
{
    markup_failures(b);
    for (int i = 1; i < OUT_KINDS; i++)
        markup_failure(b, outcome_name(i), n->outcome[i], n->why[i], n->whose[i]);
    buf_text(b, "</table>\n");
}

static void put_hosts(buf *b, const char *id, const host *const *list, size_t n)
{
    markup_add(
        b,
        "<table id=\"%s\"><tr><th>host</th><th>answers</th><th>failures</th><th>mean "
        "ms</th>"
        "<th>slowest ms</th></tr>\n",
        id);
    for (size_t i = 0; i < n; i++) {
        const host_tally *t = &list[i]->tally;
        char a[2][32];
        buf_text(b, "<tr><td>");
        markup_text(b, list[i]->origin);
        markup_add(b, "</td><td>%s</td><td>%s</td><td>%.0f</td><td>%llu</td></tr>\n",
                   kit_show_count(t->answers, a[0]), kit_show_count(t->failures, a[1]),
                   mean_of(list[i]), (unsigned long long)t->slowest);
    }
    buf_text(b, "</table>\n");
}

static void put_slowest(buf *b, const counts *n)
{
    plot_bar bars[SLOWEST];
    char text[SLOWEST][32];
    buf_text(b, "<h2>The slowest hosts</h2>\n");
    if (!n->timed) {
        buf_text(b, "<p>The log does not say how long answers took.</p>\n");
        return;
    }
    for (size_t i = 0; i < n->slow; i++) {
        snprintf(text[i], sizeof text[i], "%.0f ms", mean_of(n->slowest[i]));
        bars[i] = (plot_bar){n->slowest[i]->origin, mean_of(n->slowest[i]), text[i]};
    }
    plot_bars(b, "mean milliseconds of an answer", bars, n->slow);
    put_hosts(b, "slowest", n->slowest, n->slow);
}

static int by_pages(const void *a, const void *b)
{
    const text_seen *x = a, *y = b;
    return x->pages != y->pages ? (x->pages < y->pages) - (x->pages > y->pages)
                                : (x->at > y->at) - (x->at < y->at);
}

/* Error pages that say 200, logins and the like are found by the text they share. */
static void put_texts(buf *b, counts *n)
{
    buf_text(b,
             "<h2>Texts shown by several pages</h2>\n<table id=\"texts\"><tr><th>first "
             "page</th>"
             "<th>pages</th></tr>\n");
    if (n->texts.room) /* they are in no order from here on */
        qsort(n->texts.texts, n->texts.room, sizeof *n->texts.texts, by_pages);
    for (size_t i = 0; i < SHARED && i < n->texts.count && n->texts.texts[i].pages > 1;
         i++) {
        char count[32];
        if (!frontier_read(n->f, n->texts.texts[i].at, &n->e))
            continue;
        buf_text(b, "<tr><td>");
        markup_text(b, n->e.text);
        markup_add(b, "</td><td>%s</td></tr>\n",
                   kit_show_count(n->texts.texts[i].pages, count));
    }
    buf_text(b, "</table>\n");
}

static void put_report(buf *b, counts *n)
{
    markup_begin(b, "seen crawl: report", 0);
    put_summary(b, n);
    if (n->from)
        put_time(b, n);
    put_numbers(b, "statuses", "Status codes", n->status, STATUSES);
    put_numbers(b, "depths", "Depth", n->depth, DEPTHS + 1);
    put_types(b, n);
    put_failures(b, n);
    put_texts(b, n);
    put_slowest(b, n);
    tally_sort(&n->tally);
    buf_text(b, "<h2>The most answers</h2>\n");
    put_hosts(b, "busiest", (const host *const *)n->tally.list[MOST_ANSWERS],
              n->tally.listed[MOST_ANSWERS]);
    buf_text(b, "<h2>The most failures</h2>\n");
    put_hosts(b, "failing", (const host *const *)n->tally.list[MOST_FAILURES],
              n->tally.listed[MOST_FAILURES]);
    markup_end(b);
}

void crawl_report(const config *c)
{
    counts *n = kit_alloc(sizeof *n);
    char path[4096], count[32];
    buf b = {0};
    snprintf(path, sizeof path, "%s/report.html", c->dir);
    kit_output *o = kit_output_open(c->out ? c->out : path);
    if (!o)
        kit_die("%s: %s", c->out ? c->out : path, strerror(errno));
    n->f = frontier_open(c->dir, true, 0);
    n->latest = frontier_latest(n->f);
    walker span = {find_span, NULL, n}, all = {count_group, keep_seed, n};
    frontier_walk(n->f, &span);
    n->bins = n->to - n->from < BINS ? (size_t)(n->to - n->from) + 1 : BINS;
    frontier_walk(n->f, &all);
    hosts_each(&n->hosts, rank_host, n);
    put_report(&b, n);
    if (kit_output_write(o, b.p, b.len) < 0 || kit_output_finish(o, 0) < 0 ||
        kit_output_commit(o) < 0)
        kit_output_fail(o);
    if (!c->quiet && kit_output_replaces(o))
        kit_warn("%s: %s pages", kit_output_name(o), kit_show_count(n->pages, count));
    kit_output_close(o);
    frontier_close(n->f);
    hosts_free(&n->hosts, NULL);
    same_text_free(&n->texts);
    free(n->latest);
    free(b.p);
    free(n);
}
