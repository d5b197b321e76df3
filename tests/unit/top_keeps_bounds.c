/* top_keeps_bounds.c - heavy hitters: every count lies within its bounds, and no heavy
 * key is missing, on streams that are kind and on streams made to hurt. */
#include "test_keys.h"
#include "seen_sketch.h"
#include "tap.h"
#include <stdlib.h>

enum { KEYS = 20000 };

/* Number I of a stream of keys below KEYS. */
static uint64_t skewed(uint64_t i)
{
    uint64_t r = mix(i);
    return r % (1 + (r >> 20) % (1 + (r >> 40) % KEYS));
}
static uint64_t even(uint64_t i)
{
    return mix(i) % KEYS;
}
/* Every key in turn: the smallest is always about to be replaced. */
static uint64_t rounds(uint64_t i)
{
    return i % KEYS;
}
/* Heavy keys only at the end, when all counters are taken. */
static uint64_t late(uint64_t i)
{
    return i < 200000 ? i % KEYS : i % 5;
}

static void stream(const char *what, uint64_t (*next)(uint64_t), uint32_t counters,
                   uint64_t weight)
{
    seen_top_spec spec = {.counters = counters};
    seen_top *t;
    uint64_t *truth = calloc(KEYS, sizeof *truth), n = WORK(300000), total = 0;
    seen_top_item *all = malloc(counters * sizeof *all);
    int failed = seen_top_new(&spec, &t) < 0;
    char key[96];
    for (uint64_t i = 0; i < n; i++) {
        uint64_t k = next(i), w = 1 + mix(i ^ 99) % weight;
        size_t len = key_of(RANDOM, k, key);
        failed |= seen_top_add(t, key, len, w) < 0;
        truth[k] += w;
        total += w;
    }
    ok(!failed && seen_top_total(t) == total, "%s, %u counters: all is counted", what,
       counters);
    uint64_t floor = seen_top_floor(t), wrong = 0, missing = 0, listed = 0;
    size_t have = seen_top_list(t, all, counters);
    for (uint64_t k = 0; k < KEYS; k++) {
        size_t len = key_of(RANDOM, k, key);
        uint64_t error, count = seen_top_count(t, key, len, &error);
        wrong +=
            count < truth[k] || count - error > truth[k] || error > total / counters;
        bool in = false;
        for (size_t i = 0; i < have && !in && truth[k] > floor; i++)
            in = all[i].len == len && !memcmp(all[i].data, key, len);
        missing += truth[k] > floor && !in;
        listed += in;
    }
    ok(wrong == 0, "and every count is within its bounds");
    ok(missing == 0 && floor <= total / counters,
       "no key above %llu of %llu is missing", (unsigned long long)floor,
       (unsigned long long)total);
    uint64_t order = 0;
    for (size_t i = 1; i < have; i++)
        order += all[i].count > all[i - 1].count;
    ok(have == counters && order == 0, "the list falls");
    seen_top_add(t, "again", 5, total);
    ok(seen_top_list(t, all, 1) == 1 && !memcmp(all[0].data, "again", 5) &&
           all[0].count >= total && seen_top_list(t, all, counters) == counters,
       "and it can be added to after it was listed");
    seen_top_free(t);
    free(truth);
    free(all);
}

static void exact(void)
{
    seen_top_spec spec = {.counters = 50};
    seen_top *t;
    seen_top_item x[60];
    seen_top_new(&spec, &t);
    for (uint64_t i = 0; i < 3000; i++) {
        char key[20];
        size_t len = (size_t)sprintf(key, "%llu", (unsigned long long)(i % 40));
        seen_top_add(t, key, i % 40 ? len : 0, 1 + (i % 40 == 7));
    }
    size_t n = seen_top_list(t, x, 60);
    uint64_t errors = 0;
    for (size_t i = 0; i < n; i++)
        errors += x[i].error;
    ok(n == 40 && !errors && x[0].count == 150 && x[0].len == 1 && x[1].count == 75 &&
           x[1].len == 0,
       "with room for all keys it is exact; the empty key is one; ties by their bytes");
    ok(seen_top_floor(t) == 0, "and nothing else has occurred");
    uint64_t before = seen_top_bytes(t);
    char *large = calloc(1, 1 << 20);
    seen_top_add(t, large, 1 << 20, 100);
    ok(seen_top_bytes(t) - before == 1 << 20, "a long key is paid for by its length");
    ok(seen_top_add(t, "x", 1, (uint64_t)1 << 63) == SEEN_ERANGE,
       "a total above 2^63 is refused");
    free(large);
    seen_top_free(t);
    ok(seen_top_new(&(seen_top_spec){.counters = UINT32_MAX}, &t) == SEEN_EINVAL,
       "so are too many counters");
}

int main(void)
{
    stream("skewed", skewed, 200, 1);
    stream("skewed, weighted", skewed, 100, 50);
    stream("even", even, 64, 1);
    stream("in turn", rounds, 333, 1);
    stream("heavy keys last", late, 100, 1);
    stream("one counter", skewed, 1, 3);
    exact();
    return done();
}
