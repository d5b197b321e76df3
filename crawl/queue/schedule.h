/* schedule.h - whose turn it is: hosts by time, jobs by order; and the store behind it.
 *
 * A host is asked again only when its delay has passed since its last answer, and by
 * no more connections than allowed. What one host does never holds up another. */
#ifndef CRAWL_SCHEDULE_H
#define CRAWL_SCHEDULE_H

#include "config.h"
#include "frontier.h"
#include "host.h"
#include "page/found_links.h"
#include "scope.h"

typedef struct schedule schedule;

/* Where addresses wait and are remembered: the log, or Redis (shared/). */
typedef struct store {
    /* Records that G is done and adds the addresses in L that were not seen before. J
     * is NULL for seeds and other addresses that no page brought. */
    void (*done)(schedule *q, job *j, group *g, found_links *l);
    job *(*next)(schedule *q, host *h); /* from H's queue, or NULL */
    uint64_t (*queued)(const host *h);
    void (*commit)(schedule *q, bool sync);
    size_t (*pending)(schedule *q);
    void (*refill)(schedule *q);        /* gets more work from elsewhere, if any */
    bool (*finished)(schedule *q);      /* nothing waits here: is that the end? */
    void (*idle)(schedule *q, host *h); /* H has nothing left and nothing in flight */
    const char *(*referrer)(schedule *q, job *j); /* valid until the next call */
    void (*close)(schedule *q);

    uint64_t (*seen_count)(schedule *q); /* addresses */
    uint64_t (*seen_bytes)(schedule *q);
    uint64_t (*disk_bytes)(schedule *q);
    double (*seen_lost)(schedule *q); /* pages, expected */
} store;

/* What a store needs of the output files, which it knows nothing else about: their
 * sizes belong to a commit of the log, and a shared crawl withdraws refused pages. */
typedef struct output_hooks {
    void *outputs;
    void (*flush)(void *outputs, uint64_t sizes[FRONTIER_OUTPUTS], bool sync);
    uint32_t (*number)(const void *outputs); /* of the page written last */
    void (*confirm)(void *outputs, const uint32_t *refused, size_t n);
} output_hooks;

struct schedule {
    config *conf;
    const store *store;
    void *store_state;
    output_hooks hooks;
    scope *scope;
    hosts hosts;
    spill *spill;
    job *spare;
    unsigned level; /* with --depth: only pages up to this depth are fetched */
    unsigned in_flight;
    uint64_t now;                    /* milliseconds */
    uint64_t queued, found, earlier; /* earlier: pages done before this run */
    uint64_t random;
    bool again;    /* pages are compared with the previous crawl */
    bool repaired; /* the log has a hole: the seeds may have been in it */
};

/* An address as a job, and back to the pool. */
job *job_new(schedule *q, const char *text, size_t len);
void job_drop(schedule *q, job *j);
bool job_is_deepest(const schedule *q, const job *j); /* its links exceed --depth */

/* H changed: moves it to its place among the waiting hosts. */
void schedule_update(schedule *q, host *h);
/* J waits at the front of its host. */
void schedule_front(schedule *q, job *j);
/* H is not asked for SECONDS from now on. */
void schedule_wait(schedule *q, host *h, double seconds);
double schedule_jitter(schedule *q); /* 0.5 to 1.5 */

/* The next job of H, or NULL if none may be fetched now. */
job *schedule_next(schedule *q, host *h);
/* This level is done: begins the next one. False if there is none. */
bool schedule_next_level(schedule *q);
/* Counts a request to H, and returns the thread (-j) that shall send it. */
unsigned schedule_lane(const schedule *q, host *h);

/* Opens the log in DIR as the store of Q, or creates it; sets *SIZES to those of the
 * output files at the last commit. Dies if it cannot. */
void store_log_open(schedule *q, const char *dir, const uint64_t **sizes);

#endif
