/* made_again_is_made_to_measure.c - a filter that is made again from a scratch file
 * (kit/growing.h): at every number of keys as small as one made for it, whatever comes
 * no key is denied, and what it says of its losses is true. */
#include "growing.h"
#include "test_keys.h"
#include "tap.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define SEED 1

static kit_growing *begin(double error, bool kept)
{
    seen_hasher h;
    seen_hasher_init(&h, SEEN_HASH_XXH3, SEED, 0);
    seen_spec spec = {.error = error, .hasher = &h};
    return kit_growing_new(&spec, kept);
}

static uint64_t key(uint64_t i)
{
    return seen_hash_seeded(SEED, &i, 8);
}

/* Adds keys FROM .. TO-1 in batches of odd sizes, every third one twice. Returns how
 * many were called new. */
static uint64_t add(kit_growing *g, uint64_t from, uint64_t to)
{
    uint64_t h[1000], fresh = 0;
    bool dup[1000];
    size_t n = 0, most = 1;
    for (uint64_t i = from; i < to; i++) {
        h[n++] = key(i);
        if (i % 3 == 0)
            h[n++] = key(i);
        if (n >= most || i + 1 == to) {
            if (kit_growing_add(g, h, n, dup) < 0)
                return 0;
            for (size_t j = 0; j < n; j++)
                fresh += !dup[j];
            n = 0;
            most = most * 7 % 997;
        }
    }
    return fresh;
}

static uint64_t denied(const seen_filter *f, uint64_t n)
{
    uint64_t no = 0;
    for (uint64_t i = 0; i < n; i++)
        no += !seen_has_hash(f, key(i));
    return no;
}

/* Bytes over those of a filter made for N keys. */
static double over_measure(const kit_growing *g, double error, uint64_t n)
{
    seen_hasher h;
    seen_hasher_init(&h, SEEN_HASH_XXH3, SEED, 0);
    seen_spec spec = {.error = error, .hasher = &h, .keys = n};
    seen_size made;
    seen_choose(&spec, &made);
    return (double)(seen_bytes(kit_growing_filter(g)) - 64) / (double)made.bytes;
}

static void grows(double error, uint64_t most)
{
    kit_growing *g = begin(error, false);
    uint64_t n = 0, fresh = 0;
    double worst = 0;
    while (n < most) {
        uint64_t next = n + n / 50 + 1000;
        fresh += add(g, n, next);
        n = next;
        if (n > 8000 && over_measure(g, error, n) > worst)
            worst = over_measure(g, error, n);
    }
    seen_filter *f = kit_growing_filter(g);
    /* Split blocks, for small filters, may take 1.08 times the bytes of the others. */
    ok(worst <= 1.25 * 1.08, "error %g to %llu keys: at most %.2f times made to measure",
       error, (unsigned long long)n, worst);
    ok(denied(f, n) == 0, "no key is denied");
    uint64_t q = WORK(1 << 20), yes = 0;
    for (uint64_t i = 0; i < q; i++)
        yes += seen_has_hash(f, key(i + ((uint64_t)1 << 40)));
    ok((double)yes <= error * (double)q + 6 * sqrt(error * (double)q),
       "%.2g of absent keys are found", (double)yes / (double)q);
    double lost = (double)(n - fresh), said = kit_growing_lost(g);
    ok(fabs(lost - said) <= 6 * sqrt(said + 1) + said / 50, "%.0f lost, %.1f expected",
       lost, said);
    ok(kit_growing_added(g) == fresh && kit_growing_times(g) > 10,
       "made again %llu times, %llu keys were new",
       (unsigned long long)kit_growing_times(g), (unsigned long long)fresh);
    ok(!kit_growing_why_layers(g), "the scratch file has room");
    kit_growing_add(g, NULL, 0, NULL);
    seen_free(kit_growing_end(g));
}

static void few_keys(void)
{
    kit_growing *g = begin(0.01, true);
    uint64_t fresh = add(g, 0, 90000);
    ok(fresh == 90000 && seen_kind_of(kit_growing_filter(g)) == SEEN_SET,
       "a filter that is kept holds 90,000 whole hashes");
    seen_free(kit_growing_end(g));
    g = begin(0.01, false);
    ok(add(g, 0, 7000) == 7000, "the first 7,000 keys lose nothing");
    seen_free(kit_growing_end(g));
    ok(!begin(1e-8, false), "a kind whose adds are slow is left to the library");
}

/* Where the file cannot be made, or ends in the middle. */
static void no_room(void)
{
    char *tmp = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", "/nowhere/to/be/found", 1);
    kit_growing *g = begin(0.01, false);
    uint64_t n = 300000;
    add(g, 0, n);
    ok(kit_growing_why_layers(g) == ENOENT && !kit_growing_why_layers(g),
       "without a folder it says why, once");
    ok(denied(kit_growing_filter(g), n) == 0, "and grows all the same");
    seen_free(kit_growing_end(g));
    if (tmp)
        setenv("TMPDIR", tmp, 1);
    else
        unsetenv("TMPDIR");
    free(tmp);
    struct rlimit was, few = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &was);
    few.rlim_max = was.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &few);
    g = begin(0.01, false);
    uint64_t fresh = add(g, 0, n);
    setrlimit(RLIMIT_FSIZE, &was);
    ok(kit_growing_why_layers(g) == EFBIG, "a full disk is told apart");
    ok(kit_growing_times(g) > 5 && denied(kit_growing_filter(g), n) == 0,
       "what was on it is in the layers");
    double lost = (double)(n - fresh), said = kit_growing_lost(g);
    ok(fabs(lost - said) <= 6 * sqrt(said + 1) + said / 30, "%.0f lost, %.1f expected",
       lost, said);
    seen_free(kit_growing_end(g));
}

int main(void)
{
    ok(!kit_growing_end(NULL), "nothing ends as nothing");
    grows(0.05, 100000);
    grows(0.01, WORK(600000) + 100000);
    grows(0.001, 200000);
    few_keys();
    no_room();
    return done();
}
