/* losses_within_interval.c - the number of keys a filter loses lies in the interval it
 * gives, in 99 of 100 filters, however small it was when it began to grow. */
#include "filter/filter.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>

enum { RUNS = WORK(300) };

/* Adds hashes FROM .. TO of run RUN; returns how many were taken for old ones. */
static uint64_t add(seen_filter *f, uint64_t run, uint64_t from, uint64_t to)
{
    uint64_t h[512], lost = 0;
    bool dup[512];
    for (size_t n; from < to; from += n) {
        n = to - from < 512 ? (size_t)(to - from) : 512;
        for (size_t j = 0; j < n; j++)
            h[j] = mix(mix(run + 1) ^ (from + j));
        seen_add_hashes(f, h, n, dup, NULL);
        for (size_t j = 0; j < n; j++)
            lost += dup[j];
    }
    return lost;
}

static bool inside(const seen_filter *f, double before, uint64_t lost)
{
    double low, high;
    seen_lost_range(f, before, &low, &high);
    return low <= (double)lost && (double)lost <= high;
}

/* RUNS filters from SPEC to N keys. */
static void runs(seen_spec spec, uint64_t n, const char *what)
{
    int all = 0, since = 0, around = 0;
    double mean = 0, spread = 0;
    for (uint64_t run = 0; run < RUNS; run++) {
        seen_filter *f;
        if (seen_new(&spec, &f) < 0) {
            ok(false, "%s: %s", what, seen_reason());
            return;
        }
        uint64_t first = add(f, run, 0, n / 3);
        double before = seen_lost_expected(f), low, high;
        uint64_t later = add(f, run, n / 3, n);
        double expected = seen_lost_expected(f);
        since += inside(f, before, later);
        seen_lost_range(f, 0, &low, &high);
        all += low <= (double)(first + later) && (double)(first + later) <= high;
        around += low <= ceil(expected) && floor(expected) <= high;
        mean += expected / RUNS;
        spread += (high - low) / 2 / RUNS;
        seen_free(f);
    }
    ok(all >= RUNS * 99 / 100, "%s to %g: %d of %d runs inside %.1f +- %.1f", what,
       (double)n, all, RUNS, mean, spread);
    ok(since >= RUNS * 99 / 100,
       "%s: %d of %d for the losses after a third of the keys", what, since, RUNS);
    ok(around == RUNS, "%s: the expectation is in the interval", what);
    /* Poisson alone takes 2.9 sqrt(mean); a usable interval is not far from that. */
    ok(spread <= 8 * sqrt(mean) + 3, "%s: the interval is narrow", what);
}

static void runs_from(seen_kind kind, uint64_t keys, double error, uint64_t n)
{
    char what[64];
    snprintf(what, sizeof what, "%s from %d keys at %g", seen_kind_name(kind),
             (int)keys, error);
    runs((seen_spec){.kind = kind, .keys = keys, .error = error}, n, what);
}

int main(void)
{
    runs_from(SEEN_CLASSIC, 100, 0.05, 3000);
    runs_from(SEEN_BLOCKED, 10, 0.3, 2000);
    runs_from(SEEN_BLOCKED, 100, 0.05, 6000);
    runs_from(SEEN_SPLIT, 100, 0.02, 10000);
    runs_from(SEEN_CUCKOO, 10, 0.05, 2000);
    runs_from(SEEN_CUCKOO, 100, 0.05, 4000);
    runs((seen_spec){.kind = SEEN_BLOCKED, .bits = 512 * 64, .probes = 5}, 6000,
         "blocked with 5 bits a key");
    runs((seen_spec){.kind = SEEN_CLASSIC, .bits = 512 * 64 * 4, .probes = 8}, 48000,
         "classic, overfull");
    return done();
}
