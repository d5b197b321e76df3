/* deferred_compare.c - comparisons gathered and made in the order of the file.
 *
 * Each comparison with a line somewhere in a large file costs a page walk and a page of
 * our memory. Half a million of them, sorted by place, touch the pages one after the
 * other, can be prefetched, and release the pages again. The keys are copied, because
 * their block will be gone by then. */
#include "deferred_compare.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RADIX = 11, AHEAD = 16, LEAST = 4096 };

typedef struct item {
    uint64_t first, line, offset;
    uint32_t at, len; /* of the key in bytes[] */
} item;

struct deferred {
    const deferred_calls *calls;
    void *ctx;
    unsigned shift; /* places have 2 * RADIX bits above it */
    item *items, *sorted;
    size_t n, most;
    char *bytes;
    size_t used, room;
};

/* Memory that the system provides only when it is touched. */
static void *map(size_t len)
{
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        kit_die("out of memory (%zu bytes wanted)", len);
    madvise(p, len, MADV_HUGEPAGE);
    return p;
}

deferred *deferred_new(uint64_t total, uint64_t memory, const deferred_calls *calls,
                       void *ctx)
{
    deferred *d = kit_alloc(sizeof *d);
    d->calls = calls;
    d->ctx = ctx;
    while (total >> d->shift >> (2 * RADIX))
        d->shift++;
    /* Two of five parts for the items, twice, and the rest for keys of 80 bytes. */
    d->most = memory / (2 * sizeof(item) + 80);
    if (d->most < LEAST)
        d->most = LEAST;
    d->room = d->most * 80;
    d->items = map(d->most * sizeof(item));
    d->sorted = map(d->most * sizeof(item));
    d->bytes = map(d->room);
    return d;
}

void deferred_free(deferred *d)
{
    if (!d)
        return;
    munmap(d->items, d->most * sizeof(item));
    munmap(d->sorted, d->most * sizeof(item));
    munmap(d->bytes, d->room);
    free(d);
}

uint64_t deferred_bytes(const deferred *d)
{
    return d->most * 2 * sizeof(item) + d->room;
}

/* One pass of a radix sort by the digit at SHIFT. */
static void sort_by(const item *in, item *out, size_t n, unsigned shift)
{
    static size_t at[(1 << RADIX) + 1];
    memset(at, 0, sizeof at);
    for (size_t i = 0; i < n; i++)
        at[(in[i].first >> shift & ((1 << RADIX) - 1)) + 1]++;
    for (size_t d = 0; d < 1 << RADIX; d++)
        at[d + 1] += at[d];
    for (size_t i = 0; i < n; i++)
        out[at[in[i].first >> shift & ((1 << RADIX) - 1)]++] = in[i];
}

static int by_line(const void *a, const void *b)
{
    uint64_t x = ((const item *)a)->line, y = ((const item *)b)->line;
    return x < y ? -1 : x > y;
}

void deferred_flush(deferred *d)
{
    size_t differing = 0;
    sort_by(d->items, d->sorted, d->n, d->shift);
    sort_by(d->sorted, d->items, d->n, d->shift + RADIX);
    for (size_t i = 0; i < d->n; i++) {
        if (i + AHEAD < d->n) {
            const item *next = d->items + i + AHEAD;
            const char *w = d->calls->where(d->ctx, next->first);
            __builtin_prefetch(w);
            __builtin_prefetch(w + 64);
            __builtin_prefetch(d->bytes + next->at);
            __builtin_prefetch(d->bytes + next->at + 64);
        }
        const item *t = d->items + i;
        if (d->calls->equal(d->ctx, t->first, (seen_key){d->bytes + t->at, t->len}))
            d->calls->note(d->ctx, t->line);
        else
            d->sorted[differing++] = *t;
    }
    qsort(d->sorted, differing, sizeof(item), by_line);
    for (size_t i = 0; i < differing; i++) {
        const item *t = d->sorted + i;
        d->calls->differs(d->ctx, t->line, t->offset,
                          (seen_key){d->bytes + t->at, t->len});
    }
    d->n = d->used = 0;
    d->calls->done(d->ctx);
}

void deferred_add(deferred *d, uint64_t first, uint64_t line, uint64_t offset,
                  seen_key key)
{
    if (d->n == d->most || key.len > d->room - d->used) {
        deferred_flush(d);
        if (key.len > d->room) { /* longer than the whole buffer: compare it at once */
            if (d->calls->equal(d->ctx, first, key))
                d->calls->note(d->ctx, line);
            else
                d->calls->differs(d->ctx, line, offset, key);
            return;
        }
    }
    memcpy(d->bytes + d->used, key.data, key.len);
    d->items[d->n++] =
        (item){first, line, offset, (uint32_t)d->used, (uint32_t)key.len};
    d->used += key.len;
}
