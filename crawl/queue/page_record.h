/* page_record.h - what the log keeps about a page beyond its status: when it was
 * fetched, what its content looks like, what to ask with next time, why it failed.
 *
 *   varint of bits, then for each bit that is set, in this order:
 *   1 fetched   varint, seconds since 1970
 *   2 hash      u64 of the text (fingerprint.h)
 *   4 modified  varint, Last-Modified in seconds since 1970
 *   8 etag      varint length, bytes
 *  16 why       varint length, bytes: the failure in words
 *  32 dull      no bytes: it looks like an earlier page of its host (trap_detector.h)
 *  64 change    varint: what --again found, enum change
 * 128 took      varint: milliseconds from the request to the end of the answer, and one
 */
#ifndef CRAWL_PAGE_RECORD_H
#define CRAWL_PAGE_RECORD_H

#include "buf.h"
#include "outcome.h"

/* What became of a page since the previous crawl; a first crawl knows no changes. */
enum change {
    CHANGE_NONE,
    CHANGE_NEW,
    CHANGE_CHANGED,
    CHANGE_GONE,
    CHANGE_UNCHANGED,
    CHANGES
};
const char *change_name(unsigned change); /* "" for CHANGE_NONE */

/* All zero: nothing is known. */
typedef struct page_record {
    uint64_t fetched, hash, modified;
    uint64_t took; /* milliseconds and one; 0: not known */
    bool dull;
    unsigned change;
    char etag[ETAG_ROOM], why[WHY_ROOM];
} page_record;

void page_record_write(buf *b, const page_record *f);

/* Reads a record from *P on and moves *P; false if it is cut off or makes no sense. */
bool page_record_read(const uint8_t **p, const uint8_t *end, page_record *f);

#endif
