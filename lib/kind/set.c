/* set.c - a set of 64-bit fingerprints: exact for all practical purposes.
 *
 * It keeps the whole hash, in the first bucket from its home on that has room; a bucket
 * is eight slots, one cache line. An absent key is found with probability n / 2^64, so
 * a whole run of n keys has a wrong answer with probability n^2 / 2^65. Because the
 * table has the hashes, it can double without the keys and be turned into any other
 * kind. It costs 9 to 18 bytes a key.
 *
 * Homes are in the order of the hashes (the high half of hash x buckets), so a key's
 * home in a table twice as large is twice its home: doubling is one walk through
 * memory from the top down, in place. set_x86.c has the vector variants. */
#include "kind/set.h"
#include "base/fail.h"
#include <math.h>
#include <string.h>

static uint64_t body_len(const sn_shape *s)
{
    return s->units && s->units <= SN_MAX_BYTES / 64 && s->k == 64 ? s->units * 64 : 0;
}

static int shape_for(sn_shape *s, double n, double p)
{
    (void)p; /* the error is below any that can be requested */
    double units = ceil(fmax(n, 1) / SN_SET_LOAD);
    if (!(units < (double)(SN_MAX_BYTES / 64)))
        return sn_fail(SEEN_ETOOBIG, "a set of %.3g fingerprints is too large", n);
    s->k = 64;
    s->units = (uint64_t)units;
    return SEEN_OK;
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    uint64_t units = bytes / 64;
    if (!units || units > SN_MAX_BYTES / 64 || n > (double)(units * SN_SET_LOAD))
        return sn_fail(SEEN_ETOOBIG, "%.3g fingerprints do not fit into %llu bytes", n,
                       (unsigned long long)bytes);
    s->k = 64;
    s->units = units;
    return SEEN_OK;
}

static uint64_t holds(const sn_shape *s)
{
    return s->units * SN_SET_LOAD;
}

static double error_at(const sn_shape *s, double n)
{
    (void)s;
    return n / 18446744073709551616.0;
}

static void measure(const sn_layer *l, sn_measure *out)
{
    uint64_t look = l->shape.units, used = 0;
    if (look > (64 << 20) / 64)
        look = (64 << 20) / 64;
    for (uint64_t b = 0; b < look; b++) {
        const uint64_t *w = sn_set_bucket(l, b);
        for (int i = 0; i < SN_SET_SLOTS; i++)
            used += w[i] != 0;
    }
    double keys = (double)used * ((double)l->shape.units / (double)look);
    out->bits = l->len * 8;
    out->bits_set = (uint64_t)(keys * 64 + 0.5);
    out->keys = look == l->shape.units ? (double)used : (double)l->added;
    out->error = error_at(&l->shape, out->keys);
}

/* ---- the scalar variant ---------------------------------------------------------- */

void sn_set_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        SN_FETCH(sn_set_bucket(l, sn_set_home(sn_set_tag(h[i]), l->shape.units)));
}

/* Finds TAG, or the first empty slot on the way, or (in a damaged file) nothing. */
static uint64_t *find(const sn_layer *l, uint64_t tag)
{
    uint64_t units = l->shape.units, b = sn_set_home(tag, units);
    uint64_t want = sn_swap64(tag);
    for (uint64_t tries = 0; tries < units; tries++) {
        uint64_t *w = sn_set_bucket(l, b);
        for (int i = 0; i < SN_SET_SLOTS; i++)
            if (w[i] == want)
                return w + i;
        for (int i = 0; i < SN_SET_SLOTS; i++)
            if (!w[i])
                return w + i;
        b = b + 1 == units ? 0 : b + 1;
    }
    return NULL;
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t *w = find(l, sn_set_tag(h[i]));
        found[i] = w && *w;
    }
}

static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    uint64_t most = sn_set_most(l->shape.units);
    for (size_t i = 0; i < n; i++) {
        uint64_t tag = sn_set_tag(h[i]), *w = find(l, tag);
        if (w && *w) {
            dup[i] = true;
            continue;
        }
        if (!w || l->added >= most)
            return i;
        *w = sn_swap64(tag);
        l->added++;
        dup[i] = false;
    }
    return n;
}

/* ---- operations of sets only -------------------------------------------------- */

/* Keys after a full bucket may have been pushed past it. So a hole in it is filled with
 * such a key, whose own hole is then filled, and so on up to a bucket that was not
 * full: no key was ever pushed past that one. */
static int remove_hash(sn_layer *l, uint64_t h)
{
    uint64_t units = l->shape.units, *hole = find(l, sn_set_tag(h));
    if (!hole || !*hole)
        return 0;
    uint64_t b = (uint64_t)((uint8_t *)hole - l->body) / 64, m = b;
    for (uint64_t tries = 0; tries < units; tries++) {
        uint64_t *w = sn_set_bucket(l, m);
        bool full = true;
        for (int i = 0; i < SN_SET_SLOTS; i++)
            full &= w[i] != 0;
        if (m != b) {
            uint64_t away = m > b ? m - b : m + units - b;
            for (int i = 0; i < SN_SET_SLOTS; i++) {
                uint64_t home = sn_set_home(sn_swap64(w[i]), units);
                uint64_t pushed = m >= home ? m - home : m + units - home;
                if (w[i] && pushed >= away) {
                    *hole = w[i];
                    hole = w + i;
                    b = m;
                    break;
                }
            }
        }
        if (!full)
            break;
        m = m + 1 == units ? 0 : m + 1;
    }
    *hole = 0;
    l->added -= l->added > 0;
    return 1;
}

