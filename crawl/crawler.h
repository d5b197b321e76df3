/* crawler.h - a crawl in progress: the schedule, the engine, the outputs, the counts.
 *
 * For the files of crawl/ itself; no room includes it.
 *
 *   crawl_loop  asks the hosts whose time has come, and commits
 *   on_answer   acts on an answer: redirects, links, failures; on_robots on robots.txt
 *   retry       whether and when to ask again after a failure
 *
 * One thread decides, in one loop; with -j others fetch and read pages for it. */
#ifndef CRAWL_CRAWLER_H
#define CRAWL_CRAWLER_H

#include "net/rate_limit.h"
#include "outputs.h"
#include "page/page_extract.h"
#include "queue/schedule.h"
#include "queue/session_ids.h"
#include "queue/trap_detector.h"
#include "view/snapshot.h"

typedef struct crawler {
    config *conf;
    schedule q;
    trap_detector *traps;
    session_ids *sessions;
    host *asked; /* the host of the page that is being read */
    outputs outputs;
    int loop;
    engine *engine;
    cookie_jar *jar; /* NULL: no cookies */
    stats stats;
    tally tally;
    rate_limit rate;
    status_server *status; /* NULL: not wanted */
    page_extractor extractor;
    page_extract extract; /* of the page being read, unless a thread has read it */
    found_links found;    /* what it brings: in scope */
    uint64_t taken;       /* pages begun, for --max-pages */
    volatile int *stop;   /* a signal */
    bool cancelling;
} crawler;

/* crawl_loop.c */
void crawler_run(crawler *c);
void crawler_ask_robots(crawler *c, host *h, const char *text, size_t len,
                        unsigned hops);

/* Queues the seeds and puts their hosts in scope; dies if one is not a URL (seeds.c).
 */
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

/* summary.c */
void summary_progress(crawler *c, bool last);
void summary_print(crawler *c, bool interrupted);
void list_pages(const config *c);

#endif
