/* losses_within_interval.c - the number of keys a filter loses lies in the interval it
 * gives, in 99 of 100 filters, however small it was when it began to grow. */
#include "filter/filter.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

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

/* Every kind that can be added to, fixed and grown from 100 keys or from none. The
 * seeds are fixed; TIMES is 300 for the figure that the header gives. */
static void every_kind(int times)
{
    static const struct {
        seen_kind kind;
        unsigned flags;
        const char *name;
    } kinds[] = {{SEEN_CLASSIC, 0, "classic"},
                 {SEEN_BLOCKED, 0, "blocked"},
                 {SEEN_SPLIT, 0, "split"},
                 {SEEN_SET, 0, "set"},
                 {SEEN_CUCKOO, 0, "cuckoo"},
                 {SEEN_CUCKOO, SEEN_ONCE, "cuckoo, once"},
                 {SEEN_QUOTIENT, 0, "quotient"},
                 {SEEN_QUOTIENT, SEEN_REMOVES, "quotient that removes"}};
    static const uint64_t first[] = {20000, 100, 0};
    static const double errors[] = {0.1, 0.01, 0.001};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int how = 0; how < 3; how++)
            for (int e = 0; e < 3; e++) {
                seen_spec spec = {.kind = kinds[k].kind,
                                  .flags = kinds[k].flags | (how ? 0 : SEEN_FIXED),
                                  .keys = first[how],
                                  .error = errors[e]};
                double expected = 0, lost = 0;
                int in = 0;
                for (int run = 0; run < times; run++) {
                    seen_filter *f;
                    if (seen_new(&spec, &f) < 0)
                        break;
                    uint64_t now = add(f, (uint64_t)run, 0, 20000);
                    in += inside(f, 0, now);
                    lost += (double)now / times;
                    expected += seen_lost_expected(f) / times;
                    seen_free(f);
                }
                ok(in >= times * 99 / 100,
                   "%s, %s at %g: %d of %d inside, %.2f expected, %.2f lost",
                   kinds[k].name, how ? how > 1 ? "grown from 0" : "grown from 100"
                                      : "fixed",
                   errors[e], in, times, expected, lost);
            }
}

/* An argument: as many runs of every kind. */
int main(int argc, char **argv)
{
    every_kind(argc > 1 ? atoi(argv[1]) : WORK(20));
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
