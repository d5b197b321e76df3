/* stats.h - what a crawl counts, for its summary, its status page and its metrics. */
#ifndef CRAWL_STATS_H
#define CRAWL_STATS_H

#include "queue/page_record.h"
#include "queue/scope.h"

typedef struct stats {
    uint64_t pages;    /* done, whatever the outcome */
    uint64_t fetched;  /* requests for pages that were answered */
    uint64_t requests; /* all requests sent, retries and robots.txt too */
    uint64_t retries, bytes, links;
    uint64_t outcome[OUT_KINDS], status[6]; /* status / 100 */
    uint64_t change[CHANGES];               /* with --again */
    uint64_t dull; /* pages that looked like an earlier one of their host */
    uint64_t good; /* answered with a status below 400 */
    /* the latest reason for each outcome, and its page */
    char why[OUT_KINDS][WHY_ROOM], whose[OUT_KINDS][200];
    uint64_t skipped[SCOPE_VERDICTS], unreadable, nofollow;
    uint64_t started; /* milliseconds */
} stats;

#endif
