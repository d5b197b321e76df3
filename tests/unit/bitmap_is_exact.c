/* bitmap_is_exact.c - an exact set of integers, against an array of bytes. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <stdlib.h>

static void against_bytes(uint64_t bound)
{
    seen_bitmap *b, *c;
    uint8_t *truth = calloc(1, bound), *other = calloc(1, bound);
    seen_bitmap_new(bound, NULL, &b);
    seen_bitmap_new(bound, NULL, &c);
    uint64_t s = bound, wrong = 0;
    for (int op = 0; op < 20000; op++) {
        s = mix(s);
        uint64_t i = s % bound;
        if (s >> 60 < 9) {
            wrong += seen_bitmap_set(b, i) != (truth[i] ? SEEN_DUP : SEEN_NEW);
            truth[i] = 1;
        } else if (s >> 60 < 12) {
            wrong += seen_bitmap_clear(b, i) != truth[i];
            truth[i] = 0;
        } else {
            wrong += seen_bitmap_get(b, i) != truth[i];
        }
        if (s >> 62 == 0) {
            seen_bitmap_set(c, i);
            other[i] = 1;
        }
    }
    ok(wrong == 0, "bound %llu: set, clear and get agree with a plain array",
       (unsigned long long)bound);
    uint64_t count = 0, at = 0, n = 0, range = 0, from = bound / 3,
             to = bound - bound / 5, got;
    for (uint64_t i = 0; i < bound; i++) {
        count += truth[i];
        range += i >= from && i < to && truth[i];
    }
    ok(seen_bitmap_count(b) == count, "count: %llu", (unsigned long long)count);
    ok(seen_bitmap_count_range(b, from, to, &got) == 0 && got == range,
       "count of a range");
    for (uint64_t i = seen_bitmap_next(b, 0); i < bound;
         i = seen_bitmap_next(b, i + 1)) {
        while (at < i)
            n += truth[at++];
        at++;
        n += !truth[i];
    }
    while (at < bound)
        n += truth[at++];
    ok(n == 0, "next visits exactly the set bits, in order");
    uint64_t down = 0;
    for (uint64_t i = seen_bitmap_prev(b, bound - 1); i < bound;
         i = i ? seen_bitmap_prev(b, i - 1) : bound)
        down += truth[i];
    ok(down == count, "prev visits them all, backwards");
    uint64_t list[7], start = from, listed = 0, bad = 0;
    size_t m;
    while ((m = seen_bitmap_list(b, &start, to, list, 7)) > 0)
        for (size_t j = 0; j < m; j++, listed++)
            bad += list[j] < from || list[j] >= to || !truth[list[j]];
    ok(listed == range && bad == 0, "a range is listed in pieces of seven");
    uint64_t bits[3] = {0, 0, 0};
    for (uint64_t i = 0; i < bound; i++) {
        bits[0] += truth[i] | other[i];
        bits[1] += truth[i] & other[i];
        bits[2] += truth[i] & !other[i];
    }
    int (*const op[3])(seen_bitmap *, const seen_bitmap *) = {
        seen_bitmap_or, seen_bitmap_and, seen_bitmap_andnot};
    for (int i = 0; i < 3; i++) {
        seen_bitmap *d;
        seen_bitmap_new(bound, NULL, &d);
        seen_bitmap_or(d, b);
        op[i](d, c);
        ok(seen_bitmap_count(d) == bits[i], "%s",
           (const char *[]){"union", "intersection", "difference"}[i]);
        seen_bitmap_free(d);
    }
    seen_bitmap_free(b), seen_bitmap_free(c);
    free(truth), free(other);
}

int main(void)
{
    against_bytes(1);
    against_bytes(63);
    against_bytes(64);
    against_bytes(65);
    against_bytes(10007);
    seen_bitmap *b, *c;
    seen_bitmap_new(100, NULL, &b);
    seen_bitmap_new(101, NULL, &c);
    ok(seen_bitmap_set(b, 100) == SEEN_ERANGE, "outside is an error: %s",
       seen_reason());
    ok(seen_bitmap_get(b, UINT64_MAX) == SEEN_ERANGE &&
           seen_bitmap_clear(b, 100) == SEEN_ERANGE,
       "for get and clear too, never a silent no");
    uint64_t some[3] = {1, 200, 2}, n;
    size_t taken;
    ok(seen_bitmap_set_many(b, some, 3, &taken) == SEEN_ERANGE && taken == 1,
       "a batch stops before the first outside");
    ok(seen_bitmap_count_range(b, 0, 101, &n) == SEEN_ERANGE,
       "a range outside is an error");
    ok(seen_bitmap_or(b, c) == SEEN_EMISMATCH, "other bounds do not combine: %s",
       seen_reason());
    seen_bitmap_free(b), seen_bitmap_free(c), seen_bitmap_free(NULL);
    ok(seen_bitmap_new(0, NULL, &b) == SEEN_EINVAL && b == NULL,
       "a bound of zero is refused");
    ok(seen_bitmap_new(UINT64_MAX, NULL, &b) == SEEN_EINVAL && b == NULL,
       "2^64 - 1 too");
    return done();
}
