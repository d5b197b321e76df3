/* distinct_within_error.c - HyperLogLog: its estimates scatter as promised, from no key
 * to many, and a union counts common keys once. */
#include "test_keys.h"
#include "seen_sketch.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

/* The mean of the relative errors of ROUNDS sketches and their scatter. */
static void scatter(unsigned precision, uint64_t keys)
{
    enum { ROUNDS = 100 };
    double sum = 0, squares = 0, worst = 0, error = 0;
    for (uint64_t r = 0; r < ROUNDS; r++) {
        seen_distinct *d;
        seen_distinct_new(precision, r, NULL, &d);
        for (uint64_t k = 0; k < keys; k++)
            seen_distinct_add(d, &k, 8);
        double off = seen_distinct_count(d) / (double)keys - 1;
        sum += off;
        squares += off * off;
        worst = fmax(worst, fabs(off));
        error = seen_distinct_error(d);
        seen_distinct_free(d);
    }
    double mean = sum / ROUNDS, deviation = sqrt(squares / ROUNDS);
    ok(fabs(mean) <= 6 * error / sqrt(ROUNDS), "2^%u, %llu keys: bias %+.4f", precision,
       (unsigned long long)keys, mean);
    /* The deviation of ROUNDS values scatters by 1 / sqrt(2 ROUNDS) of itself. */
    ok(deviation <= error * (1 + 6 / sqrt(2 * ROUNDS)),
       "standard error %.4f, promised %.4f, worst %.4f", deviation, error, worst);
}

int main(void)
{
    scatter(10, 10);
    scatter(10, 700);
    scatter(10, 2600); /* where older estimators change their formula */
    scatter(10, WORK(50000));
    scatter(6, WORK(20000));
    scatter(14, WORK(20000));

    seen_distinct *a, *b, *c;
    seen_distinct_new(0, 1, NULL, &a);
    seen_distinct_new(0, 1, NULL, &b);
    seen_distinct_new(0, 2, NULL, &c);
    ok(seen_distinct_count(a) == 0, "an empty sketch counts 0");
    for (uint64_t k = 0; k < 30000; k++) {
        uint64_t h = seen_hash_seeded(1, &k, 8);
        if (k < 20000)
            seen_distinct_add(a, &k, 8);
        if (k >= 10000)
            seen_distinct_add_hashes(b, &h, 1);
    }
    double before = seen_distinct_count(a);
    for (uint64_t k = 0; k < 20000; k++)
        seen_distinct_add(a, &k, 8);
    ok(seen_distinct_count(a) == before, "keys that come again change nothing");
    int rc = seen_distinct_merge(a, b);
    ok(rc == SEEN_OK &&
           fabs(seen_distinct_count(a) / 30000 - 1) < 6 * seen_distinct_error(a),
       "a union counts common keys once: %.0f of 30000", seen_distinct_count(a));
    ok(seen_distinct_merge(a, c) == SEEN_EMISMATCH, "another seed is refused");
    seen_distinct_free(c);
    ok(seen_distinct_new(3, 0, NULL, &c) == SEEN_EINVAL && !c &&
           seen_distinct_new(25, 0, NULL, &c) == SEEN_EINVAL,
       "so is a precision out of range");
    seen_distinct_free(a);
    seen_distinct_free(b);
    return done();
}
