/* trap_detector.h - whether the pages of a host still show anything new.
 *
 * A host may show pages that look like earlier ones: BUDGET of them, and four more for
 * each page that is new. A calendar without end, a site that makes new addresses for
 * old pages, an error page that says 200 and links on: all of them use up their budget
 * and end. Real sites bring new text with nearly every page and never come near it. */
#ifndef CRAWL_TRAP_DETECTOR_H
#define CRAWL_TRAP_DETECTOR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct trap_detector trap_detector;

trap_detector *
trap_detector_new(void); /* 2 MB, for all hosts; dies if memory runs out */
void trap_detector_free(trap_detector *t);

/* Whether a page of HOST (any hash of it) with this SIMHASH looks like one of its
 * earlier pages, and remembers it. Pages long gone may be forgotten; then one more page
 * counts as new. */
bool trap_detector_dull(trap_detector *t, uint64_t host, uint64_t simhash);

/* Whether a host with so many new and dull pages has used up its budget; 0: none. */
bool trap_detector_spent(uint64_t budget, uint64_t fresh, uint64_t dull);

#endif
