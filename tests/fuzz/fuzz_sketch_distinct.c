/* fuzz_sketch_distinct.c - any bytes as a HyperLogLog. */
#include "fuzz_sketch.h"
#include "seen_sketch.h"

static void use(seen_distinct *d)
{
    double n = seen_distinct_count(d);
    if (!(n >= 0))
        abort();
    for (uint64_t i = 0; i < 20; i++)
        seen_distinct_add(d, &i, 8);
    if (seen_distinct_count(d) < n || seen_distinct_merge(d, d) != SEEN_OK)
        abort();
}

FUZZ_SKETCH(distinct, use)
