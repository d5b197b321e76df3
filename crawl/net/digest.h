/* digest.h - what a page says, read from its answer alone: its fingerprint and its
 * links, resolved and in one spelling. Nothing of the crawl is needed, so the thread
 * that fetched a page also reads it (fetch_threads.c); what to do with the links the
 * crawl decides. */
#ifndef CRAWL_DIGEST_H
#define CRAWL_DIGEST_H

#include "fetch.h"
#include "found.h"
#include "page/fingerprint.h"
#include "page/page.h"

typedef struct digest {
    fingerprint print;
    found links;
    buf kinds;           /* a byte for each link: its enum page_link_kind */
    uint64_t unreadable; /* links that are not addresses */
    uint64_t nofollow;   /* links that are not to be followed */
} digest;

/* What reading needs, reused from page to page; all zero at first. */
typedef struct digester {
    page page;
    buf utf8, link; /* of pages in another encoding */
} digester;

/* Whether the answer F is a page to be read. */
bool digest_wanted(const fetch *f);

/* Reads the page F, and its links if F wants them; sets its noindex and nofollow. */
void digest_page(digester *r, const config *c, fetch *f, digest *out);

void digest_free(digest *d);
void digester_free(digester *r);

#endif
