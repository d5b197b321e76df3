/* snapshot.h - a crawl at one moment, without pointers into it, so that another thread
 * may read it while the crawl goes on. */
#ifndef CRAWL_SNAPSHOT_H
#define CRAWL_SNAPSHOT_H

#include "queue/schedule.h"
#include "stats.h"

typedef struct host_line {
    char origin[200]; /* cut if it is longer */
    host_tally tally;
    uint64_t waiting;
    unsigned in_flight;
    char state[WHY_ROOM]; /* why it is given up; empty: it is not */
} host_line;

typedef struct snapshot {
    stats s;
    uint64_t taken; /* seconds since 1970 */
    double seconds; /* since the crawl was started */
    double cpu;     /* seconds, of the process */
    uint64_t queued, found, earlier, hosts, seen, seen_bytes, disk;
    double lost;
    bool has_seen; /* the four above are known: they are not in a shared crawl */
    unsigned in_flight;
    tally t;                                  /* its hosts are below */
    host_line list[TALLY_LISTS][TALLY_HOSTS]; /* the largest first */
} snapshot;

void snapshot_take(schedule *q, const stats *s, const tally *t, snapshot *out);

/* Appends the page of --status, and what Prometheus reads. */
void status_page(buf *b, const snapshot *s);
void status_metrics(buf *b, const snapshot *s);

/* Pages per second over the latest SECONDS at most. */
double snapshot_rate(const snapshot *s, unsigned seconds);

/* status_server.c: serves both at --status in a thread of its own, or dies with what is
 * wrong with the address. The crawl gives it a snapshot once a second and never waits.
 */
typedef struct status_server status_server;
status_server *status_server_start(const config *c);
void status_server_update(status_server *s, schedule *q, const stats *counts,
                          const tally *t);
void status_server_stop(status_server *s);

#endif
