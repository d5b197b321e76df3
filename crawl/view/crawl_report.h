/* crawl_report.h - seen crawl --report: a crawl as one HTML file with plots. */
#ifndef CRAWL_CRAWL_REPORT_H
#define CRAWL_CRAWL_REPORT_H

#include "config.h"

/* Reads the log in c->dir, also of a crawl that is running, and replaces c->out, or
 * else DIR/report.html, with the report. Counts what --list lists. Dies on failure. */
void crawl_report(const config *c);

#endif
