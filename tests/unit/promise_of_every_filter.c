/* promise_of_every_filter.c - what a filter promises holds for itself, not only for the
 * mean of many: with as many keys added as it was made for, the error that its bits
 * show is at most the promised one, in every kind, however it was made and however it
 * grew. And nothing is promised that 64-bit hashes cannot keep. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>

static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT,
                                  SEEN_SET,     SEEN_CUCKOO,  SEEN_QUOTIENT};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Adds keys of RUN until N are in; as many again may be taken for others. */
static void fill(seen_filter *f, uint64_t run, uint64_t n)
{
    for (uint64_t x = 0; seen_added(f) < n && x < 2 * n + 1000; x++)
        if (seen_add_hash(f, mix(mix(run) ^ x)) < 0)
            break;
}

/* The stated error over the promised one, of a filter of SPEC with its keys; 0 if this
 * kind cannot be made so. */
static double kept(const seen_spec *spec, uint64_t run)
{
    seen_filter *f;
    seen_stats st;
    if (seen_new(spec, &f) < 0)
        return 0;
    fill(f, run, spec->keys);
    seen_get_stats(f, &st);
    seen_free(f);
    return st.error_now / st.error_wanted;
}

/* Fixed filters, made from an error or (BUDGET) from a memory. */
static void at_capacity(seen_kind kind, bool budget, unsigned flags)
{
    static const uint64_t keys[] = {1, 3, 10, 100, 1000, 10000};
    static const double errors[] = {0.1, 0.01, 1. / 256, 0.001, 1e-5, 1e-9};
    static const uint64_t bits[] = {4, 8, 16, 40, 134, 500};
    unsigned made = 0, over = 0;
    double worst = 0;
    for (int i = 0; i < 6; i++)
        for (int e = 0; e < 6; e++)
            for (uint64_t run = 1; run <= WORK(keys[i] < 10000 ? 30 : 4); run++) {
                seen_spec spec = {.kind = kind, .keys = keys[i], .flags = flags};
                if (budget)
                    spec.memory = (keys[i] * bits[e] / 8 + 63) / 64 * 64;
                else
                    spec.error = errors[e];
                double share = kept(&spec, run * 100 + (uint64_t)kind);
                made += share > 0;
                over += share > 1;
                worst = fmax(worst, share);
            }
    ok(made > 20 && over == 0,
       "%s made from %s%s: %u filters, each keeps its promise (%.4f of it)",
       seen_kind_name(kind), budget ? "a memory" : "an error",
       flags & SEEN_ONCE ? ", each key once" : "", made, worst);
}

/* Grown from FIRST keys to many times as many. */
static void grown(seen_kind kind, uint64_t first, double error, unsigned flags)
{
    unsigned over = 0;
    double worst = 0, mean = 0;
    const uint64_t runs = WORK(30);
    for (uint64_t run = 1; run <= runs; run++) {
        seen_spec spec = {.kind = kind, .keys = first, .error = error, .flags = flags};
        seen_filter *f;
        seen_stats st;
        if (seen_new(&spec, &f) < 0) {
            ok(false, "%s: %s", seen_kind_name(kind), seen_reason());
            return;
        }
        fill(f, run, 40000);
        seen_get_stats(f, &st);
        over += st.error_now > error;
        worst = fmax(worst, st.error_now / error);
        mean += st.error_now / error / (double)runs;
        seen_free(f);
    }
    ok(over == 0, "%s grown from %d keys at %g: %.3f of the promise at worst, %.3f on "
       "average", seen_kind_name(kind), (int)first, error, worst, mean);
}

/* Nothing is promised that 64-bit hashes cannot keep, and more memory is never an
 * excuse for more probes. */
static void floor_of_hashes(void)
{
    bool above = true, few = true, agreed = true, whole = true;
    for (uint64_t n = 1; n <= 1000000; n *= 100)
        for (uint64_t m = 64 * n; m <= 512 * n + 4096; m *= 2) {
            seen_spec spec = {.keys = n, .memory = m};
            seen_size chosen, solved = {.keys = n, .bytes = m};
            agreed &= seen_choose(&spec, &chosen) == 0 && seen_solve(&solved) == 0 &&
                      chosen.kind == solved.kind && chosen.bytes == solved.bytes;
            whole &= chosen.kind == SEEN_SET;
            for (int k = 0; k <= KINDS; k++) {
                seen_size s = {.kind = k < KINDS ? kinds[k] : SEEN_RIBBON,
                               .keys = n, .bytes = m};
                if (seen_solve(&s) < 0)
                    continue;
                above &= s.error >= (double)n * 0x1p-64;
                few &= s.kind != SEEN_CLASSIC || s.probes <= 32;
            }
        }
    ok(above, "no kind promises less than keys / 2^64, in any memory");
    ok(few, "nor takes more than 32 probes, however much there is");
    ok(agreed && whole, "where whole hashes fit, they are chosen, planned or made");
    seen_spec spec = {.keys = 1000000, .memory = 64 << 20};
    seen_filter *f;
    seen_stats st;
    seen_new(&spec, &f);
    seen_get_stats(f, &st);
    ok(st.kind == SEEN_SET && st.capacity >= 1000000 &&
           st.error_wanted >= (double)st.capacity * 0x1p-64,
       "a million keys in 64 MiB: a set of up to %llu, error %g",
       (unsigned long long)st.capacity, st.error_wanted);
    seen_free(f);
    spec.flags = SEEN_ATOMIC;
    seen_new(&spec, &f);
    seen_get_stats(f, &st);
    ok(st.kind != SEEN_SET && st.probes <= 32 && st.error_wanted >= 1e6 * 0x1p-64,
       "for many threads: %s with %u probes, error %g", seen_kind_name(st.kind),
       st.probes, st.error_wanted);
    seen_free(f);
    spec = (seen_spec){.bits = (uint64_t)1 << 30, .keys = 1000000};
    seen_size bits;
    ok(seen_choose(&spec, &bits) == 0 && bits.probes <= 32,
       "a number of bits alone does not choose more, either: %u", bits.probes);
}

int main(void)
{
    for (int k = 0; k < KINDS; k++) {
        at_capacity(kinds[k], false, SEEN_FIXED);
        at_capacity(kinds[k], true, 0);
    }
    at_capacity(SEEN_CUCKOO, false, SEEN_FIXED | SEEN_ONCE);
    at_capacity(SEEN_CUCKOO, true, SEEN_ONCE);
    for (int k = 0; k < KINDS; k++)
        for (uint64_t first = 0; first <= 1000; first = first ? first * 10 : 10)
            grown(kinds[k], first, 0.01, 0);
    grown(SEEN_CUCKOO, 100, 0.01, SEEN_ONCE);
    grown(SEEN_QUOTIENT, 0, 0.1, SEEN_REMOVES);
    grown(SEEN_CLASSIC, 100, 0.1, 0);
    grown(SEEN_CLASSIC, 100, 0.001, 0);
    grown(SEEN_BLOCKED, 100, 0.001, 0);
    floor_of_hashes();
    return done();
}
