/* crawler.h - the crawler's parts, and how they fit together.
 *
 *   store      where addresses wait and are remembered: the log, or Redis
 *   schedule   which host may be asked now (schedule.c)
 *   engine     brings the answer (fetch.h); with -j, threads that also read it
 *   on_answer  acts on it: redirects, links; robots.txt (on_answer.c, on_robots.c)
 *   retry      whether and when to ask again after a failure (retry.c)
 *
 * One thread decides, in one loop; with -j others fetch and read pages for it. */
#ifndef CRAWL_CRAWLER_H
#define CRAWL_CRAWLER_H

#include "found.h"
#include "net/digest.h"
#include "net/rate_limit.h"
#include "queue/host.h"
#include "report.h"
#include "queue/scope.h"
#include "queue/session_ids.h"
#include "queue/worth.h"

typedef struct stats {
    uint64_t pages;    /* done, whatever the outcome */
    uint64_t fetched;  /* requests for pages that were answered */
    uint64_t requests; /* all requests sent, retries and robots.txt too */
    uint64_t retries, bytes, links, found;
    uint64_t outcome[OUT_KINDS], status[6]; /* status / 100 */
    uint64_t change[CHANGES]; /* with --again */
    uint64_t dull; /* looked like an earlier page of the host */
    uint64_t good; /* answered with a status below 400 */
    /* the latest reason for each outcome, and the page it is of */
    char why[OUT_KINDS][FETCH_WHY], whose[OUT_KINDS][200];
    uint64_t skipped[SCOPE_VERDICTS], unreadable, nofollow;
    uint64_t earlier; /* pages done before this run */
    uint64_t started; /* milliseconds */
} stats;

typedef struct crawler crawler;

/* Where addresses wait and are remembered. */
typedef struct store {
    /* Records that G is done and adds the addresses in L that were not seen before. J
     * is NULL for seeds and other addresses that no page brought. */
    void (*done)(crawler *c, job *j, group *g, found *l);
    job *(*next)(crawler *c, host *h); /* from H's queue, or NULL */
    uint64_t (*queued)(const host *h);
    void (*commit)(crawler *c, bool sync);
    size_t (*pending)(crawler *c);
    void (*refill)(crawler *c);        /* gets more work from elsewhere, if any */
    bool (*finished)(crawler *c);      /* nothing waits here: is that the end? */
    void (*idle)(crawler *c, host *h); /* H has nothing left and nothing in flight */
    const char *(*referrer)(crawler *c, job *j); /* valid until the next call */
    void (*close)(crawler *c);
} store;

struct crawler {
    config *conf;
    const store *store;
    void *store_state;
    uint64_t (*seen_count)(crawler *c), (*seen_bytes)(crawler *c),
        (*disk_bytes)(crawler *c);
    double (*seen_lost)(crawler *c);
    const uint64_t *(*outputs)(crawler *c); /* their sizes when a crawl is resumed */
    bool again;    /* pages are compared with the crawl before */
    bool repaired; /* the log has a hole: the seeds may have been in it */
    scope *scope;
    hosts hosts;
    spill *spill;
    worth *worth;
    session_ids *sessions;
    host *asked; /* the host of the page that is being read */
    report report;
    int loop;
    engine *engine;
    cookie_jar *jar; /* NULL: no cookies */
    stats stats;
    tally tally;
    rate_limit rate;
    struct status_server *status; /* NULL: nobody wants to see it */
    digester digester;
    digest digest; /* of the page being read, unless the thread that fetched it has read it */
    found found;   /* what it brings: in scope */
    unsigned level; /* with --depth: only pages up to this depth are fetched */
    unsigned in_flight;
    uint64_t now, queued, taken; /* taken: pages begun, for --max-pages */
    job *spare;
    volatile int *stop; /* a signal */
    bool cancelling;
    uint64_t random;
};

/* schedule.c */
void crawler_run(crawler *c);
void crawler_update(crawler *c, host *h); /* after anything about H changed */
void crawler_front(crawler *c, job *j);   /* J waits at the front of its host */
void crawler_wait(crawler *c, host *h, double seconds);
void crawler_ask_robots(crawler *c, host *h, const char *text, size_t len,
                        unsigned hops);
double crawler_jitter(crawler *c); /* 0.5 to 1.5 */

/* an address as a job, and back to the pool */
job *job_new(crawler *c, const char *text, size_t len);
void job_drop(crawler *c, job *j);
bool job_is_deepest(const crawler *c, const job *j); /* its links are beyond --depth */

/* Queues the seeds and puts their hosts in scope; dies if one is not a URL (found.c). */
void seeds_queue(crawler *c, const words *seeds);

/* on_answer.c, on_robots.c */
void on_page_answer(fetch *f);
void on_robots_answer(fetch *f);
void finish_unfetched(crawler *c, job *j, int outcome);
void finish_session(crawler *c, job *j); /* queues its address without the session id */

/* retry.c: takes J off its connection, and says when its host may be asked again. */
void free_connection(crawler *c, job *j);

/* Queues J for another attempt, or returns false if it failed for good. */
bool retry_later(crawler *c, job *j);
double retry_wait(crawler *c, unsigned attempts); /* seconds before the next one */

/* store_log.c; store_redis.c and its rooms (store_redis.h) */
void store_log_open(crawler *c, const char *dir);
void store_redis_open(crawler *c);

/* summary.c */
void summary_progress(crawler *c, bool last);
void summary_print(crawler *c, bool interrupted);
void list_pages(const config *c);

#endif
