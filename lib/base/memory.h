/* memory.h - bodies of filters: zeroed, aligned to cache lines, on huge pages if
 * large. */
#ifndef SN_MEMORY_H
#define SN_MEMORY_H
#include "seen.h"

/* LEN zeroed bytes aligned to 64, from A or, if A has no functions, from the
 * system. Large ones are mapped on 2 MiB boundaries and request huge pages, which make
 * bodies beyond the caches two to three times as fast. NULL if there is no memory. */
void *sn_body_alloc(const seen_allocator *a, uint64_t len);
void sn_body_free(const seen_allocator *a, void *body, uint64_t len);

/* LEN zeroed bytes, for small structures. Lengths come from files: one that cannot be
 * addressed gives NULL and is never truncated. */
void *sn_alloc(const seen_allocator *a, uint64_t len);
void sn_free(const seen_allocator *a, void *p, uint64_t len);

/* Shrinks BODY to its first TO bytes and may move it; NULL if there is no memory to
 * move it, and BODY is then unchanged. */
void *sn_body_shrink(const seen_allocator *a, void *body, uint64_t from, uint64_t to);

/* Grows BODY to NEW_LEN bytes, the added ones zero. Large bodies from the system are
 * moved by page tables, so that old and new never take memory at the same time. NULL:
 * no memory, BODY is unchanged. */
void *sn_body_regrow(const seen_allocator *a, void *body, uint64_t len,
                     uint64_t new_len);

/* Grows the array at *ARRAY, of *ROOM elements, to at least N elements of ELEMENT
 * bytes: an eighth more than requested, contents kept. False: no memory, nothing
 * changed. */
bool sn_array_room(const seen_allocator *a, void *array, uint64_t *room, uint64_t n,
                   size_t element);

/* SEEN_EINVAL unless A has both functions or neither; NULL is the system's. */
int sn_check_allocator(const seen_allocator *a);
#endif
