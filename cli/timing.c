/* timing.c - makes a filter and measures lookups in it. */
#include "timing.h"
#include "messages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASKED = 1 << 18, ROUNDS = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t number(uint64_t i)
{
    return seen_hash_seeded(42, &i, sizeof i);
}

static seen_filter *make(const seen_size *s, const uint64_t *h, uint64_t n)
{
    seen_filter *f = NULL;
    double error = s->error < 0.999 ? s->error : 0.999;
    if (s->kind == SEEN_RIBBON) {
        seen_build_spec spec = {.error = error < 2.4e-10 ? 2.4e-10 : error};
        seen_builder *b;
        if (seen_builder_new(&spec, &b) < 0)
            return NULL;
        if (seen_builder_add_hashes(b, h, n) == 0)
            seen_builder_finish(b, &f);
        seen_builder_free(b);
        return f;
    }
    seen_spec spec = {.kind = s->kind, .keys = n, .error = error, .flags = SEEN_FIXED};
    if (s->kind == SEEN_CLASSIC || s->kind == SEEN_BLOCKED || s->kind == SEEN_CUCKOO)
        spec.probes = s->probes;
    if (seen_new(&spec, &f) < 0)
        return NULL;
    seen_add_hashes(f, h, n, NULL, NULL);
    return f;
}

double timing_lookup(const seen_size *s)
{
    uint64_t n = s->keys < TIMING_KEYS ? s->keys : TIMING_KEYS;
    uint64_t *h = kit_alloc(n * sizeof *h), *ask = kit_alloc(ASKED * sizeof *ask);
    bool *found = kit_alloc(ASKED);
    for (uint64_t i = 0; i < n; i++)
        h[i] = number(i);
    for (uint64_t i = 0; i < ASKED; i++)
        ask[i] = number(i & 1 ? n + i : number(i) % n);
    seen_filter *f = make(s, h, n);
    double best = 0;
    for (int r = 0; f && r < ROUNDS; r++) {
        double t = now();
        seen_has_hashes(f, ask, ASKED, found);
        t = (now() - t) / ASKED * 1e9;
        best = r == 0 || t < best ? t : best;
    }
    seen_free(f);
    free(found);
    free(ask);
    free(h);
    return best;
}
