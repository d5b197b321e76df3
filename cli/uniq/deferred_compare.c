/* deferred_compare.c - comparisons gathered and made in the order of the file.
 *
 * A comparison with a line somewhere in a large file costs a page walk and a page of
 * our memory each. Half a million of them, sorted by place, touch the pages one after
 * the other, can be fetched ahead, and let the pages go again. The keys are copied,
 * because their block will be gone by then. */
#include "deferred_compare.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RADIX = 11, AHEAD = 16, LEAST = 4096 };

typedef struct item {
    uint64_t first, line, offset;
    uint32_t at, len; /* of the key in bytes[] */
} item;

struct putoff {
    const putoff_calls *calls;
    void *ctx;
    unsigned shift; /* places have 2 * RADIX bits above it */
    item *items, *sorted;
    size_t n, most;
    char *bytes;
    size_t used, room;
};

/* Memory that is only taken when it is touched. */
static void *map(size_t len)
{
    void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        kit_die("out of memory (%zu bytes wanted)", len);
    madvise(p, len, MADV_HUGEPAGE);
    return p;
}

putoff *putoff_new(uint64_t total, uint64_t memory, const putoff_calls *calls,
                   void *ctx)
{
    putoff *p = kit_alloc(sizeof *p);
    p->calls = calls;
    p->ctx = ctx;
    while (total >> p->shift >> (2 * RADIX))
        p->shift++;
    /* Two of five parts for the items, twice, and the rest for keys of 80 bytes. */
    p->most = memory / (2 * sizeof(item) + 80);
    if (p->most < LEAST)
        p->most = LEAST;
    p->room = p->most * 80;
    p->items = map(p->most * sizeof(item));
    p->sorted = map(p->most * sizeof(item));
    p->bytes = map(p->room);
    return p;
}

void putoff_free(putoff *p)
{
    if (!p)
        return;
    munmap(p->items, p->most * sizeof(item));
    munmap(p->sorted, p->most * sizeof(item));
    munmap(p->bytes, p->room);
    free(p);
}

uint64_t putoff_bytes(const putoff *p)
{
    return p->most * 2 * sizeof(item) + p->room;
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

void putoff_flush(putoff *p)
{
    size_t strange = 0;
    sort_by(p->items, p->sorted, p->n, p->shift);
    sort_by(p->sorted, p->items, p->n, p->shift + RADIX);
    for (size_t i = 0; i < p->n; i++) {
        if (i + AHEAD < p->n) {
            const item *next = p->items + i + AHEAD;
            const char *w = p->calls->where(p->ctx, next->first);
            __builtin_prefetch(w);
            __builtin_prefetch(w + 64);
            __builtin_prefetch(p->bytes + next->at);
            __builtin_prefetch(p->bytes + next->at + 64);
        }
        const item *t = p->items + i;
        if (p->calls->equal(p->ctx, t->first, (seen_key){p->bytes + t->at, t->len}))
            p->calls->note(p->ctx, t->line);
        else
            p->sorted[strange++] = *t;
    }
    qsort(p->sorted, strange, sizeof(item), by_line);
    for (size_t i = 0; i < strange; i++) {
        const item *t = p->sorted + i;
        p->calls->stranger(p->ctx, t->line, t->offset,
                           (seen_key){p->bytes + t->at, t->len});
    }
    p->n = p->used = 0;
    p->calls->done(p->ctx);
}

void putoff_add(putoff *p, uint64_t first, uint64_t line, uint64_t offset, seen_key key)
{
    if (p->n == p->most || key.len > p->room - p->used) {
        putoff_flush(p);
        if (key.len > p->room) { /* a line longer than all room: compare it at once */
            if (p->calls->equal(p->ctx, first, key))
                p->calls->note(p->ctx, line);
            else
                p->calls->stranger(p->ctx, line, offset, key);
            return;
        }
    }
    memcpy(p->bytes + p->used, key.data, key.len);
    p->items[p->n++] =
        (item){first, line, offset, (uint32_t)p->used, (uint32_t)key.len};
    p->used += key.len;
}
