/* textbook_billion.c - the check of the books: room for a billion keys at 1%, a million
 * integers in, all found, the next million asked. */
#include "seen.h"
#include "tap.h"
#include <math.h>
#include <string.h>

int main(void)
{
#ifdef __SANITIZE_ADDRESS__
    uint64_t capacity = 10000000, n = 10000;
#else
    uint64_t capacity = 1000000000, n = 1000000;
#endif
    seen_spec spec = {
        .kind = SEEN_CLASSIC, .keys = capacity, .error = 0.01, .flags = SEEN_FIXED};
    seen_filter *f;
    if (!ok(seen_new(&spec, &f) == 0, "a filter for %g keys at 1%%", (double)capacity))
        return done();
    note("%.2f GB", (double)seen_bytes(f) / 1e9);
    for (uint64_t i = 0; i < n; i++)
        seen_add_u64(f, i);
    uint64_t found = 0, wrong = 0;
    for (uint64_t i = 0; i < n; i++) {
        found += seen_has_u64(f, i);
        wrong += seen_has_u64(f, n + i);
    }
    ok(found == n, "all of %g integers are found", (double)n);
    double predicted = seen_error_predicted(f) * (double)n;
    ok((double)wrong <= predicted + 6 * sqrt(predicted) + 1,
       "of the next %g, %llu are called present; predicted %.3g", (double)n,
       (unsigned long long)wrong, predicted);
    seen_free(f);

    /* The same full: at 1% of the size, where it takes a moment. */
    spec.keys = capacity / 100;
    seen_new(&spec, &f);
    for (uint64_t i = 0; i < spec.keys; i++)
        seen_add_u64(f, i);
    wrong = 0;
    for (uint64_t i = 0; i < n; i++)
        wrong += seen_has_u64(f, spec.keys + i);
    predicted = seen_error_predicted(f) * (double)n;
    ok(fabs((double)wrong - predicted) <= 6 * sqrt(predicted) + 0.01 * predicted,
       "with %g keys in: %llu of %g, predicted %.5g", (double)spec.keys,
       (unsigned long long)wrong, (double)n, predicted);
    char line[300];
    seen_describe(f, line, sizeof line);
    ok(strstr(line, "classic, 1 layer, k=7") == line, "%s", line);
    seen_free(f);
    return done();
}
