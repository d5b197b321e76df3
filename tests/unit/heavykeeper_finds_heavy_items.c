/* heavykeeper_finds_heavy_items.c - RedisBloom's top-k: heavy items are listed, counts
 * are never too large, one increment is as good as many, and equal commands give equal
 * bits. */
#include "foreign/redisbloom/redisbloom.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

enum { ITEMS = 5000, K = 20 };

static seen_hk *make(uint32_t k, uint32_t width, uint32_t depth, double decay)
{
    seen_hk *h = NULL;
    seen_hk_new(k, width, depth, decay, NULL, &h);
    return h;
}

static void add(seen_hk *h, uint64_t item, uint32_t n)
{
    char key[96];
    seen_key expelled;
    size_t len = key_of(URLS, item, key);
    seen_hk_add(h, key, len, n, &expelled);
}

/* A stream in which item i comes some 1 / (i + 1) as often as item 0. */
static void skewed(void)
{
    seen_hk *h = make(K, 1000, 5, 0.9);
    uint64_t *truth = calloc(ITEMS, sizeof *truth), n = WORK(400000);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = (uint64_t)pow(ITEMS, (double)(mix(i) >> 11) * 0x1p-53) - 1;
        add(h, x, 1);
        truth[x]++;
    }
    unsigned found = 0, large = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        char key[96];
        size_t len = key_of(URLS, i, key);
        found += i < K / 2 && seen_hk_has(h, key, len);
        large += seen_hk_count(h, key, len) > truth[i];
    }
    ok(found == K / 2, "of a skewed stream the %d heaviest are in a list of %d", K / 2,
       K);
    ok(large == 0, "no count is above the truth");
    const uint32_t *places;
    uint32_t listed = seen_hk_list(h, &places), before = UINT32_MAX, order = 0;
    for (uint32_t i = 0; i < listed; i++) {
        seen_key item;
        uint32_t count;
        order += !seen_hk_item(h, places[i], &item, &count) || count > before;
        before = count;
    }
    ok(listed == K && !order, "the list is full and falls");
    seen_hk_free(h);
    free(truth);
}

/* What is left of a count of 30 after 40 strangers, one by one and at once: the same on
 * average. */
static void increments(void)
{
    enum { ROUNDS = 3000 };
    double sum[2] = {0}, squares[2] = {0};
    seen_hk *h = make(1, 1, 1, 0.9);
    char first[96];
    size_t len = key_of(URLS, 0, first);
    for (uint64_t r = 0; r < ROUNDS; r++)
        for (int once = 0; once < 2; once++) {
            size_t bytes;
            uint32_t bucket[2];
            seen_hk *c;
            seen_key expelled;
            seen_hk_copy(h, &c);
            uint8_t heap[SEEN_HK_HEAP_ENTRY] = {0};
            uint64_t state = htole64(mix(2 * r + (uint64_t)once));
            memcpy(heap + 8, &state, 8); /* another state of the generator */
            seen_hk_buckets(c, &bytes);
            seen_hk_set(c, (uint32_t[2]){0, 0}, bytes, heap, sizeof heap);
            seen_hk_add(c, first, len, 30, &expelled);
            for (int i = 0; i < (once ? 1 : 40); i++)
                add(c, 1, once ? 40 : 1);
            memcpy(bucket, seen_hk_buckets(c, &bytes), sizeof bucket);
            double count = le32toh(bucket[1]);
            sum[once] += count;
            squares[once] += count * count;
            seen_hk_free(c);
        }
    double mean[2], variance = 0;
    for (int i = 0; i < 2; i++) {
        mean[i] = sum[i] / ROUNDS;
        variance += (squares[i] / ROUNDS - mean[i] * mean[i]) / ROUNDS;
    }
    ok(fabs(mean[0] - mean[1]) <= 6 * sqrt(variance) && mean[0] < 29.9,
       "an increment of 40 wears down as 40 of 1 do: to %.3f and %.3f of 30", mean[1],
       mean[0]);
    seen_hk_free(h);
}

static void same_everywhere(void)
{
    seen_hk *a = make(5, 3, 3, 0.9), *b = make(5, 3, 3, 0.9), *c;
    for (uint64_t i = 0; i < 3000; i++) {
        add(a, mix(i) % 50, 1 + (uint32_t)(i % 3));
        add(b, mix(i) % 50, 1 + (uint32_t)(i % 3));
    }
    seen_hk_copy(a, &c);
    for (uint64_t i = 0; i < 500; i++) {
        add(a, i % 70, 2);
        add(b, i % 70, 2);
        add(c, i % 70, 2);
    }
    uint8_t heap[3][5 * SEEN_HK_HEAP_ENTRY];
    seen_hk *all[3] = {a, b, c};
    size_t len;
    for (int i = 0; i < 3; i++)
        seen_hk_write_heap(all[i], heap[i]);
    ok(!memcmp(heap[0], heap[1], sizeof *heap) &&
           !memcmp(heap[0], heap[2], sizeof *heap) &&
           !memcmp(seen_hk_buckets(a, &len), seen_hk_buckets(b, &len), 3 * 3 * 8) &&
           !memcmp(seen_hk_buckets(a, &len), seen_hk_buckets(c, &len), 3 * 3 * 8),
       "equal items give equal bits, here and in a copy that goes on");
    for (int i = 0; i < 3; i++)
        seen_hk_free(all[i]);
    ok(seen_hk_new(0, 1, 1, 0.9, NULL, &c) == SEEN_EINVAL &&
           seen_hk_new(1, 1, 1, 1.1, NULL, &c) == SEEN_EINVAL &&
           seen_hk_new(1, 1, 1, 0, NULL, &c) == SEEN_EINVAL &&
           seen_hk_new(1, 1, 1, NAN, NULL, &c) == SEEN_EINVAL && !c,
       "a list without sense is refused");
}

int main(void)
{
    skewed();
    increments();
    same_everywhere();
    return done();
}
