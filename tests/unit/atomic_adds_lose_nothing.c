/* atomic_adds_lose_nothing.c - many threads on one filter: no bit is lost. Run under TSan as well. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <pthread.h>

enum { THREADS = 4 };
static seen_filter *f;
static uint64_t each;

static void *adder(void *arg)
{
    uint64_t from = (uint64_t)(uintptr_t)arg * each, h[64];
    bool dup[64];
    for (uint64_t i = 0; i < each; i += 64) {
        for (uint64_t j = 0; j < 64; j++) {
            uint64_t x = from + i + j;
            h[j] = seen_hash(f, &x, 8);
        }
        if (i / 64 % 2)
            seen_add_hashes(f, h, 64, dup);
        else
            for (int j = 0; j < 64; j++)
                seen_add_hash(f, h[j]);
        if (!seen_has_hash(f, h[63]))
            return "lost";
    }
    return NULL;
}

int main(void)
{
    each = WORK(200000) / 64 * 64;
    static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT};
    for (int k = 0; k < 3; k++) {
        seen_spec spec = {.kind = kinds[k],
                          .keys = THREADS * each,
                          .error = 0.01,
                          .flags = SEEN_ATOMIC};
        ok(seen_new(&spec, &f) == 0, "an atomic %s filter", seen_kind_name(kinds[k]));
        pthread_t t[THREADS];
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_create(&t[i], NULL, adder, (void *)i);
        int lost = 0;
        for (int i = 0; i < THREADS; i++) {
            void *r;
            pthread_join(t[i], &r);
            lost += r != NULL;
        }
        uint64_t denied = 0;
        for (uint64_t i = 0; i < THREADS * each; i++)
            denied += !seen_has_u64(f, i);
        ok(denied == 0 && lost == 0,
           "%s: %d threads added disjoint keys and all are found",
           seen_kind_name(kinds[k]), THREADS);
        double n = (double)seen_added(f), want = (double)(THREADS * each);
        ok(n > want * 0.98 && n <= want * 1.001,
           "%s: the count is right but for false positives "
           "(%.0f of %.0f)",
           seen_kind_name(kinds[k]), n, want);
        seen_free(f);
    }
    return done();
}
