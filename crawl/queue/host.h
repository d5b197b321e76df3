/* host.h - the hosts of a crawl: their queues, and when each may be asked next.
 *
 * A host is an origin: scheme, name, port. All hosts that have something to fetch and
 * may be asked wait in a heap, the earliest on top. */
#ifndef CRAWL_HOST_H
#define CRAWL_HOST_H

#include "backlog.h"
#include "net/fetch.h"
#include "page/fingerprint.h"
#include "page/robots.h"
#include "page_record.h"
#include "tally.h"

typedef struct host host;
typedef struct job job;

/* Connections to one address, whatever the hosts behind it. */
typedef struct ip_load {
    char text[48];
    unsigned in_flight, put_off; /* put_off: hosts that recently found it busy */
    struct ip_load *chain;
} ip_load;

/* One address being fetched, or waiting in memory to be fetched again. */
struct job {
    fetch f; /* first: a fetch's job is itself */
    char *text;
    size_t room;
    host *h;
    uint64_t id, at, parent_at;
    unsigned depth, hops, attempts;
    int kind;
    ip_load *ip;         /* counted there while in flight */
    uint64_t not_before; /* milliseconds */
    uint64_t began;      /* milliseconds: when the request was sent */
    uint64_t reserved;   /* bytes, for --limit-rate */
    char *referrer;      /* in shared mode: carried along */
    char *token;         /* in shared mode: as the queue holds it */
    fingerprint print;   /* of the page, once it is read; zero: not known */
    bool dull;           /* it looks like an earlier page */
    page_record before;  /* with --again: what the previous crawl knows of it */
    int before_status;   /* 0: nothing */
    unsigned change;     /* enum change */
    job *next;
};

enum { ROBOTS_UNKNOWN, ROBOTS_ASKED, ROBOTS_KNOWN };

struct host {
    host *chain; /* in the table */
    char *origin;
    uint32_t origin_len, heap_pos; /* 1-based; 0: not in the heap */
    uint64_t hash, key;
    backlog queue;
    unsigned front_count;
    job *front; /* goes before the queue: retries, targets of redirects */
    job *held;  /* popped from the queue, but of a later level */
    uint64_t ready_at;
    uint64_t pages;
    uint64_t fresh, dull;    /* pages that showed something new, or did not */
    unsigned void_names;     /* parameters that are session ids here */
    unsigned session_proofs; /* texts seen under two session ids */
    uint64_t last_proof;     /* the latest of them */
    unsigned in_flight, fails, robots_tries;
    uint8_t robots_state, dead; /* dead: the outcome for all that is left */
    char *dead_why;             /* in words, or NULL */
    double delay;               /* seconds; ours or the host's own */
    robots *robots;
    uint64_t robots_until;
    ip_load *ip;
    host_tally tally;
    uint16_t *lanes; /* with -j: requests in flight by thread */
    void *lease;     /* shared mode */
};

enum { HOST_IPS = 1 << 15 };

typedef struct hosts {
    host **table;
    size_t buckets, count;
    host **heap; /* 1-based */
    size_t waiting, heap_room;
    ip_load *ips[HOST_IPS];
    double delay; /* of new hosts */
} hosts;

/* The host of U, made if it is new. */
host *hosts_get(hosts *t, const url *u);

/* Puts H into the heap with KEY, moves it there, or takes it out (UINT64_MAX). */
void hosts_wait(hosts *t, host *h, uint64_t key);

/* The host whose time comes first; NULL if none waits. */
host *hosts_first(const hosts *t);

/* The counter of an address. */
ip_load *hosts_ip(hosts *t, const char *address);

/* Calls F for each host. */
void hosts_each(hosts *t, void (*f)(void *ctx, host *h), void *ctx);

void hosts_free(hosts *t, spill *s);

#endif
