/* memory.h - bodies of filters: zeroed, on cache lines, on huge pages when large. */
#ifndef SN_MEMORY_H
#define SN_MEMORY_H
#include "seen.h"

/* LEN zeroed bytes aligned to 64, from A or, if A has no functions, from the
 * system: mapped on 2 MiB boundaries with huge pages asked for when large, because
 * they are worth a factor of two to three at the size of memory. NULL if none. */
void *sn_body_alloc(const seen_allocator *a, uint64_t len);
void sn_body_free(const seen_allocator *a, void *body, uint64_t len);

/* Small things, zeroed. Lengths come from files: one that cannot be addressed is NULL,
 * and is not cut to one that can. */
void *sn_alloc(const seen_allocator *a, uint64_t len);
void sn_free(const seen_allocator *a, void *p, uint64_t len);

/* The same body with only its first TO bytes, perhaps moved; NULL if there is no memory
 * to move it; BODY is then unchanged. */
void *sn_body_shrink(const seen_allocator *a, void *body, uint64_t from, uint64_t to);

/* BODY with NEW_LEN bytes, the added ones zero. Large bodies of the system are moved by
 * page tables, so that old and new never take memory at the same time. NULL: BODY is
 * unchanged. */
void *sn_body_regrow(const seen_allocator *a, void *body, uint64_t len,
                     uint64_t new_len);

/* Makes the array at *ARRAY, of *ROOM elements, hold at least N of ELEMENT bytes: an
 * eighth more than asked for, contents kept. False: no memory, nothing changed. */
bool sn_array_room(const seen_allocator *a, void *array, uint64_t *room, uint64_t n,
                   size_t element);

/* SEEN_EINVAL unless A has both functions or none; NULL is the system's. */
int sn_check_allocator(const seen_allocator *a);
#endif
