/* snapshot.c - copies what the status page shows. */
#include "snapshot.h"

#include <sys/resource.h>
#include <time.h>

static host_line line_of(const schedule *q, const host *h)
{
    host_line l = {.tally = h->tally,
                   .waiting = q->store->queued(h) + h->front_count + (h->held != NULL),
                   .in_flight = h->in_flight};
    snprintf(l.origin, sizeof l.origin, "%s", h->origin);
    if (h->dead)
        snprintf(l.state, sizeof l.state, "%s%s%.200s", outcome_name(h->dead),
                 h->dead_why && *h->dead_why ? ": " : "",
                 h->dead_why ? h->dead_why : "");
    return l;
}

void snapshot_take(schedule *q, const stats *s, const tally *t, snapshot *out)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    out->s = *s;
    out->taken = (uint64_t)time(NULL);
    out->seconds = (double)(loop_now() - s->started) / 1000;
    out->cpu = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
               (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
    out->queued = q->queued;
    out->found = q->found;
    out->earlier = q->earlier;
    out->hosts = q->hosts.count;
    out->in_flight = q->in_flight;
    out->has_seen =
        !q->conf->redis; /* in a shared crawl, asking would wait for the server */
    if (out->has_seen) {
        out->seen = q->store->seen_count(q);
        out->seen_bytes = q->store->seen_bytes(q);
        out->disk = q->store->disk_bytes(q);
        out->lost = q->store->seen_lost(q);
    }
    out->t = *t;
    tally_sort(&out->t);
    for (int k = 0; k < TALLY_LISTS; k++)
        for (size_t i = 0; i < out->t.listed[k]; i++)
            out->list[k][i] = line_of(q, out->t.list[k][i]);
}

double snapshot_rate(const snapshot *s, unsigned seconds)
{
    const tally *t = &s->t;
    uint64_t n = t->second < seconds ? t->second : seconds, sum = 0;
    if (n > TALLY_SECONDS)
        n = TALLY_SECONDS;
    for (uint64_t i = 0; i < n; i++)
        sum += t->pages[(t->second - 1 - i) % TALLY_SECONDS];
    return n ? (double)sum / (double)n : 0;
}
