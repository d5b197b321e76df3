/* The bytes of a layer are the whole layer: copied into a filter of the same shape
 * they answer for the same keys. */
#include "seen.h"
#include "tap.h"
#include <string.h>

static bool has(const seen_filter *f, unsigned i)
{
    return seen_has(f, &i, sizeof i);
}

int main(void)
{
    for (seen_kind kind = SEEN_CLASSIC; kind <= SEEN_SPLIT; kind++) {
        seen_size size = {.kind = kind, .keys = 1000, .error = 0.01};
        ok(seen_solve(&size) == 0, "%s: a size", seen_kind_name(kind));
        seen_spec spec = {
            .kind = kind, .bits = size.bits, .probes = size.probes, .seed = 7};
        seen_filter *f, *g;
        ok(seen_new(&spec, &f) == 0 && seen_new(&spec, &g) == 0, "two equal filters");
        for (unsigned i = 0; i < 1000; i++)
            seen_add(f, &i, sizeof i);
        size_t n, m;
        const void *from = seen_body(f, 0, &n);
        void *to;
        seen_body_to_write(g, 0, &to, &m);
        ok(n == size.bytes && m == n, "the body has the bytes the size said: %zu", n);
        memcpy(to, from, n);
        unsigned all = 0, same = 0;
        for (unsigned i = 0; i < 1000; i++)
            all += has(g, i);
        for (unsigned i = 1000; i < 3000; i++)
            same += has(f, i) == has(g, i);
        ok(all == 1000 && same == 2000, "its copy answers alike");
        ok(!seen_body(f, 1, &n) && n == 0, "there is no second layer");
        seen_free(f);
        seen_free(g);
    }
    return done();
}
