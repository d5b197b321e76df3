/* tdigest_finds_quantiles.c - quantiles, ranks and shares of a t-digest are off by at
 * most two nodes; merging and unkind orders included. */
#include "test_keys.h"
#include "seen_sketch.h"
#include "tap.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static double unit(uint64_t i)
{
    return ((double)(mix(i) >> 11) + 0.5) * 0x1p-53;
}
static double uniform(uint64_t i, uint64_t n)
{
    return unit(i);
}
static double exponential(uint64_t i, uint64_t n)
{
    return -log(unit(i)) * 1e6;
}
static double normal(uint64_t i, uint64_t n)
{
    return sqrt(-2 * log(unit(i))) * cos(2 * M_PI * unit(~i));
}
static double rising(uint64_t i, uint64_t n)
{
    return (double)i;
}
static double falling(uint64_t i, uint64_t n)
{
    return (double)(n - i);
}
static double few(uint64_t i, uint64_t n)
{
    return floor(unit(i) * 7);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* How far the rank of V is from Q: 0 if V stands at Q among the sorted values. */
static double rank_error(const double *v, uint64_t n, double x, double q)
{
    uint64_t below = 0, upto = 0;
    for (uint64_t i = 0; i < n; i++) {
        below += v[i] < x;
        upto += v[i] <= x;
    }
    double low = (double)below / (double)n, high = (double)upto / (double)n;
    return q < low ? low - q : q > high ? q - high : 0;
}

static void distribution(const char *what, double (*value)(uint64_t, uint64_t),
                         uint64_t compression, unsigned parts)
{
    uint64_t n = WORK(100000);
    double *v = malloc(n * sizeof *v);
    seen_tdigest *part[8];
    int failed = 0;
    for (unsigned p = 0; p < parts; p++)
        failed |= seen_tdigest_new(compression, 0, NULL, &part[p]) < 0;
    for (uint64_t i = 0; i < n; i++) {
        v[i] = value(i, n);
        failed |= seen_tdigest_add(part[i % parts], v[i], 1) < 0;
    }
    for (unsigned p = 1; p < parts; p++)
        failed |= seen_tdigest_merge(part[0], part[p]) < 0;
    seen_tdigest *t = part[0];
    qsort(v, n, sizeof *v, compare);
    seen_tdigest_info i;
    seen_tdigest_get_info(t, &i);
    ok(!failed && i.min == v[0] && i.max == v[n - 1] &&
           i.merged_weight + i.unmerged_weight == (int64_t)n,
       "%s, compression %llu, %u parts: the ends are exact", what,
       (unsigned long long)compression, parts);
    static const double q[] = {0,    0.001, 0.01, 0.1,   0.25, 0.5,
                               0.75, 0.9,   0.99, 0.999, 1};
    enum { Q = sizeof q / sizeof *q };
    double out[Q], worst = 0, worst_cdf = 0;
    seen_tdigest_quantiles(t, q, Q, out);
    for (int k = 0; k < Q; k++) {
        double node =
            q[k] * (1 - q[k]) * 2 * M_PI * log((double)n) / (double)compression;
        node += 1.5 / (double)n;
        worst = fmax(worst, rank_error(v, n, out[k], q[k]) / node);
        worst_cdf = fmax(worst_cdf,
                         rank_error(v, n, out[k], seen_tdigest_cdf(t, out[k])) / node);
    }
    ok(worst <= 2, "quantiles are off by at most two nodes: %.3f of one", worst);
    ok(worst_cdf <= 2, "so are shares: %.3f", worst_cdf);
    ok(out[0] == v[0] && out[Q - 1] == v[n - 1], "quantiles 0 and 1 are the ends");
    double one, again = 0;
    for (int k = Q; k-- > 0;) {
        seen_tdigest_quantiles(t, &q[k], 1, &one);
        again += one != out[k];
    }
    ok(again == 0, "asked one by one and backwards they are the same");
    ok(seen_tdigest_by_rank(t, 0) == v[0] &&
           seen_tdigest_by_revrank(t, 0) == v[n - 1] &&
           seen_tdigest_by_rank(t, (int64_t)n) == INFINITY &&
           seen_tdigest_rank(t, v[0] - 1) == -1 &&
           seen_tdigest_rank(t, v[n - 1] + 1) == (int64_t)n &&
           seen_tdigest_revrank(t, v[n - 1] + 1) == -1,
       "ranks end where the values do");
    double sum = 0;
    for (uint64_t k = n / 10; k < n - n / 10; k++)
        sum += v[k];
    sum /= (double)(n - 2 * (n / 10));
    double mean = seen_tdigest_trimmed_mean(t, 0.1, 0.9);
    ok(fabs(mean - sum) <= 0.01 * (v[n * 9 / 10] - v[n / 10]),
       "the trimmed mean is %g, truly %g", mean, sum);
    for (unsigned p = 0; p < parts; p++)
        seen_tdigest_free(part[p]);
    free(v);
}

static void small(void)
{
    seen_tdigest *t, *u;
    double q[] = {0.5}, out;
    seen_tdigest_new(0, 0, NULL, &t);
    seen_tdigest_quantiles(t, q, 1, &out);
    ok(isnan(out) && isnan(seen_tdigest_cdf(t, 1)) && seen_tdigest_rank(t, 1) == -2 &&
           isnan(seen_tdigest_trimmed_mean(t, 0, 1)) &&
           isnan(seen_tdigest_by_rank(t, 0)),
       "an empty digest knows no answer");
    seen_tdigest_add(t, 42, 1);
    seen_tdigest_quantiles(t, q, 1, &out);
    ok(out == 42 && seen_tdigest_cdf(t, 42) == 0.5 && seen_tdigest_rank(t, 42) == 0 &&
           seen_tdigest_revrank(t, 42) == 0 && seen_tdigest_by_rank(t, 0) == 42,
       "a digest of one value answers with it");
    ok(seen_tdigest_add(t, NAN, 1) == SEEN_EINVAL &&
           seen_tdigest_add(t, INFINITY, 1) == SEEN_EINVAL &&
           seen_tdigest_add(t, 1, 0) == SEEN_EINVAL &&
           seen_tdigest_add(t, 1, INT64_MAX) == SEEN_ERANGE,
       "what is not finite, weightless or too heavy is refused");
    seen_tdigest_copy(t, &u);
    ok(seen_tdigest_merge(t, t) == SEEN_EINVAL && seen_tdigest_merge(t, u) == SEEN_OK,
       "a digest is merged with a copy, not with itself");
    /* Weights beyond what a double tells apart: nothing can be merged any more. */
    seen_tdigest_reset(t);
    seen_tdigest_add(t, -1, (int64_t)1 << 62);
    int rc = SEEN_OK;
    int64_t taken = 0;
    for (int i = 0; i < 100000 && rc == SEEN_OK; i++, taken += rc == SEEN_OK)
        rc = seen_tdigest_add(t, i, 1);
    seen_tdigest_info i;
    seen_tdigest_get_info(t, &i);
    ok(i.merged + i.unmerged <= i.capacity && (rc == SEEN_OK || rc == SEEN_ERANGE),
       "a digest never has more nodes than room: %lld values went in",
       (long long)taken);
    seen_tdigest_free(u);
    seen_tdigest_free(t);
    ok(seen_tdigest_new(400000000, 0, NULL, &t) == SEEN_EINVAL,
       "compression has a limit");
}

/* Equal values make the quicksort of RedisBloom quadratic. */
static void many_equal(void)
{
    seen_tdigest *t;
    seen_tdigest_new(20000, 0, NULL, &t);
    for (int i = 0; i < 300000; i++)
        seen_tdigest_add(t, i % 2, 1);
    ok(fabs(seen_tdigest_cdf(t, 0) - 0.25) < 0.001,
       "a digest of 120010 nodes takes equal values");
    seen_tdigest_free(t);
}

int main(void)
{
    distribution("uniform", uniform, 100, 1);
    distribution("uniform", uniform, 1000, 1);
    distribution("exponential", exponential, 100, 1);
    distribution("exponential", exponential, 200, 8);
    distribution("normal", normal, 100, 5);
    distribution("rising", rising, 100, 1);
    distribution("falling", falling, 500, 3);
    distribution("seven values", few, 100, 2);
    small();
    many_equal();
    return done();
}
