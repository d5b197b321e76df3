/* page_extract.h - what a page says: its fingerprint and its links, resolved and in one
 * spelling.
 *
 * Only the answer is needed, so the thread that fetched a page also reads it
 * (fetch_threads.c); the crawl decides what to do with the links. */
#ifndef CRAWL_PAGE_EXTRACT_H
#define CRAWL_PAGE_EXTRACT_H

#include "fingerprint.h"
#include "found_links.h"
#include "net/fetch.h"
#include "page.h"

typedef struct page_extract {
    fingerprint print;
    found_links links;
    buf kinds;           /* a byte for each link: its enum page_link_kind */
    uint64_t unreadable; /* links that are not addresses */
    uint64_t nofollow;   /* links that are not to be followed */
} page_extract;

/* Buffers for reading, reused from page to page; all zero at first. */
typedef struct page_extractor {
    page page;
    buf utf8, link; /* of pages in another encoding */
} page_extractor;

/* Whether the answer F is a page to be read. */
bool page_extract_wanted(const fetch *f);

/* Sets noindex and nofollow of F as its header fields (X-Robots-Tag) say. */
void page_header_rules(const config *c, fetch *f);

/* Reads the page F, and its links if F wants them; sets its noindex and nofollow. */
void page_extract_read(page_extractor *r, const config *c, fetch *f, page_extract *out);

void page_extract_free(page_extract *d);
void page_extractor_free(page_extractor *r);

/* Reads pages in the threads that fetch them, into f->extract. */
extern const fetch_reader page_extract_reader;

#endif
