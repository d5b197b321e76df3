/* facts.h - what the log keeps about a page beyond its status: when it was fetched, what
 * its content looks like, what to ask with next time, why it failed.
 *
 *   varint of bits, then for each bit that is set, in this order:
 *   1 fetched   varint, seconds since 1970
 *   2 hash      u64 of the text (fingerprint.h)
 *   4 modified  varint, Last-Modified in seconds since 1970
 *   8 etag      varint length, bytes
 *  16 why       varint length, bytes: the failure in words
 *  32 dull      no bytes: it looks like an earlier page of its host (worth.h)
 *  64 change    varint: what --again found, enum change
 * 128 took      varint: milliseconds from the request to the end of the answer, and one */
#ifndef CRAWL_FACTS_H
#define CRAWL_FACTS_H

#include "buf.h"

enum { FACT_ETAG = 200, FACT_WHY = 256 };

/* What became of a page since the crawl before; no change is known of a first crawl. */
enum change { CHANGE_NONE, CHANGE_NEW, CHANGE_CHANGED, CHANGE_GONE, CHANGE_UNCHANGED, CHANGES };
const char *change_name(unsigned change); /* "" for CHANGE_NONE */

/* All zero: nothing is known. */
typedef struct page_facts {
    uint64_t fetched, hash, modified;
    uint64_t took; /* milliseconds and one; 0: not known */
    bool dull;
    unsigned change;
    char etag[FACT_ETAG], why[FACT_WHY];
} page_facts;

void facts_write(buf *b, const page_facts *f);

/* Reads facts from *P on and moves it; false if they are cut off or make no sense. */
bool facts_read(const uint8_t **p, const uint8_t *end, page_facts *f);

#endif
