/* bitmap.c - an exact set of integers below a bound, one bit each.
 *
 * The only structure here without hashing or error. It has 64-bit words on huge pages
 * and checks every index, because a silent "no" for one outside would be wrong. */
#include "base/fail.h"
#include "base/memory.h"
#include <string.h>

struct seen_bitmap {
    seen_allocator alloc;
    uint64_t bound, words;
    uint64_t *word; /* bits at and above the bound stay clear */
};

int seen_bitmap_new(uint64_t bound, const seen_allocator *a, seen_bitmap **out)
{
    static const seen_allocator system;
    *out = NULL;
    int rc = sn_check_allocator(a);
    if (rc < 0)
        return rc;
    a = a ? a : &system;
    if (bound == 0 || bound > (uint64_t)1 << 49)
        return sn_fail(SEEN_EINVAL,
                       "the bound of a bitmap must lie between 1 and 2^49, "
                       "not %llu",
                       (unsigned long long)bound);
    seen_bitmap *b = sn_alloc(a, sizeof *b);
    if (b) {
        b->alloc = *a;
        b->bound = bound;
        b->words = (bound + 63) / 64;
        b->word = sn_body_alloc(a, b->words * 8);
    }
    if (!b || !b->word) {
        sn_free(a, b, sizeof *b);
        return sn_fail(SEEN_ENOMEM, "no memory for a bitmap of %llu bits",
                       (unsigned long long)bound);
    }
    *out = b;
    return 0;
}

void seen_bitmap_free(seen_bitmap *b)
{
    if (!b)
        return;
    seen_allocator a = b->alloc;
    sn_body_free(&a, b->word, b->words * 8);
    sn_free(&a, b, sizeof *b);
}

uint64_t seen_bitmap_bound(const seen_bitmap *b)
{
    return b->bound;
}

static int outside(const seen_bitmap *b, uint64_t i)
{
    return sn_fail(SEEN_ERANGE, "%llu is outside 0 .. %llu", (unsigned long long)i,
                   (unsigned long long)b->bound - 1);
}

int seen_bitmap_set(seen_bitmap *b, uint64_t i)
{
    if (i >= b->bound)
        return outside(b, i);
    uint64_t *w = b->word + i / 64, bit = (uint64_t)1 << i % 64;
    int rc = *w & bit ? SEEN_DUP : SEEN_NEW;
    *w |= bit;
    return rc;
}

int seen_bitmap_clear(seen_bitmap *b, uint64_t i)
{
    if (i >= b->bound)
        return outside(b, i);
    uint64_t *w = b->word + i / 64, bit = (uint64_t)1 << i % 64;
    int rc = (*w & bit) != 0;
    *w &= ~bit;
    return rc;
}

int seen_bitmap_get(const seen_bitmap *b, uint64_t i)
{
    return i >= b->bound ? outside(b, i) : (int)(b->word[i / 64] >> i % 64 & 1);
}

int seen_bitmap_set_many(seen_bitmap *b, const uint64_t *index, size_t n, size_t *taken)
{
    enum { AHEAD = 16 };
    size_t i = 0;
    for (; i < n; i++) {
        if (i + AHEAD < n && index[i + AHEAD] < b->bound)
            __builtin_prefetch(b->word + index[i + AHEAD] / 64, 1);
        if (index[i] >= b->bound)
            break;
        b->word[index[i] / 64] |= (uint64_t)1 << index[i] % 64;
    }
    if (taken)
        *taken = i;
    return i < n ? outside(b, index[i]) : SEEN_OK;
}

/* Word W with only the bits of [from, to) that lie in it. */
static uint64_t clipped(const seen_bitmap *b, uint64_t w, uint64_t from, uint64_t to)
{
    uint64_t x = b->word[w];
    if (w == from / 64)
        x &= ~(uint64_t)0 << from % 64;
    if (w == to / 64)
        x &= ((uint64_t)1 << to % 64) - 1;
    return x;
}

int seen_bitmap_count_range(const seen_bitmap *b, uint64_t from, uint64_t to,
                            uint64_t *out)
{
    if (to > b->bound)
        return outside(b, to);
    if (from > to)
        return sn_fail(SEEN_EINVAL, "the range ends before it begins");
    uint64_t n = 0;
    for (uint64_t w = from / 64; w * 64 < to; w++)
        n += (uint64_t)__builtin_popcountll(clipped(b, w, from, to));
    *out = n;
    return 0;
}

uint64_t seen_bitmap_count(const seen_bitmap *b)
{
    uint64_t n = 0;
    for (uint64_t w = 0; w < b->words; w++)
        n += (uint64_t)__builtin_popcountll(b->word[w]);
    return n;
}

uint64_t seen_bitmap_next(const seen_bitmap *b, uint64_t from)
{
    for (uint64_t w = from / 64; w < b->words; w++) {
        uint64_t x =
            w == from / 64 ? b->word[w] & ~(uint64_t)0 << from % 64 : b->word[w];
        if (x)
            return w * 64 + (uint64_t)__builtin_ctzll(x);
    }
    return b->bound;
}

uint64_t seen_bitmap_prev(const seen_bitmap *b, uint64_t from)
{
    if (from >= b->bound)
        from = b->bound - 1;
    for (uint64_t w = from / 64 + 1; w-- > 0;) {
        uint64_t x = b->word[w];
        if (w == from / 64 && from % 64 < 63)
            x &= ((uint64_t)1 << (from % 64 + 1)) - 1;
        if (x)
            return w * 64 + 63 - (uint64_t)__builtin_clzll(x);
    }
    return b->bound;
}

size_t seen_bitmap_list(const seen_bitmap *b, uint64_t *from, uint64_t to,
                        uint64_t *out, size_t n)
{
    size_t found = 0;
    if (to > b->bound)
        to = b->bound;
    for (uint64_t w = *from / 64; *from < to && w * 64 < to; w++) {
        uint64_t x = clipped(b, w, *from, to);
        for (; x; x &= x - 1) {
            if (found == n)
                return n;
            out[found] = w * 64 + (uint64_t)__builtin_ctzll(x);
            *from = out[found++] + 1;
        }
    }
    if (found < n)
        *from = to > *from ? to : *from;
    return found;
}

static int same_bound(const seen_bitmap *a, const seen_bitmap *b)
{
    return a->bound == b->bound
               ? 0
               : sn_fail(SEEN_EMISMATCH, "the bounds differ: %llu and %llu",
                         (unsigned long long)a->bound, (unsigned long long)b->bound);
}

#define COMBINE(name, op)                                                              \
    int seen_bitmap_##name(seen_bitmap *dst, const seen_bitmap *src)                   \
    {                                                                                  \
        int rc = same_bound(dst, src);                                                 \
        for (uint64_t w = 0; rc == 0 && w < dst->words; w++)                           \
            dst->word[w] op src->word[w];                                              \
        return rc;                                                                     \
    }
COMBINE(or, |=)
COMBINE(and, &=)
COMBINE(andnot, &= ~)
