/* set_is_exact.c - the fingerprint set against a plain truth: adds, doubling, removal,
 * and the same slots from every twin. */
#include "base/memory.h"
#include "kind/set.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static uint64_t state = 42;
static uint64_t next(void) /* splitmix64 */
{
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static const seen_allocator system_memory;

static sn_layer make(uint64_t units, enum sn_simd simd)
{
    sn_layer l = {.kind = &sn_set,
                  .shape = {.kind = SEEN_SET, .k = 64, .units = units}};
    l.variant = sn_set.variant(&l.shape, simd, false);
    l.len = sn_set.body_len(&l.shape);
    l.body = sn_body_alloc(&system_memory, l.len);
    return l;
}

static int count_hashes(void *ctx, const uint64_t *h, size_t n)
{
    (void)h;
    *(uint64_t *)ctx += n;
    return 0;
}

/* Adds N hashes, growing at seven a bucket, and removes a third; every answer is
 * checked. */
static void life(enum sn_simd simd, size_t n)
{
    uint64_t *h = malloc(n * sizeof *h);
    for (size_t i = 0; i < n; i++)
        h[i] = next();
    sn_layer l = make(3, simd);
    size_t wrong = 0, grown = 0;
    bool dup[64], found[64];
    for (size_t i = 0; i < n; i += 32) {
        uint64_t batch[64];
        size_t m = n - i < 32 ? n - i : 32;
        for (size_t j = 0; j < m; j++) /* each key twice in its batch */
            batch[2 * j] = batch[2 * j + 1] = h[i + j];
        while (l.added + 2 * m > l.shape.units * SN_SET_LOAD)
            grown += sn_set.grow(&l, &system_memory) == 0;
        wrong += l.variant->add(&l, batch, 2 * m, dup) != 2 * m;
        for (size_t j = 0; j < 2 * m; j++)
            wrong += dup[j] != (j & 1);
    }
    ok(wrong == 0 && l.added == n,
       "%s: of %zu keys added twice in one batch, the first is "
       "new, through %zu doublings",
       sn_simd_name(simd), n, grown);
    wrong = 0;
    for (size_t i = 0; i < n; i += 64) {
        size_t m = n - i < 64 ? n - i : 64;
        l.variant->has(&l, h + i, m, found);
        for (size_t j = 0; j < m; j++)
            wrong += !found[j];
    }
    ok(wrong == 0, "%s: all are found again", sn_simd_name(simd));
    uint64_t held = 0;
    sn_set.each_hash(&l, count_hashes, &held);
    ok(held == n, "%s: each_hash gives every hash once", sn_simd_name(simd));
    wrong = 0;
    for (size_t i = 0; i < n; i += 3)
        wrong += sn_set.remove(&l, h[i]) != 1;
    for (size_t i = 0; i < n; i += 3)
        wrong += sn_set.remove(&l, h[i]) != 0;
    for (size_t i = 0; i < n; i++) {
        l.variant->has(&l, h + i, 1, found);
        wrong += found[0] != (i % 3 != 0);
    }
    ok(wrong == 0 && l.added == n - (n + 2) / 3,
       "%s: a third removed, those are gone and the others stay", sn_simd_name(simd));
    sn_body_free(&system_memory, l.body, l.len);
    free(h);
}

static void add_at(sn_layer *l, uint64_t bucket, uint64_t from, uint64_t n)
{
    bool dup;
    for (uint64_t i = from; i < from + n; i++) {
        uint64_t h = bucket * (UINT64_MAX / l->shape.units + 1) + i;
        l->variant->add(l, &h, 1, &dup);
    }
}

static uint64_t denied_at(const sn_layer *l, uint64_t of, uint64_t bucket,
                          uint64_t from, uint64_t n)
{
    uint64_t denied = 0;
    bool found;
    for (uint64_t i = from; i < from + n; i++) {
        uint64_t h = bucket * (UINT64_MAX / of + 1) + i;
        l->variant->has(l, &h, 1, &found);
        denied += !found;
    }
    return denied;
}

/* Keys chosen to crowd in one place, as anybody can who knows the seed, are pushed
 * far beyond their homes: doubling must not lose them. */
static void crowded(void)
{
    enum { UNITS = 8192, HOME = 2000, WALL = 4100, WALLS = 200, PUSHED = 2000 };
    sn_layer l = make(UNITS, sn_simd_best());
    uint64_t denied = 0;
    for (uint64_t b = HOME; b < WALL; b++)
        add_at(&l, b, 1, 8);
    add_at(&l, WALL, 1, 8 * WALLS);
    add_at(&l, HOME, 100, PUSHED);
    add_at(&l, UNITS - 1, 1, 100); /* and around the end */
    ok(sn_set.grow(&l, &system_memory) == 0, "a set of crowded keys doubles");
    for (uint64_t b = HOME; b < WALL; b++)
        denied += denied_at(&l, UNITS, b, 1, 8);
    denied += denied_at(&l, UNITS, WALL, 1, 8 * WALLS) +
              denied_at(&l, UNITS, HOME, 100, PUSHED) +
              denied_at(&l, UNITS, UNITS - 1, 1, 100);
    ok(denied == 0, "and none of them is lost (%d)", (int)denied);
    sn_body_free(&system_memory, l.body, l.len);
}

int main(void)
{
    crowded();
    static const size_t sizes[] = {1, 20, 1000, 100000};
    for (int s = SN_SCALAR; s < SN_SIMDS; s++)
        if (sn_simd_runs((enum sn_simd)s))
            for (size_t i = 0; i < 4; i++)
                life((enum sn_simd)s, sizes[i]);

    /* The same slots, whoever wrote them. */
    sn_layer a = make(500, SN_SCALAR), b = make(500, sn_simd_best());
    bool dup[64];
    for (int i = 0; i < 3500; i += 50) {
        uint64_t h[50];
        for (int j = 0; j < 50; j++)
            h[j] = next();
        a.variant->add(&a, h, 50, dup);
        b.variant->add(&b, h, 50, dup);
    }
    ok(memcmp(a.body, b.body, a.len) == 0, "scalar and %s fill the same slots",
       sn_simd_name(sn_simd_best()));

    /* The hash 0 is a key like any other. */
    uint64_t zero[2] = {0, 0};
    sn_layer z = make(2, sn_simd_best());
    z.variant->add(&z, zero, 2, dup);
    ok(!dup[0] && dup[1] && z.added == 1, "a key whose hash is zero is kept");

    /* A full table says so and stays searchable. */
    size_t taken = 0, one = 1;
    while (one) {
        uint64_t h = next();
        one = z.variant->add(&z, &h, 1, dup);
        taken += one;
    }
    uint64_t absent = next();
    z.variant->has(&z, &absent, 1, dup);
    ok(z.added == sn_set_most(2) && !dup[0],
       "a full table refuses, with %zu keys in 16 slots", taken + 1);

    /* A damaged file may have no empty slot: a search must still end. */
    memset(z.body, 0xff, z.len);
    z.variant->has(&z, &absent, 1, dup);
    uint64_t h = absent;
    ok(!dup[0] && z.variant->add(&z, &h, 1, dup) == 0,
       "a body without an empty slot ends searches");

    /* Shapes from files are hostile. */
    sn_shape bad = {.kind = SEEN_SET, .k = 64, .units = UINT64_MAX / 32};
    ok(sn_set.body_len(&bad) == 0, "impossible numbers of buckets are refused");

    /* A large body moves by page tables: contents stay, the new half is zero. */
    uint64_t len = 8 << 20;
    uint8_t *p = sn_body_alloc(&system_memory, len);
    for (uint64_t i = 0; i < len; i += 4096)
        p[i] = (uint8_t)(i >> 12);
    p = sn_body_regrow(&system_memory, p, len, 2 * len);
    size_t wrong = 0;
    for (uint64_t i = 0; i < 2 * len; i += 4096)
        wrong += p[i] != (i < len ? (uint8_t)(i >> 12) : 0);
    ok(wrong == 0, "a large body keeps its bytes when it grows");
    sn_body_free(&system_memory, p, 2 * len);
    sn_body_free(&system_memory, a.body, a.len);
    sn_body_free(&system_memory, b.body, b.len);
    sn_body_free(&system_memory, z.body, z.len);
    return done();
}
