/* The sizes that the module looks up keep the error that was asked for, and are hardly
 * larger than the exact ones. */
#include "plugins/redis/bf/blocked_sizes.h"
#include "kind/kind.h"
#include "tap.h"
#include <math.h>

int main(void)
{
    static const uint64_t keys[] = {1, 10, 100, 1000, 12345, 1000000, 1000000000};
    int broken = 0, wasteful = 0, n = 0;
    double worst = 0;
    for (double e = 0.25; e > 1.0e-5; e *= 0.93)
        for (int i = 0; i < 7; i++) {
            uint64_t bits;
            uint32_t k;
            n++;
            if (!blocked_size(keys[i], e, &bits, &k)) {
                broken++;
                continue;
            }
            /* The mean error of filters of exactly these bits and probes. */
            sn_shape got = {.kind = SEEN_BLOCKED, .units = bits / 512, .k = k};
            double error = sn_blocked.error_at(&got, (double)keys[i]);
            if (sn_blocked.body_len(&got) * 8 != bits || error > e) {
                broken++;
                note("%g for %llu keys: %g", e, (unsigned long long)keys[i], error);
            }
            if (keys[i] == 1000000) {
                seen_size exact = {.kind = SEEN_BLOCKED, .keys = keys[i], .error = e};
                seen_solve(&exact);
                double ratio = (double)bits / (double)exact.bits;
                worst = ratio > worst ? ratio : worst;
                wasteful += ratio > 1.03;
            }
        }
    ok(broken == 0, "%d sizes: the error is what was asked for", n);
    ok(wasteful == 0, "and at most 3%% more bits than needed: %.4f", worst);
    uint64_t bits;
    uint32_t k;
    ok(!blocked_size(1ull << 50, 0.01, &bits, &k), "no size for too many keys");
    ok(!blocked_size(10, 1e-7, &bits, &k), "nor for an error outside of the table");
    return done();
}
