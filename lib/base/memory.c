/* memory.c - the caller's allocator, or the system's with huge pages. */
#include "base/memory.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uint64_t)2 << 20)
#define LARGE (2 * HUGE_PAGE)

/* A body of at least LARGE bytes sits in a mapping of its own, one huge page
 * longer than needed so that it can start on a huge-page boundary; the ends that
 * are not needed are given back. */
static void *map_large(uint64_t len)
{
    if (len > SIZE_MAX - HUGE_PAGE - 4096)
        return NULL;
    uint64_t round = (len + 4095) & ~(uint64_t)4095;
    uint8_t *raw = mmap(NULL, round + HUGE_PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    uint64_t lead = -(uintptr_t)raw & (HUGE_PAGE - 1);
    if (lead)
        munmap(raw, lead);
    munmap(raw + lead + round, HUGE_PAGE - lead);
    madvise(raw + lead, round, MADV_HUGEPAGE);
    return raw + lead;
}

void *sn_body_alloc(const seen_allocator *a, uint64_t len)
{
    if (len > SIZE_MAX - 64)
        return NULL;
    if (a->alloc)
        return a->alloc(a->ctx, len, 64);
    if (len >= LARGE)
        return map_large(len);
    uint64_t round = (len + 63) & ~(uint64_t)63;
    void *p = aligned_alloc(64, round ? round : 64);
    if (p)
        memset(p, 0, round);
    return p;
}

void sn_body_free(const seen_allocator *a, void *body, uint64_t len)
{
    if (!body)
        return;
    if (a->alloc)
        a->free(a->ctx, body, len);
    else if (len >= LARGE)
        munmap(body, (len + 4095) & ~(uint64_t)4095);
    else
        free(body);
}

void *sn_alloc(const seen_allocator *a, uint64_t len)
{
    if (len > SIZE_MAX)
        return NULL;
    return a->alloc ? a->alloc(a->ctx, (size_t)len, 16)
                    : calloc(1, len ? (size_t)len : 1);
}

void sn_free(const seen_allocator *a, void *p, uint64_t len)
{
    if (!p)
        return;
    if (a->alloc)
        a->free(a->ctx, p, len);
    else
        free(p);
}

void *sn_body_shrink(const seen_allocator *a, void *body, uint64_t from, uint64_t to)
{
    if (!a->alloc && to >= LARGE) { /* a mapping: its tail goes back */
        uint64_t keep = (to + 4095) & ~(uint64_t)4095,
                 had = (from + 4095) & ~(uint64_t)4095;
        if (had > keep)
            munmap((uint8_t *)body + keep, had - keep);
        return body;
    }
    void *less = sn_body_alloc(a, to);
    if (less) {
        memcpy(less, body, to);
        sn_body_free(a, body, from);
    }
    return less;
}

void *sn_body_regrow(const seen_allocator *a, void *body, uint64_t len,
                     uint64_t new_len)
{
    if (!a->alloc && new_len < LARGE && new_len >= len) { /* zeroes behind the copy */
        uint64_t round = (new_len + 63) & ~(uint64_t)63;
        uint8_t *more = aligned_alloc(64, round ? round : 64);
        if (!more)
            return NULL;
        memcpy(more, body, len);
        memset(more + len, 0, round - len);
        free(body);
        return more;
    }
    uint8_t *to = sn_body_alloc(a, new_len);
    if (!to)
        return NULL;
#if defined(__linux__)
    /* The new mapping is ours and aligned; the old pages replace its first ones. */
    uint64_t round = (len + 4095) & ~(uint64_t)4095;
    if (!a->alloc && len >= LARGE &&
        mremap(body, round, round, MREMAP_MAYMOVE | MREMAP_FIXED, to) == (void *)to) {
        madvise(to, new_len, MADV_HUGEPAGE);
        return to;
    }
#endif
    memcpy(to, body, len);
    sn_body_free(a, body, len);
    return to;
}

bool sn_array_room(const seen_allocator *a, void *array, uint64_t *room, uint64_t n,
                   size_t element)
{
    void **p = array;
    if (*p && n <= *room)
        return true;
    uint64_t want = n + n / 8 + 64;
    void *more = *p ? sn_body_regrow(a, *p, *room * element, want * element)
                    : sn_body_alloc(a, want * element);
    if (!more)
        return false;
    *p = more;
    *room = want;
    return true;
}

int sn_check_allocator(const seen_allocator *a)
{
    return !a || !a->alloc == !a->free
               ? SEEN_OK
               : sn_fail(SEEN_EINVAL, "an allocator needs both alloc and free");
}
