/* snapshot.c - copies what the status page shows. */
#include "snapshot.h"

#include <sys/resource.h>

static host_line line_of(const crawler *c, const host *h)
{
    host_line l = {.tally = h->tally,
                   .waiting = c->store->queued(h) + h->front_count + (h->held != NULL),
                   .in_flight = h->in_flight};
    snprintf(l.origin, sizeof l.origin, "%s", h->origin);
    if (h->dead)
        snprintf(l.state, sizeof l.state, "%s%s%.200s", outcome_name(h->dead),
                 h->dead_why && *h->dead_why ? ": " : "",
                 h->dead_why ? h->dead_why : "");
    return l;
}

void snapshot_take(crawler *c, snapshot *out)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    out->s = c->stats;
    out->taken = (uint64_t)time(NULL);
    out->seconds = (double)(loop_now() - c->stats.started) / 1000;
    out->cpu = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
               (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
    out->queued = c->queued;
    out->hosts = c->hosts.count;
    out->in_flight = c->in_flight;
    out->has_seen =
        !c->conf->redis; /* elsewhere, it would mean to wait for the server */
    if (out->has_seen) {
        out->seen = c->seen_count(c);
        out->seen_bytes = c->seen_bytes(c);
        out->disk = c->disk_bytes(c);
        out->lost = c->seen_lost(c);
    }
    out->t = c->tally;
    tally_sort(&out->t);
    for (int k = 0; k < TALLY_LISTS; k++)
        for (size_t i = 0; i < out->t.listed[k]; i++)
            out->list[k][i] = line_of(c, out->t.list[k][i]);
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
