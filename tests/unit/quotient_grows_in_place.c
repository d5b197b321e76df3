/* quotient_grows_in_place.c - a quotient filter against a plain set: random adds,
 * growth, copies, files and merges of any two sizes; the error stays below the promise,
 * and every variant gives the same bytes and answers. */
#include "filter/filter.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static seen_filter *make(double error, unsigned flags)
{
    seen_filter *f;
    seen_spec spec = {.kind = SEEN_QUOTIENT, .error = error, .seed = 1, .flags = flags};
    return seen_new(&spec, &f) == 0 ? f : NULL;
}

static uint64_t denied(const seen_filter *f, uint64_t from, uint64_t to)
{
    uint64_t no = 0;
    for (uint64_t i = from; i < to; i++)
        no += !seen_has_hash(f, mix(i));
    return no;
}

static uint64_t denied_many(const seen_filter *f, uint64_t from, uint64_t to)
{
    uint64_t no = 0, h[777];
    bool found[777];
    for (uint64_t i = from; i < to; i += 777) {
        size_t n = to - i < 777 ? (size_t)(to - i) : 777;
        for (size_t j = 0; j < n; j++)
            h[j] = mix(i + j);
        seen_has_hashes(f, h, n, found);
        for (size_t j = 0; j < n; j++)
            no += !found[j];
    }
    return no;
}

static void add(seen_filter *f, uint64_t from, uint64_t to)
{
    uint64_t h[500];
    for (uint64_t i = from; i < to; i += 500) {
        size_t n = to - i < 500 ? (size_t)(to - i) : 500;
        for (size_t j = 0; j < n; j++)
            h[j] = mix(i + j);
        if (seen_add_hashes(f, h, n, NULL, NULL) < 0) {
            ok(false, "adds: %s", seen_reason());
            return;
        }
    }
}

/* The share of absent keys found, beside what the filter says. */
static void error_holds(const seen_filter *f, double promised, const char *when)
{
    uint64_t q = WORK(1 << 21), yes = 0, h[1024];
    bool found[1024];
    for (uint64_t i = 0; i < q; i += 1024) {
        for (uint64_t j = 0; j < 1024; j++)
            h[j] = mix(((uint64_t)1 << 50) + i + j);
        seen_has_hashes(f, h, 1024, found);
        for (int j = 0; j < 1024; j++)
            yes += found[j];
    }
    seen_stats st;
    seen_get_stats(f, &st);
    double e = st.error_now, sigma = sqrt(e / (double)q);
    ok(fabs((double)yes / (double)q - e) <= 6 * sigma + 0.01 * e && e <= promised,
       "%s: %.5f of absent keys are found, %.5f said, %g promised", when,
       (double)yes / (double)q, e, promised);
    ok(fabs(seen_error_predicted(f) / e - 1) < 0.02, "and %.5f predicted",
       seen_error_predicted(f));
}

static void grows(double error, uint64_t most)
{
    seen_filter *f = make(error, 0), *plain = make(error, SEEN_SCALAR);
    uint64_t n = 0, no = 0, times = 0, same = 0;
    while (n < most) {
        uint64_t next = n + n / 3 + 1000;
        add(f, n, next);
        add(plain, n, next);
        n = next;
        no += denied_many(f, 0, n) + denied(plain, n - n / 5, n);
        size_t a, b;
        const void *x = seen_body(f, 0, &a), *y = seen_body(plain, 0, &b);
        same += a == b && !memcmp(x, y, a);
        times++;
    }
    ok(no == 0, "error %g: no key is denied on the way to %llu", error,
       (unsigned long long)n);
    ok(same == times, "the variants have the same bytes, %llu times",
       (unsigned long long)times);
    ok(seen_kind_of(f) == SEEN_QUOTIENT && f->layers == 1, "in one layer");
    error_holds(f, error, "after growth");
    seen_size made = {.kind = SEEN_BLOCKED, .keys = n, .error = error};
    seen_solve(&made);
    double over = (double)seen_bytes(f) / (double)made.bytes;
    ok(error > 0.05 || over < (error > 0.005 ? 2.6 : 2.2),
       "%.2f times the bytes of one made to measure", over);
    seen_free(f);
    seen_free(plain);
}

