/* retry.c - decides after a failure whether and when to try a page again. */
#include "crawler.h"

enum { RETRIES_WAITING = 1000 }; /* of one host; beyond that a failure is final */

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

double retry_wait(crawler *c, unsigned attempts)
{
    double s = c->conf->retry_wait * schedule_jitter(&c->q);
    for (unsigned i = 1; i < attempts && s < c->conf->max_wait; i++)
        s *= 2;
    return s < c->conf->max_wait ? s : c->conf->max_wait;
}

bool retry_later(crawler *c, job *j)
{
    fetch *f = &j->f;
    /* "Too many" and "not now" speak for the whole host. */
    bool whole = f->outcome == OUT_OK && (f->status == 429 || f->status == 503);
    if (!is_transient(f) || j->attempts > c->conf->retries || j->h->dead ||
        j->h->front_count >= RETRIES_WAITING) {
        if (whole)
            schedule_wait(&c->q, j->h, fetch_wait(f, 0));
        return false;
    }
    double wait = fetch_wait(f, retry_wait(c, j->attempts));
    if (whole)
        schedule_wait(&c->q, j->h, wait);
    j->not_before = c->q.now + (uint64_t)(wait * 1000);
    c->stats.retries++;
    fetch_free(f); /* it may wait long, and needs no memory until then */
    f->head = f->body = f->sent = f->location_room = (buf){0};
    schedule_front(&c->q, j);
    return true;
}

enum { HOST_PATIENCE = 8 }; /* connections that fail in a row before a host is left */

/* For every answer: frees the connection, and sets when the host may be asked again. */
void free_connection(crawler *c, job *j)
{
    host *h = j->h;
    fetch *f = &j->f;
    h->in_flight--;
    if (h->lanes)
        h->lanes[f->lane]--;
    c->q.in_flight--;
    c->stats.bytes += f->size;
    if (j->ip) {
        j->ip->in_flight--;
        j->ip->put_off -= j->ip->put_off / 8;
    }
    if (f->address[0] && (!h->ip || strcmp(h->ip->text, f->address)))
        h->ip = hosts_ip(&c->q.hosts, f->address);
    c->q.now = loop_now();
    f->took = c->q.now - j->began;
    rate_limit_end(&c->rate, j->reserved, f->wire);
    tally_answer(&c->tally, h, f->took, f->wire, f->outcome != OUT_OK);
    schedule_wait(&c->q, h, h->delay);
    if (f->outcome == OUT_OK)
        h->fails = 0;
    else if (f->outcome == OUT_CONNECT || f->outcome == OUT_DNS ||
             f->outcome == OUT_TIMEOUT)
        h->fails++;
    if (h->fails >= HOST_PATIENCE && !h->dead && !c->cancelling)
        h->dead = OUT_HOST;
}
