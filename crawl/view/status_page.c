/* status_page.c - a running crawl as a page for people: no scripts, everything that
 * strangers chose is escaped. */
#include "human_numbers.h"
#include "markup.h"
#include "snapshot.h"

static void put_numbers(buf *b, const snapshot *s)
{
    char a[32];
    buf_text(b, "<table>\n");
    markup_row(b, "pages done", s->s.pages);
    if (s->earlier)
        markup_row(b, "done before this run", s->earlier);
    markup_row(b, "waiting", s->queued);
    markup_row(b, "in flight", s->in_flight);
    markup_row(b, "hosts", s->hosts);
    markup_add(
        b,
        "<tr><th>pages per second: 10 s, 2 min, whole run</th><td>%.1f, %.1f, %.1f</td>"
        "</tr>\n",
        snapshot_rate(s, 10), snapshot_rate(s, TALLY_SECONDS),
        s->seconds > 0 ? (double)s->s.pages / s->seconds : 0);
    markup_row(b, "requests", s->s.requests);
    markup_row(b, "retries", s->s.retries);
    markup_add(b, "<tr><th>received</th><td>%s</td></tr>\n",
               kit_show_bytes((double)s->t.wire, a));
    markup_row(b, "pages that showed nothing new", s->s.dull);
    if (s->has_seen) {
        markup_row(b, "addresses seen", s->seen);
        markup_add(b, "<tr><th>in memory</th><td>%s</td></tr>\n",
                   kit_show_bytes((double)s->seen_bytes, a));
        markup_add(b, "<tr><th>on disk</th><td>%s</td></tr>\n",
                   kit_show_bytes((double)s->disk, a));
        markup_add(
            b,
            "<tr><th>pages lost to false positives, expected</th><td>%.2g</td></tr>\n",
            s->lost);
    }
    markup_add(b, "<tr><th>CPU seconds</th><td>%.1f</td></tr>\n</table>\n", s->cpu);
}

static void put_rate(buf *b, const snapshot *s)
{
    double y[TALLY_SECONDS];
    size_t n = s->t.second < TALLY_SECONDS ? s->t.second : TALLY_SECONDS;
    char from[32];
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++)
        y[i] = (double)s->t.pages[(s->t.second - n + i) % TALLY_SECONDS];
    snprintf(from, sizeof from, "%zu s ago", n);
    plot_line line = {"pages per second", y};
    buf_text(b, "<h2>Pages per second</h2>\n");
    plot_lines(b, "pages per second", from, "now", n, &line, 1);
}

static void put_answers(buf *b, const snapshot *s)
{
    buf_text(b, "<h2>Answers</h2>\n<table>\n");
    for (int i = 1; i < 6; i++)
        if (s->s.status[i]) {
            char name[4] = {(char)('0' + i), 'x', 'x', 0};
            markup_row(b, name, s->s.status[i]);
        }
    buf_text(b, "</table>\n");
    markup_failures(b);
    for (int i = 1; i < OUT_KINDS; i++)
        markup_failure(b, outcome_name(i), s->s.outcome[i], s->s.why[i], s->s.whose[i]);
    buf_text(b, "</table>\n");
}

static void put_hosts(buf *b, const snapshot *s, int list, const char *title)
{
    buf_text(b, "<h2>");
    buf_text(b, title);
    buf_text(
        b, "</h2>\n<table><tr><th>host</th><th>answers</th><th>failures</th>"
           "<th>waiting</th><th>in flight</th>"
           "<th>mean ms</th><th>slowest ms</th><th>bytes</th><th class=\"text\">given "
           "up</th></tr>\n");
    for (size_t i = 0; i < s->t.listed[list]; i++) {
        const host_line *l = &s->list[list][i];
        const host_tally *t = &l->tally;
        char a[4][32];
        buf_text(b, "<tr><td>");
        markup_text(b, l->origin);
        markup_add(b,
                   "</td><td>%s</td><td>%s</td><td>%s</td><td>%u</td><td>%.0f</td>"
                   "<td>%llu</td><td>%s</td>",
                   kit_show_count(t->answers, a[0]), kit_show_count(t->failures, a[1]),
                   kit_show_count(l->waiting, a[2]), l->in_flight,
                   t->answers ? (double)t->took / (double)t->answers : 0,
                   (unsigned long long)t->slowest,
                   kit_show_bytes((double)t->bytes, a[3]));
        buf_text(b, "<td class=\"text\">");
        markup_text(b, l->state);
        buf_text(b, "</td></tr>\n");
    }
    buf_text(b, "</table>\n");
}

void status_page(buf *b, const snapshot *s)
{
    char date[32];
    markup_begin(b, "seen crawl", 5);
    markup_add(b,
               "<p>%s, %.0f s after its start. For programs: <a "
               "href=\"/metrics\">/metrics</a>.</p>\n",
               markup_time(s->taken, date), s->seconds);
    put_numbers(b, s);
    put_rate(b, s);
    put_answers(b, s);
    put_hosts(b, s, MOST_ANSWERS, "The busiest hosts");
    put_hosts(b, s, SLOWEST_ANSWER, "The slowest answers");
    put_hosts(b, s, MOST_FAILURES, "The most failures");
    markup_end(b);
}