static void files_come_back(void)
{
    char name[] = "/tmp/quotient.XXXXXX";
    int fd = mkstemp(name);
    seen_filter *f = make(0.01, 0), *g = NULL;
    add(f, 0, 50000);
    ok(seen_save(f, name) == 0 && seen_open(name, SEEN_READ, &g) == 0 &&
           denied_many(g, 0, 50000) == 0,
       "a saved filter is asked where it is: %s", seen_reason());
    seen_free(g);
    g = NULL;
    ok(seen_open(name, SEEN_LOAD, &g) == 0, "or loaded");
    add(g, 50000, 300000);
    ok(denied_many(g, 0, 300000) == 0, "and grows on");
    seen_free(f);
    seen_free(g);
    close(fd);
    unlink(name);
}

/* Of any two sizes, in both directions. */
static void merges(uint64_t a, uint64_t b)
{
    seen_filter *f = make(0.01, 0), *g = make(0.01, 0);
    add(f, 0, a);
    add(g, a - a / 4, a + b); /* some are in both */
    double sum = seen_error_predicted(f) + seen_error_predicted(g);
    int rc = seen_merge(f, g);
    ok(rc == 0 && denied_many(f, 0, a + b) == 0 && denied(f, 0, 1000) == 0,
       "%llu and %llu keys merge: %s", (unsigned long long)a, (unsigned long long)b,
       rc < 0 ? seen_reason() : "none is denied");
    seen_stats st;
    seen_get_stats(f, &st);
    ok(st.error_now <= sum * 1.01, "the error is at most the sum of both, %.5f",
       st.error_now);
    add(f, a + b, a + b + 100000);
    ok(denied_many(f, 0, a + b + 100000) == 0, "and it grows on");
    seen_free(f);
    seen_free(g);
}

/* Each of many filters of N keys has spent some of its error: together that is more
 * than one may have, and the filter says so. */
static void merges_many(unsigned filters, uint64_t n, bool within)
{
    seen_filter *f = make(0.01, 0);
    double sum = 0;
    int rc = 0;
    for (uint64_t i = 0; i < filters; i++) {
        seen_filter *g = make(0.01, 0);
        add(g, i * n, (i + 1) * n);
        sum += seen_error_predicted(g);
        rc |= seen_merge(f, g);
        seen_free(g);
    }
    seen_stats st;
    seen_get_stats(f, &st);
    ok(rc == 0 && (sum < 0.01) == within &&
           (within ? st.error_wanted == 0.01
                   : st.error_wanted > 0.01 && st.error_wanted < 1.5 * sum),
       "%u filters of %llu keys, errors of %.4f: %.4f promised", filters,
       (unsigned long long)n, sum, st.error_wanted);
    error_holds(f, st.error_wanted, "merged");
    uint64_t all = filters * n, more = all * 20 + 100000;
    add(f, all, more);
    ok(denied_many(f, 0, more) == 0, "no key is denied after %llu more",
       (unsigned long long)(more - all));
    seen_get_stats(f, &st);
    error_holds(f, st.error_wanted, "and then");
    seen_free(f);
}

/* Random bytes as a body: any answer, but no crash, and no growth without end. */
static void hostile(void)
{
    srand(7);
    for (int round = 0; round < WORK(200); round++) {
        seen_filter *f = make(0.01, round & 1 ? SEEN_SCALAR : 0);
        void *body;
        size_t len;
        add(f, 0, 20000);
        seen_body_to_write(f, 0, &body, &len);
        for (int k = 0; k < 1 + round * 5; k++)
            ((uint8_t *)body)[(size_t)rand() % len] = (uint8_t)rand();
        denied_many(f, 0, 20000);
        denied(f, 0, 2000);
        uint64_t h[100];
        for (int k = 0; k < 200; k++) {
            for (uint64_t j = 0; j < 100; j++)
                h[j] = mix((uint64_t)k * 100 + j + 20000);
            seen_add_hashes(f, h, 100, NULL, NULL);
        }
        seen_free(f);
    }
    ok(true, "damaged lines are survived");
}

int main(void)
{
    grows(0.1, 50000);
    grows(0.01, WORK(1000000) + 100000);
    grows(0.001, WORK(300000) + 50000);
    grows(1e-6, 60000);
    files_come_back();
    merges(300000, 300000);
    merges(20000, 500000);
    merges(500000, 9000);
    merges_many(5, 100, true);
    merges_many(64, 100, false);
    merges_many(4, 20000, false);
    hostile();
    return done();
}
