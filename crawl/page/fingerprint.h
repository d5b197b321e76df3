/* fingerprint.h - what a page's text looks like, in two words.
 *
 * Markup does not count, so pages that differ only in their links have one fingerprint.
 * Costs about 0.1 ns per byte of a usual page. */
#ifndef CRAWL_FINGERPRINT_H
#define CRAWL_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fingerprint {
    uint64_t hash;    /* of the text: equal text, equal hash */
    uint64_t simhash; /* similar texts differ in few bits */
} fingerprint;

/* Never zero, so that zero can mean "not known". */
fingerprint fingerprint_of(const char *page, size_t len);

/* Whether two simhashes are of near-duplicates. */
enum { NEAR_BITS = 3 };
static inline bool simhash_near(uint64_t a, uint64_t b)
{
    return __builtin_popcountll(a ^ b) <= NEAR_BITS;
}

#endif
