/* fuzz_sketch_top.c - any bytes as a list of heavy hitters. */
#include "fuzz_sketch.h"
#include "seen_sketch.h"

static void use(seen_top *t)
{
    seen_top_item x[8];
    seen_top_list(t, x, 8);
    for (uint64_t i = 0; i < 50; i++)
        if (seen_top_add(t, &i, i % 5, i * i) == SEEN_OK) {
            uint64_t error, n = seen_top_count(t, &i, i % 5, &error);
            if (error > n)
                abort();
        }
    seen_top_list(t, x, 8);
    seen_top_bytes(t);
}

FUZZ_SKETCH(top, use)
