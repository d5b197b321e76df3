/* summary.c - progress, statistics and --list. */
#include "crawler.h"
#include "archive/json_field.h"
#include "json.h"
#include "queue/same_text.h"
#include "seen.h"
#include "human_numbers.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds_of(const crawler *c)
{
    double s = (double)(loop_now() - c->stats.started) / 1000;
    return s > 0.001 ? s : 0.001;
}

void summary_progress(crawler *c, bool last)
{
    static uint64_t pages;
    static bool shown;
    if (!c->conf->progress)
        return;
    char bytes[32];
    if (last) {
        if (shown)
            fputs("\r\033[K", stderr);
        return;
    }
    shown = true;
    fprintf(stderr, "\r\033[K%s pages, %s/s, %s, %s waiting, %s hosts",
            kit_counted(c->stats.pages), kit_counted(c->stats.pages - pages),
            kit_show_bytes((double)c->stats.bytes, bytes), kit_counted(c->q.queued),
            kit_counted(c->q.hosts.count));
    pages = c->stats.pages;
}

static double cpu_of(int whose)
{
    struct rusage r;
    getrusage(whose, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void print_json(crawler *c, bool interrupted)
{
    static const char *const why[] = {NULL, "elsewhere", "pattern", "trap"};
    kit_json j = {.to = stdout};
    const stats *s = &c->stats;
    struct rusage r;
    double t = seconds_of(c);
    getrusage(RUSAGE_SELF, &r);
    kit_json_open(&j, NULL, '{');
    kit_json_bool(&j, "finished", !interrupted && c->q.queued == 0);
    kit_json_count(&j, "pages", s->pages);
    kit_json_count(&j, "fetched", s->fetched);
    kit_json_count(&j, "earlier", c->q.earlier);
    kit_json_count(&j, "queued", c->q.queued);
    kit_json_count(&j, "requests", s->requests);
    kit_json_count(&j, "retries", s->retries);
    kit_json_count(&j, "hosts", c->q.hosts.count);
    kit_json_count(&j, "bytes", s->bytes);
    kit_json_real(&j, "seconds", t);
    kit_json_real(&j, "pages_per_second", (double)s->pages / t);
    kit_json_real(&j, "cpu_seconds", cpu_of(RUSAGE_SELF));
    if (c->conf->threads >
        1) /* of the thread that decides: what bounds -j in the end */
        kit_json_real(&j, "deciding_cpu_seconds", cpu_of(RUSAGE_THREAD));
    kit_json_count(&j, "memory", (uint64_t)r.ru_maxrss * 1024);
    kit_json_count(&j, "nothing_new", s->dull);
    kit_json_count(&j, "links", s->links);
    kit_json_count(&j, "found", c->q.found);
    kit_json_open(&j, "seen", '{');
    kit_json_count(&j, "addresses", c->q.store->seen_count(&c->q));
    kit_json_count(&j, "memory", c->q.store->seen_bytes(&c->q));
    kit_json_count(&j, "disk", c->q.store->disk_bytes(&c->q));
    kit_json_real(&j, "lost_expected", c->q.store->seen_lost(&c->q));
    kit_json_close(&j, '}');
    kit_json_open(&j, "outcome", '{');
    for (int i = 0; i < OUT_KINDS; i++)
        if (s->outcome[i])
            kit_json_count(&j, outcome_name(i), s->outcome[i]);
    kit_json_close(&j, '}');
    kit_json_open(&j, "status", '{');
    for (int i = 1; i < 6; i++)
        if (s->status[i]) {
            char name[4] = {(char)('0' + i), 'x', 'x', 0};
            kit_json_count(&j, name, s->status[i]);
        }
    kit_json_close(&j, '}');
    if (c->q.again) {
        kit_json_open(&j, "since", '{');
        for (unsigned i = CHANGE_NEW; i < CHANGES; i++)
            kit_json_count(&j, change_name(i), s->change[i]);
        kit_json_close(&j, '}');
    }
    kit_json_open(&j, "links_skipped", '{');
    for (int i = 1; i < SCOPE_VERDICTS; i++)
        kit_json_count(&j, why[i], s->skipped[i]);
    kit_json_count(&j, "nofollow", s->nofollow);
    kit_json_count(&j, "unreadable", s->unreadable);
    kit_json_close(&j, '}');
    kit_json_close(&j, '}');
    putchar('\n');
    fflush(stdout);
}

/* "1 page", "12,345 pages" */
static char *show_pages(uint64_t n, char *out)
{
    kit_show_count(n, out);
    return strcat(out, n == 1 ? " page" : " pages");
}

void summary_print(crawler *c, bool interrupted)
{
    const stats *s = &c->stats;
    char a[32], b[32], d[32], e[32];
    double t = seconds_of(c);
    if (c->conf->json_stats)
        print_json(c, interrupted);
    if (c->conf->quiet)
        return;
    kit_warn("%s in %.1f s (%s/s), %s from %s host%s; %s waiting",
             show_pages(s->pages, a), t, kit_counted((uint64_t)((double)s->pages / t)),
             kit_show_bytes((double)s->bytes, b), kit_counted(c->q.hosts.count),
             c->q.hosts.count == 1 ? "" : "s", kit_show_count(c->q.queued, d));
    for (int i = 1; i < OUT_KINDS; i++)
        if (s->outcome[i])
            kit_warn("%s not fetched: %s%s%s%s%s%s", show_pages(s->outcome[i], a),
                     outcome_name(i), s->why[i][0] ? " (" : "", s->why[i],
                     s->why[i][0] ? ")" : "", s->outcome[i] == 1 ? ": " : ", last ",
                     s->whose[i]);
    if (c->q.again)
        kit_warn("since the previous crawl: %s new, %s changed, %s gone, %s unchanged",
                 kit_counted(s->change[CHANGE_NEW]),
                 kit_counted(s->change[CHANGE_CHANGED]),
                 kit_counted(s->change[CHANGE_GONE]),
                 kit_counted(s->change[CHANGE_UNCHANGED]));
    if (s->status[4] || s->status[5])
        kit_warn("%s pages answered 4xx, %s answered 5xx",
                 kit_show_count(s->status[4], a), kit_show_count(s->status[5], b));
    uint64_t n = c->q.store->seen_count(&c->q);
    kit_warn(
        "%s addresses seen, %s in memory, %s on disk; pages lost to false positives: "
        "%.2g expected",
        kit_show_count(n, a), kit_show_bytes((double)c->q.store->seen_bytes(&c->q), b),
        kit_show_bytes((double)c->q.store->disk_bytes(&c->q), e),
        c->q.store->seen_lost(&c->q));
    if (interrupted && c->conf->dir && !c->conf->redis)
        kit_warn("stopped; resume with: seen crawl --resume %s", c->conf->dir);
}

/* ---- --list ---------------------------------------------------------------------- */

typedef struct lister {
    frontier *f;
    bool json;
    entry e, parent, same;
    buf line;
    same_text texts;
    uint64_t *latest; /* where the record of each page is, that of its latest round */
} lister;

static void list_group(void *ctx, const group *g)
{
    lister *l = ctx;
    if (!g->has_done || l->latest[g->done_id] != g->record_at)
        return;
    if (!frontier_read(l->f, g->done_at, &l->e))
        return; /* its address was in a hole: a resumed crawl lists it again */
    l->parent.text[0] = 0;
    if (l->e.parent_at && !frontier_read(l->f, l->e.parent_at, &l->parent))
        l->parent.text[0] = 0;
    const char *note =
        g->outcome ? outcome_name(g->outcome) : change_name(g->record.change);
    uint64_t same_at =
        g->record.hash ? same_text_add(&l->texts, g->record.hash, g->done_at) : 0;
    l->same.text[0] = 0;
    if (same_at && !frontier_read(l->f, same_at, &l->same))
        l->same.text[0] = 0;
    if (!l->json) {
        printf("%s\t%d\t%s\t%u\t%" PRIu64 "\t%s\t%s\t%s\t%s\n", l->e.text, g->status,
               g->type, l->e.depth, g->size, l->parent.text, note, g->record.why,
               l->same.text);
        return;
    }
    l->line.len = 0;
    json_field(&l->line, "url", l->e.text);
    json_field(&l->line, "type", g->type);
    json_field(&l->line, "referrer", l->parent.text);
    json_field(&l->line, "outcome", outcome_name(g->outcome));
    if (g->record.why[0])
        json_field(&l->line, "reason", g->record.why);
    if (g->record.change)
        json_field(&l->line, "change", change_name(g->record.change));
    if (l->same.text[0])
        json_field(&l->line, "same_as", l->same.text);
    buf_byte(&l->line, 0);
    printf("{\"status\":%d,\"depth\":%u,\"size\":%" PRIu64 "%s}\n", g->status,
           l->e.depth, g->size, l->line.p);
}

void list_pages(const config *c)
{
    lister *l = kit_alloc(sizeof *l);
    l->f = frontier_open(c->dir, true, 0);
    l->json = c->json_stats || c->json_lines;
    l->latest = frontier_latest(l->f);
    walker w = {list_group, NULL, l};
    frontier_walk(l->f, &w);
    free(l->latest);
    frontier_close(l->f);
    free(l->line.p);
    same_text_free(&l->texts);
    free(l);
    if (fflush(stdout) || ferror(stdout))
        kit_die("standard output cannot be written");
}
