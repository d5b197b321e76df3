/* fuzz_sketch_cms.c - any bytes as a count-min sketch. */
#include "fuzz_sketch.h"
#include "seen_sketch.h"

static void use(seen_cms *c)
{
    const seen_cms *both[] = {c, c};
    uint32_t n = seen_cms_add(c, "a", 1, 5);
    if (seen_cms_count(c, "a", 1) != n)
        abort();
    seen_cms_merge(c, both, (int64_t[]){2, -1}, 2);
    seen_cms_copy(c, &c);
    seen_cms_free(c);
}

FUZZ_SKETCH(cms, use)
