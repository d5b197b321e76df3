/* growth_keeps_error.c - filters that grow: the error stays below the promise for ever, at a price
 * in bytes that is written down in lib/filter/grow.c. */
#include "filter/filter.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>

static double rate(const seen_filter *f, uint64_t from, uint64_t n)
{
    uint64_t yes = 0, h[1024];
    bool found[1024];
    for (uint64_t i = 0; i < n; i += 1024) {
        for (int j = 0; j < 1024; j++) {
            uint64_t x = from + i + (uint64_t)j;
            h[j] = seen_hash(f, LE8(x));
        }
        seen_has_hashes(f, h, 1024, found);
        for (int j = 0; j < 1024; j++)
            yes += found[j];
    }
    return (double)yes / (double)n;
}

static void grow(seen_kind kind, uint64_t keys, double error, uint64_t n)
{
    seen_filter *f;
    seen_spec spec = {.kind = kind, .keys = keys, .error = error};
    if (!ok(seen_new(&spec, &f) == 0, "a growing %s filter", seen_kind_name(kind)))
        return;
    uint64_t lost = 0, denied = 0;
    for (uint64_t i = 0; i < n; i++)
        lost += seen_add_u64(f, i) == SEEN_DUP;
    for (uint64_t i = 0; i < n; i++)
        denied += !seen_has_u64(f, i);
    ok(denied == 0, "%s grown to %g keys: none is denied", seen_kind_name(kind),
       (double)n);
    double q = WORK(1 << 20), got = rate(f, (uint64_t)1 << 50, (uint64_t)q);
    double predicted = seen_error_predicted(f);
    double sigma = sqrt(predicted / q);
    ok(predicted <= error,
       "%s from %g to %g keys, %u layers: predicted error %.4g, promised %g",
       seen_kind_name(f->kind), (double)keys, (double)n, f->layers, predicted, error);
    /* A small first layer is fuller or emptier than the average one, and all later keys
     * meet it: what its bits say holds to six sigma, the prediction to that spread. */
    seen_stats st;
    seen_get_stats(f, &st);
    ok(fabs(got - st.error_now) <= 6 * sqrt(st.error_now / q) + 0.02 * st.error_now + 1 / q,
       "measured %.4g, the bits say %.4g", got, st.error_now);
    double spread = fabs(st.error_now / predicted - 1), expected = seen_lost_expected(f);
    ok(spread <= (keys && keys < 10000 ? 0.25 : 0.02) + 6 * sigma / predicted,
       "the prediction is %.1f%% away", 100 * spread);
    ok(fabs((double)lost - expected) <=
           6 * sqrt(expected + 1) + (0.03 + 1.2 * spread) * expected,
       "lost while growing: predicted %.1f, actual %llu", expected,
       (unsigned long long)lost);
    /* All the layers that could ever come keep the sum below the promise. */
    double sum = 0;
    for (uint32_t i = 0; i < SN_MAX_LAYERS; i++) {
        uint64_t cap;
        double e;
        sn_layer_goal(f, i, &cap, &e);
        sum += e;
    }
    ok(sum <= error * 1.0000001,
       "the shares of %d layers add up to %.5f of the promise", SN_MAX_LAYERS,
       sum / error);
    seen_free(f);
}

/* Bytes when grown from nothing, over bytes made to measure, on average. */
static void price(void)
{
    seen_filter *f;
    seen_spec spec = {.kind = SEEN_BLOCKED, .error = 0.01};
    seen_new(&spec, &f);
    double sum = 0;
    int points = 0;
    for (uint64_t n = 100000; n <= 10000000; n += 100000, points++) {
        while (({
                   uint64_t c = 0;
                   for (uint32_t i = 0; i < f->layers; i++)
                       c += f->layer[i].shape.capacity;
                   c;
               }) < n)
            sn_grow(f);
        seen_size made = {.kind = SEEN_BLOCKED, .keys = n, .error = 0.01};
        seen_solve(&made);
        sum += (double)seen_bytes(f) / (double)made.bytes;
    }
    ok(sum / points <= 2.7,
       "grown from nothing to 1 .. 10 million keys: %.2f times the bytes "
       "of one made to measure, %u layers",
       sum / points, f->layers);
    seen_free(f);
}

int main(void)
{
    grow(SEEN_AUTO, 0, 0.01, WORK(1000000));
    grow(SEEN_CLASSIC, 0, 0.001, WORK(300000));
    grow(SEEN_BLOCKED, 10, 0.05, WORK(100000));
    grow(SEEN_SPLIT, 1000, 0.02, WORK(200000));
    grow(SEEN_BLOCKED, WORK(500000), 0.01, WORK(500000));
    price();
    return done();
}
