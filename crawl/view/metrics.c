/* metrics.c - a running crawl in the text format of Prometheus (0.0.4).
 *
 * No metric has a host as a label: strangers choose how many hosts there are, and what
 * they are called. */
#include "markup.h"
#include "seen.h"
#include "snapshot.h"

static void describe(buf *b, const char *name, const char *type, const char *help)
{
    markup_add(b, "# HELP seen_crawl_%s %s\n# TYPE seen_crawl_%s %s\n", name, help,
               name, type);
}

static void put(buf *b, const char *name, const char *type, double value,
                const char *help)
{
    describe(b, name, type, help);
    markup_add(b, "seen_crawl_%s %.15g\n", name, value);
}

static void put_answer_times(buf *b, const tally *t)
{
    describe(b, "answer_seconds", "histogram",
             "How long answers took, from request to end.");
    for (int i = 0; i < TALLY_BUCKETS; i++)
        markup_add(b, "seen_crawl_answer_seconds_bucket{le=\"%g\"} %llu\n",
                   tally_limit(i) / 1000.0, (unsigned long long)t->within[i]);
    markup_add(
        b,
        "seen_crawl_answer_seconds_bucket{le=\"+Inf\"} %llu\n"
        "seen_crawl_answer_seconds_sum %.3f\nseen_crawl_answer_seconds_count %llu\n",
        (unsigned long long)t->answers, (double)t->took / 1000,
        (unsigned long long)t->answers);
}

void status_metrics(buf *b, const snapshot *s)
{
    describe(b, "info", "gauge", "The version of the crawler.");
    markup_add(b, "seen_crawl_info{version=\"%s\"} 1\n", seen_version());
    put(b, "pages_total", "counter", (double)s->s.pages,
        "Pages done in this run, whatever the outcome.");
    put(b, "pages_earlier", "gauge", (double)s->earlier, "Pages done before this run.");
    describe(b, "outcomes_total", "counter", "Pages by outcome.");
    for (int i = 0; i < OUT_KINDS; i++)
        markup_add(b, "seen_crawl_outcomes_total{outcome=\"%s\"} %llu\n",
                   outcome_name(i), (unsigned long long)s->s.outcome[i]);
    describe(b, "answers_total", "counter",
             "Answers by the first digit of their status.");
    for (int i = 1; i < 6; i++)
        markup_add(b, "seen_crawl_answers_total{status=\"%dxx\"} %llu\n", i,
                   (unsigned long long)s->s.status[i]);
    put(b, "requests_total", "counter", (double)s->s.requests,
        "Requests sent, retries and robots.txt too.");
    put(b, "retries_total", "counter", (double)s->s.retries,
        "Failures that are tried again.");
    put(b, "received_bytes_total", "counter", (double)s->t.wire,
        "Bytes as they came over the wire.");
    put(b, "links_total", "counter", (double)s->s.links, "Links read.");
    put(b, "found_total", "counter", (double)s->found, "New addresses found.");
    put(b, "nothing_new_total", "counter", (double)s->s.dull,
        "Pages that looked like an earlier one.");
    put(b, "queue", "gauge", (double)s->queued, "Addresses that wait.");
    put(b, "in_flight", "gauge", s->in_flight, "Requests that are not answered yet.");
    put(b, "hosts", "gauge", (double)s->hosts, "Hosts met.");
    if (s->has_seen) {
        put(b, "seen_addresses", "gauge", (double)s->seen,
            "Addresses in the seen-set.");
        put(b, "seen_bytes", "gauge", (double)s->seen_bytes, "Memory of the seen-set.");
        put(b, "disk_bytes", "gauge", (double)s->disk,
            "Bytes of the log and of the queues on disk.");
        put(b, "lost_expected", "gauge", s->lost,
            "Pages lost to false positives, expected.");
    }
    put_answer_times(b, &s->t);
    put(b, "cpu_seconds_total", "counter", s->cpu, "CPU time of the process.");
    put(b, "uptime_seconds", "gauge", s->seconds, "Seconds since this run began.");
}
