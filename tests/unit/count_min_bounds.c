/* count_min_bounds.c - a count-min sketch is never too small, and too large by more
 * than error * total no more often than promised. */
#include "test_keys.h"
#include "seen_sketch.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

/* How often key I occurs: a long tail below a few heavy keys. */
static uint64_t times(uint64_t i)
{
    return 1 + 100000 / (i + 1) + mix(i) % 3;
}

static void promise(unsigned hash, double error, double chance, uint64_t keys)
{
    seen_cms_spec spec = {.error = error, .chance = chance, .hash = hash};
    seen_cms *c;
    if (!ok(seen_cms_new(&spec, &c) == SEEN_OK, "error %g, chance %g", error, chance))
        return;
    seen_cms_info i;
    char key[96];
    uint64_t total = 0, small = 0, large = 0;
    for (uint64_t k = 0; k < keys; k++) {
        size_t len = key_of(URLS, k, key);
        uint32_t now = seen_cms_add(c, key, len, times(k));
        small += now < times(k);
        total += times(k);
    }
    seen_cms_get_info(c, &i);
    for (uint64_t k = 0; k < keys; k++) {
        size_t len = key_of(URLS, k, key);
        uint64_t n = seen_cms_count(c, key, len);
        small += n < times(k);
        large += (double)n > (double)times(k) + error * (double)total;
    }
    double most = chance * (double)keys;
    ok(small == 0, "no count of %llu keys is too small, %llu x %llu cells",
       (unsigned long long)keys, (unsigned long long)i.width,
       (unsigned long long)i.depth);
    ok((double)large <= most + 6 * sqrt(most),
       "%llu exceed the error, expected at most %g", (unsigned long long)large, most);
    ok(i.total == total, "the total is the sum of all counts");
    seen_cms_free(c);
}

static seen_cms *small_sketch(uint64_t seed)
{
    seen_cms_spec spec = {.width = 50, .depth = 20, .seed = seed};
    seen_cms *c = NULL;
    seen_cms_new(&spec, &c);
    return c;
}

static void sums(void)
{
    seen_cms *a = small_sketch(0), *b = small_sketch(0), *both = small_sketch(0);
    seen_cms *other = small_sketch(7);
    for (uint64_t k = 0; k < 500; k++) {
        seen_cms_add(a, &k, 8, k);
        seen_cms_add(both, &k, 8, k * 3);
        if (k % 2) {
            seen_cms_add(b, &k, 8, 5);
            seen_cms_add(both, &k, 8, 10);
        }
    }
    const seen_cms *src[] = {a, b};
    size_t len, other_len;
    int merged = seen_cms_merge(a, src, (int64_t[]){3, 2}, 2);
    const void *cells = seen_cms_cells(a, &len),
               *counted = seen_cms_cells(both, &other_len);
    ok(merged == SEEN_OK && len == other_len && !memcmp(cells, counted, len),
       "three times one and twice another are what counting gives, also into a source");
    uint64_t k = 4;
    uint32_t before = seen_cms_count(b, &k, 8);
    const seen_cms *lone[] = {b}, *strange[] = {b, other};
    ok(seen_cms_merge(b, lone, (int64_t[]){-1}, 1) == SEEN_ERANGE &&
           seen_cms_merge(b, lone, (int64_t[]){INT64_MAX}, 1) == SEEN_ERANGE &&
           seen_cms_merge(b, lone, (int64_t[]){(int64_t)1 << 32}, 1) == SEEN_ERANGE &&
           seen_cms_count(b, &k, 8) == before,
       "sums below 0 and above the cells are refused and change nothing");
    ok(seen_cms_merge(b, strange, NULL, 2) == SEEN_EMISMATCH, "so are other seeds");
    ok(seen_cms_add(b, "x", 1, (uint64_t)1 << 40) == UINT32_MAX &&
           seen_cms_add(b, "x", 1, 1) == UINT32_MAX,
       "cells stop at the largest number");
    seen_cms *copy;
    ok(seen_cms_copy(b, &copy) == SEEN_OK && seen_cms_count(copy, "x", 1) == UINT32_MAX,
       "a copy counts the same");
    seen_cms_add(copy, "y", 1, 1000000);
    ok(seen_cms_count(b, "y", 1) < 1000000, "and apart");
    seen_cms_free(copy);
    seen_cms_free(a);
    seen_cms_free(b);
    seen_cms_free(both);
    seen_cms_free(other);
}

static void refusals(void)
{
    const seen_cms_spec bad[] = {
        {0},
        {.width = 5},
        {.depth = 5},
        {.width = 5, .depth = 5, .error = 0.1, .chance = 0.1},
        {.error = 0.1},
        {.error = 1, .chance = 0.1},
        {.error = NAN, .chance = 0.1},
        {.error = 0.1, .chance = -1},
        {.width = 5, .depth = 5, .hash = 9},
        {.width = 5, .depth = 5, .reserved = {0, 1}},
        {.width = 5, .depth = 5, .hash = SEEN_CMS_REDISBLOOM, .seed = 1},
    };
    seen_cms *c;
    int wrong = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        wrong += seen_cms_new(&bad[i], &c) != SEEN_EINVAL || c;
    ok(!wrong, "a specification without sense is refused");
    seen_cms_spec big = {.width = (uint64_t)1 << 40, .depth = (uint64_t)1 << 40};
    seen_cms_spec tiny = {.error = 1e-300, .chance = 0.5};
    ok(seen_cms_new(&big, &c) == SEEN_ETOOBIG &&
           seen_cms_new(&tiny, &c) == SEEN_ETOOBIG,
       "so is one that no memory can hold");
}

int main(void)
{
    promise(SEEN_CMS_NATIVE, 0.001, 0.01, WORK(200000));
    promise(SEEN_CMS_NATIVE, 0.01, 0.2, WORK(50000));
    promise(SEEN_CMS_NATIVE, 0.0003, 0.001, WORK(100000));
    promise(SEEN_CMS_REDISBLOOM, 0.001, 0.01, WORK(100000));
    sums();
    refusals();
    return done();
}
