/* seen_bitmap.h - an exact set of integers below a bound. seen.h includes it, and what
 * it says of errors, threads and stability holds here, too. */
#ifndef SEEN_BITMAP_H
#define SEEN_BITMAP_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct seen_bitmap seen_bitmap;

/* Integers 0 .. bound-1, one bit each, in memory from A (NULL: the system's). Threads:
 * as for filters, without the exception. SEEN_EINVAL if BOUND is 0 or above 2^49;
 * SEEN_ENOMEM. */
SEEN_API int seen_bitmap_new(uint64_t bound, const seen_allocator *a,
                             seen_bitmap **out);
SEEN_API void seen_bitmap_free(seen_bitmap *b); /* NULL is fine */

/* An index outside is SEEN_ERANGE everywhere, never a silent no. */
SEEN_API uint64_t seen_bitmap_bound(const seen_bitmap *b);
SEEN_API int seen_bitmap_set(seen_bitmap *b, uint64_t i);       /* SEEN_NEW, SEEN_DUP */
SEEN_API int seen_bitmap_clear(seen_bitmap *b, uint64_t i);     /* 1 was set, 0 not */
SEEN_API int seen_bitmap_get(const seen_bitmap *b, uint64_t i); /* 1, 0 */
/* Sets N integers. SEEN_OK, or SEEN_ERANGE if one is outside: those before it are set.
 * *TAKEN is how many were; NULL if not wanted. */
SEEN_API int seen_bitmap_set_many(seen_bitmap *b, const uint64_t *i, size_t n,
                                  size_t *taken);
SEEN_API uint64_t seen_bitmap_count(const seen_bitmap *b);
/* The number of set bits in from .. to-1. SEEN_ERANGE; SEEN_EINVAL if FROM > TO. */
SEEN_API int seen_bitmap_count_range(const seen_bitmap *b, uint64_t from, uint64_t to,
                                     uint64_t *out);
/* The first set bit at or after FROM; the bound if no such bit is set. */
SEEN_API uint64_t seen_bitmap_next(const seen_bitmap *b, uint64_t from);
/* The last set bit at or before FROM; the bound if no such bit is set. */
SEEN_API uint64_t seen_bitmap_prev(const seen_bitmap *b, uint64_t from);
/* Fills OUT with up to N set bits from *FROM on, below TO, and moves *FROM behind
 * the last; returns how many. Loop until it returns 0. */
SEEN_API size_t seen_bitmap_list(const seen_bitmap *b, uint64_t *from, uint64_t to,
                                 uint64_t *out, size_t n);
/* DST becomes the union, intersection or difference. SEEN_EMISMATCH if the bounds
 * differ. */
SEEN_API int seen_bitmap_or(seen_bitmap *dst, const seen_bitmap *src);
SEEN_API int seen_bitmap_and(seen_bitmap *dst, const seen_bitmap *src);
SEEN_API int seen_bitmap_andnot(seen_bitmap *dst, const seen_bitmap *src);

#ifdef __cplusplus
}
#endif
#endif
