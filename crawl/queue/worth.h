/* worth.h - what a host's pages are worth: whether they show anything new.
 *
 * A host may show pages that look like earlier ones: BUDGET of them, and four more for
 * each page that is new. A calendar without end, a site that makes new addresses for old
 * pages, an error page that says 200 and links on: all of them use up their budget and
 * end. Real sites bring new text with nearly every page and never come near it. */
#ifndef CRAWL_WORTH_H
#define CRAWL_WORTH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct worth worth;

worth *worth_new(void); /* 2 MB, for all hosts; dies if memory runs out */
void worth_free(worth *w);

/* Whether a page of HOST (any hash of it) with this SIMHASH looks like one of its
 * earlier pages, and remembers it. Pages long gone may be forgotten; then one more page
 * counts as new. */
bool worth_dull(worth *w, uint64_t host, uint64_t simhash);

/* Whether a host with so many new and dull pages has used up its budget; 0: none. */
bool worth_spent(uint64_t budget, uint64_t fresh, uint64_t dull);

#endif
