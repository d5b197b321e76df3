/* merge_layers.c - compares and unites layers of equal shape, 8 bytes at a time. */
#include "bf/merge_layers.h"
#include <math.h>
#include <string.h>

/* Up to 8 bytes from P; those beyond LEFT count as 0. */
static uint64_t word(const uint8_t *p, uint64_t left)
{
    uint64_t w = 0;
    memcpy(&w, p, left < 8 ? (size_t)left : 8);
    return w;
}

/* Sets *A_HAS_ALL if A has every bit of B, and *B_HAS_ALL likewise. */
static void compare(const layer_view *a, const layer_view *b, bool *a_has_all,
                    bool *b_has_all)
{
    uint64_t bytes = a->bits / 8;
    *a_has_all = *b_has_all = true;
    for (uint64_t i = 0; i < bytes && (*a_has_all || *b_has_all); i += 8) {
        uint64_t x = word(a->body + i, bytes - i), y = word(b->body + i, bytes - i);
        *a_has_all &= !(y & ~x);
        *b_has_all &= !(x & ~y);
    }
}

/* How many keys the union of A and B holds: their sum if they are disjoint, else what
 * the set bits suggest, since each key sets probes random ones. That guess has a
 * standard deviation of a quarter of the root of n: a sum within four of them is
 * believed. */
static uint64_t union_keys(const layer_view *a, const layer_view *b)
{
    uint64_t bytes = a->bits / 8, set = 0;
    for (uint64_t i = 0; i < bytes; i += 8)
        set += (uint64_t)__builtin_popcountll(word(a->body + i, bytes - i) |
                                              word(b->body + i, bytes - i));
    uint64_t sum = a->keys + b->keys, least = a->keys > b->keys ? a->keys : b->keys;
    double m = (double)a->bits;
    if (set >= a->bits)
        return sum;
    uint64_t n = (uint64_t)ceil(-m / a->probes * log1p(-(double)set / m));
    if ((double)n + sqrt((double)sum) >= (double)sum)
        return sum;
    return n < least ? least : n;
}

static bool same_shape(const layer_view *x, const layer_view *y)
{
    return x->bits == y->bits && x->probes == y->probes && x->kind == y->kind;
}

merge_step merge_step_for(const layer_view *have, uint32_t n, const layer_view *add)
{
    merge_step step = {.how = add->keys ? MERGE_APPEND : MERGE_NOTHING};
    for (uint32_t i = 0; i < n && step.how != MERGE_NOTHING; i++) {
        const layer_view *h = &have[i];
        bool has_all, within;
        if (!same_shape(h, add))
            continue;
        compare(h, add, &has_all, &within);
        if (has_all)
            step.how = MERGE_NOTHING;
        else if (within && step.how != MERGE_REPLACE)
            step = (merge_step){MERGE_REPLACE, i,
                                h->keys > add->keys ? h->keys : add->keys};
        else if (step.how == MERGE_APPEND) {
            uint64_t keys = union_keys(h, add);
            if (keys <= h->capacity)
                step = (merge_step){MERGE_UNITE, i, keys};
        }
    }
    return step;
}

void bits_unite(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++)
        to[i] |= from[i];
}
