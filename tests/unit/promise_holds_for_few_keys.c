/* promise_holds_for_few_keys.c - the error promised holds from one key on, in every
 * kind: computed for many sizes, and measured over many filters with seeds of their
 * own. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>

static void computed(seen_kind kind)
{
    static const double errors[] = {0.3, 0.05, 0.01, 0.001, 1e-6};
    unsigned over = 0, tried = 0;
    double worst = 0;
    for (int e = 0; e < 5; e++)
        for (uint64_t n = 1; n < 3000000; n = n < 40 ? n + 1 : n * 2 + 1) {
            seen_size s = {.kind = kind, .keys = n, .error = errors[e]};
            if (seen_solve(&s) < 0)
                continue;
            tried++;
            over += s.error > errors[e] * (1 + 1e-12);
            worst = fmax(worst, s.error / errors[e]);
        }
    ok(tried > 100 && over == 0,
       "%s: %u sizes, the promise is kept by all (%.4f of it)", seen_kind_name(kind),
       tried, worst);
}

/* The share of yes to absent keys, over FILTERS filters of N keys. */
static void measured(seen_kind kind, uint64_t n, double error)
{
    uint64_t filters = WORK(60000) / (n + 20), asks = 200, yes = 0;
    double sum2 = 0;
    for (uint64_t i = 0; i < filters; i++) {
        seen_filter *f;
        seen_spec spec = {.kind = kind,
                          .keys = n,
                          .error = error,
                          .flags = SEEN_FIXED,
                          .seed = i + 1};
        if (seen_new(&spec, &f) < 0)
            return;
        uint64_t own = 0;
        for (uint64_t x = 0; x < n; x++)
            seen_add_u64(f, x);
        for (uint64_t x = 0; x < asks; x++)
            own += seen_has_u64(f, 1000000 + x);
        yes += own;
        sum2 += (double)own * (double)own;
        seen_free(f);
    }
    double mean = (double)yes / (double)filters;
    double sigma =
        sqrt(fmax(sum2 / (double)filters - mean * mean, mean) / (double)filters);
    ok(mean <= (double)asks * error + 6 * sigma,
       "%s of %llu keys: %.5f measured, %g promised", seen_kind_name(kind),
       (unsigned long long)n, mean / (double)asks, error);
}

int main(void)
{
    static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT,
                                      SEEN_CUCKOO};
    static const uint64_t keys[] = {1, 2, 3, 5, 10, 30, 100};
    for (int k = 0; k < 4; k++) {
        computed(kinds[k]);
        for (int i = 0; i < 7; i++)
            measured(kinds[k], keys[i], 0.01);
    }
    return done();
}