static void place(sn_layer *l, uint64_t word)
{
    uint64_t units = l->shape.units, b = sn_set_home(sn_swap64(word), units);
    for (;;) {
        uint64_t *w = sn_set_bucket(l, b);
        for (int i = 0; i < SN_SET_SLOTS; i++)
            if (!w[i]) {
                w[i] = word;
                return;
            }
        b = b + 1 == units ? 0 : b + 1;
    }
}

/* The first bucket from which on every key is between its home and twice its home. The
 * first few dozen buckets hold keys that were pushed further, or around the end; more
 * of them do only if somebody chose the keys. */
static uint64_t head_of(const sn_layer *l)
{
    uint64_t units = l->shape.units;
    for (uint64_t b = units; b-- > 0;)
        for (int i = 0; i < SN_SET_SLOTS; i++) {
            uint64_t word = sn_set_bucket(l, b)[i];
            uint64_t home = sn_set_home(sn_swap64(word), units);
            if (word && (home > b || 2 * home < b))
                return b + 1;
        }
    return 1;
}

/* Doubles in place, from the top down: the keys of old bucket J go to 2 x home or
 * later, which is J or above and already empty. The keys of the head, for which this
 * does not hold, are set aside first. */
static int grow(sn_layer *l, const seen_allocator *a)
{
    uint64_t old = l->shape.units, head = head_of(l);
    if (old > SN_MAX_BYTES / 128)
        return sn_fail(SEEN_ETOOBIG, "the set cannot grow beyond %llu bytes",
                       (unsigned long long)l->len);
    uint64_t *aside = sn_alloc(a, head * 64);
    if (!aside)
        return sn_no_memory("no memory to double a set of %llu bytes",
                            (unsigned long long)l->len);
    memcpy(aside, l->body, head * 64);
    uint8_t *body = sn_body_regrow(a, l->body, old * 64, old * 128);
    if (!body) {
        sn_free(a, aside, head * 64);
        return sn_no_memory("no memory to double a set of %llu bytes",
                            (unsigned long long)l->len);
    }
    l->body = body;
    l->len = old * 128;
    l->shape.units = old * 2;
    l->shape.capacity = holds(&l->shape);
    memset(l->body, 0, head * 64);
    for (uint64_t b = old; b-- > head;) {
        uint64_t moving[SN_SET_SLOTS];
        memcpy(moving, sn_set_bucket(l, b), 64);
        memset(sn_set_bucket(l, b), 0, 64);
        for (int i = 0; i < SN_SET_SLOTS; i++)
            if (moving[i])
                place(l, moving[i]);
    }
    for (uint64_t i = 0; i < head * SN_SET_SLOTS; i++)
        if (aside[i])
            place(l, aside[i]);
    sn_free(a, aside, head * 64);
    return SEEN_OK;
}

static int each_hash(const sn_layer *l, int (*fn)(void *, const uint64_t *, size_t),
                     void *ctx)
{
    uint64_t batch[512];
    size_t n = 0;
    for (uint64_t b = 0; b < l->shape.units; b++) {
        const uint64_t *w = sn_set_bucket(l, b);
        for (int i = 0; i < SN_SET_SLOTS; i++)
            if (w[i]) {
                batch[n++] = sn_swap64(w[i]);
                if (batch[n - 1] == sn_set_tag(0)) /* may be hash 0 or 1: give both */
                    batch[n++] = 0;
            }
        if (n > 512 - 2 * SN_SET_SLOTS) {
            int rc = fn(ctx, batch, n);
            if (rc < 0)
                return rc;
            n = 0;
        }
    }
    return n ? fn(ctx, batch, n) : SEEN_OK;
}

static int merge_one(void *ctx, const uint64_t *h, size_t n)
{
    bool dup[512];
    sn_layer *dst = ctx;
    if (dst->variant->add(dst, h, n, dup) < n)
        return sn_fail(SEEN_EFULL, "the set is full");
    return SEEN_OK;
}

static int merge(sn_layer *dst, const sn_layer *src)
{
    if (dst->added + src->added > sn_set_most(dst->shape.units))
        return sn_fail(SEEN_EFULL, "the two sets together do not fit into the first");
    return each_hash(src, merge_one, dst);
}

static const sn_variant plain = {sn_set_prefetch, has, add};

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool atomic)
{
    (void)s;
    if (atomic)
        return NULL;
#if defined(__x86_64__)
    if (simd >= SN_AVX512)
        return &sn_set_avx512;
    if (simd >= SN_AVX2)
        return &sn_set_avx2;
#endif
    return &plain;
}

/* A count that is impossible for this size would make the table grow without end. */
static int check(const sn_layer *l)
{
    uint64_t most = sn_set_most(l->shape.units), cap = l->shape.capacity;
    return l->added <= most && cap <= most
               ? 0
               : sn_fail(SEEN_EFORMAT, "%llu keys are claimed, there is room for %llu",
                         (unsigned long long)(cap > most ? cap : l->added),
                         (unsigned long long)most);
}

const sn_kind sn_set = {
    .name = "set",
    .id = SEEN_SET,
    .can = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_MERGE | SEEN_CAN_GROW,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .error_at = error_at,
    .measure = measure,
    .variant = variant,
    .merge = merge,
    .remove = remove_hash,
    .grow = grow,
    .holds = holds,
    .each_hash = each_hash,
    .check = check,
    .ordered = true,
};
