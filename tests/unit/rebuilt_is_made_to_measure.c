/* rebuilt_is_made_to_measure.c - a filter that is made again from a scratch file
 * (kit/scratch_hashes.h): at every number of keys as small as one made for it, whatever
 * comes no key is denied, and what it says of its losses is true. */
#include "scratch_hashes.h"
#include "test_keys.h"
#include "tap.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define SEED 1

static seen_filter *begin(double error, kit_scratch **scratch)
{
    seen_hasher h;
    seen_filter *f;
    seen_hasher_init(&h, SEEN_HASH_XXH3, SEED, 0);
    seen_spec spec = {.error = error, .hasher = &h};
    if (seen_new(&spec, &f) < 0)
        return NULL;
    *scratch = kit_scratch_for(f);
    return f;
}

static void end(seen_filter *f, kit_scratch *s)
{
    seen_free(f);
    kit_scratch_free(s);
}

static uint64_t key(uint64_t i)
{
    return seen_hash_seeded(SEED, &i, 8);
}

/* Adds keys FROM .. TO-1 in batches of odd sizes, every third one twice. Returns how
 * many were called new. */
static uint64_t add(seen_filter *f, uint64_t from, uint64_t to)
{
    uint64_t h[1000], fresh = 0;
    bool dup[1000];
    size_t n = 0, most = 1;
    for (uint64_t i = from; i < to; i++) {
        h[n++] = key(i);
        if (i % 3 == 0)
            h[n++] = key(i);
        if (n >= most || i + 1 == to) {
            if (seen_add_hashes(f, h, n, dup, NULL) < 0)
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
static double over_measure(const seen_filter *f, double error, uint64_t n)
{
    seen_spec spec = {.error = error, .keys = n};
    seen_size made;
    seen_choose(&spec, &made);
    return (double)(seen_bytes(f) - 64) / (double)made.bytes;
}

static void loses_as_it_says(const seen_filter *f, double lost, double share)
{
    double said = seen_lost_expected(f), low, high;
    ok(fabs(lost - said) <= 6 * sqrt(said + 1) + said * share,
       "%.0f lost, %.1f expected", lost, said);
    seen_lost_range(f, 0, &low, &high);
    ok(low <= said && said <= high, "the interval is %.0f to %.0f", low, high);
}

static void grows(double error, uint64_t most)
{
    kit_scratch *s;
    seen_filter *f = begin(error, &s);
    uint64_t n = 0, fresh = 0, times = 0, bytes = 0;
    double worst = 0;
    while (n < most) {
        uint64_t next = n + n / 50 + 1000;
        fresh += add(f, n, next);
        n = next;
        times += seen_bytes(f) != bytes;
        bytes = seen_bytes(f);
        if (n > 8000 && over_measure(f, error, n) > worst)
            worst = over_measure(f, error, n);
    }
    /* Split blocks, for small filters, may take 1.08 times the bytes of the others. */
    ok(worst <= 1.25 * 1.08,
       "error %g to %llu keys: at most %.2f times made to measure", error,
       (unsigned long long)n, worst);
    ok(denied(f, n) == 0, "no key is denied");
    uint64_t q = WORK(1 << 20), yes = 0;
    for (uint64_t i = 0; i < q; i++)
        yes += seen_has_hash(f, key(i + ((uint64_t)1 << 40)));
    ok((double)yes <= error * (double)q + 6 * sqrt(error * (double)q),
       "%.2g of absent keys are found", (double)yes / (double)q);
    loses_as_it_says(f, (double)(n - fresh), 0.02);
    ok(seen_added(f) == fresh && times > 10,
       "made again %llu times, %llu keys were new", (unsigned long long)times,
       (unsigned long long)fresh);
    ok(!kit_scratch_ended(s), "the scratch file has room");
    end(f, s);
}

static void few_keys(void)
{
    kit_scratch *s, *others;
    seen_filter *f = begin(0.01, &s), *other = begin(0.01, &others);
    ok(add(f, 0, 7000) == 7000, "the first 7,000 keys lose nothing");
    ok(seen_merge(f, other) == SEEN_EKIND && seen_clear(f) == SEEN_EKIND &&
           seen_remove_hash(f, key(1)) == SEEN_EKIND,
       "what the file would not know of is refused");
    end(f, s);
    end(other, others);
    f = begin(1e-8, &s);
    ok(f && !s, "a kind whose adds are slow is left to the library");
    end(f, s);
}

/* Where the file cannot be made, or ends in the middle. */
static void no_room(void)
{
    kit_scratch *s;
    char *tmp = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", "/nowhere/to/be/found", 1);
    seen_filter *f = begin(0.01, &s);
    uint64_t n = 300000;
    add(f, 0, n);
    ok(kit_scratch_ended(s) == ENOENT && !kit_scratch_ended(s),
       "without a folder it says why, once");
    ok(denied(f, n) == 0, "and grows all the same");
    end(f, s);
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
    f = begin(0.01, &s);
    uint64_t fresh = add(f, 0, n);
    setrlimit(RLIMIT_FSIZE, &was);
    ok(kit_scratch_ended(s) == EFBIG, "a full disk is told apart");
    ok(denied(f, n) == 0, "what was on it is in the filter that goes on");
    loses_as_it_says(f, (double)(n - fresh), 0.03);
    end(f, s);
}

/* A source that cannot give back what it was given. */
static int keeps(void *ctx, const uint64_t *h, size_t n)
{
    (void)ctx, (void)h, (void)n;
    return 0;
}

static int gives_nothing(void *ctx, int (*give)(void *to, const uint64_t *h, size_t n),
                         void *to)
{
    (void)ctx, (void)give, (void)to;
    return SEEN_EIO;
}

static void lost_hashes(void)
{
    seen_filter *f;
    uint64_t h[20000];
    seen_new(NULL, &f);
    ok(seen_grow_from(f, &(seen_hash_source){keeps, gives_nothing, NULL}) == 0,
       "a bad source");
    for (uint64_t i = 0; i < 20000; i++)
        h[i] = key(i);
    ok(seen_add_hashes(f, h, 20000, NULL, NULL) == SEEN_EIO && denied(f, 7000) == 0,
       "hashes that were lost are an error, and never a false no");
    ok(seen_grow_from(f, &(seen_hash_source){keeps, gives_nothing, NULL}) ==
           SEEN_EINVAL,
       "a filter that has keys does not begin to grow from a source");
    seen_free(f);
}

int main(void)
{
    grows(0.05, 100000);
    grows(0.01, WORK(600000) + 100000);
    grows(0.001, 200000);
    few_keys();
    no_room();
    lost_hashes();
    return done();
}
