/* fuzz_sketch_tdigest.c - any bytes as a t-digest. */
#include "fuzz_sketch.h"
#include "seen_sketch.h"

static void use(seen_tdigest *t)
{
    static const double q[] = {0, 0.1, 0.5, 0.4, 1};
    double out[5];
    seen_tdigest *u;
    for (int round = 0; round < 2; round++) {
        seen_tdigest_quantiles(t, q, 5, out);
        for (int i = 0; i < 5; i++) {
            seen_tdigest_cdf(t, out[i]);
            seen_tdigest_rank(t, out[i]);
            seen_tdigest_revrank(t, out[i]);
            seen_tdigest_by_rank(t, i);
            seen_tdigest_by_revrank(t, i);
            seen_tdigest_add(t, i * 1e308, 1 + i);
        }
        seen_tdigest_trimmed_mean(t, 0.1, 0.9);
        if (seen_tdigest_copy(t, &u) == SEEN_OK) {
            seen_tdigest_merge(t, u);
            seen_tdigest_free(u);
        }
    }
}

FUZZ_SKETCH(tdigest, use)
