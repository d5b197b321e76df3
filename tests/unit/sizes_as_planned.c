/* sizes_as_planned.c - from keys, errors and bytes to shapes and back. */
#include "seen.h"
#include "tap.h"
#include <math.h>

static void textbook(void)
{
    ok(seen_classic_bits(1000000, 0.01) == 9585059, "m for a million keys at 1%%");
    ok(seen_classic_probes(9585059, 1000000) == 7, "k for it");
    ok(seen_classic_bits(1000000000, 0.01) == 9585058378, "m beyond 2^32");
    ok(seen_classic_probes(1, 1000) == 1, "k is at least 1");
    ok(fabs(seen_classic_error(9585059, 7, 1000000) - 0.01004) < 1e-5,
       "p back from m and k");
    ok(seen_classic_bits(0, 0.01) == 0 && seen_classic_bits(5, 1.5) == 0,
       "nonsense is 0");
}

static void both_ways(seen_kind kind, uint64_t n, double p)
{
    const char *name = seen_kind_name(kind);
    seen_size a = {.kind = kind, .keys = n, .error = p};
    if (!ok(seen_solve(&a) == 0, "%s: n=%g p=%g has a size", name, (double)n, p))
        return;
    double slack = kind == SEEN_CLASSIC ? 1.01 + 2.0 / (double)n : 1;
    ok(a.error <= p * slack * 1.0000001 && a.bytes > 0 && a.probes > 0,
       "%s: error %.4g in %llu bytes, k=%u", name, a.error, (unsigned long long)a.bytes,
       a.probes);
    seen_size b = {.kind = kind, .keys = n, .bytes = a.bytes};
    ok(seen_solve(&b) == 0 && b.error <= p * slack * 1.0000001 && b.bytes <= a.bytes,
       "%s: the same bytes give that error or less (%.4g)", name, b.error);
    seen_size c = {.kind = kind, .error = p * slack, .bytes = a.bytes};
    ok(seen_solve(&c) == 0 && (double)c.keys >= (double)n * 0.999999 &&
           c.error <= p * slack * 1.0000001,
       "%s: and hold that many keys (%llu)", name, (unsigned long long)c.keys);
    if (n > 10000) {
        seen_size less = {
            .kind = kind, .keys = n, .bytes = (uint64_t)((double)a.bytes * 0.97)};
        ok(seen_solve(&less) == 0 && less.error > p,
           "%s: three percent less is too little (%.4g)", name, less.error);
    }
}

static seen_kind choice(uint64_t n, double p)
{
    seen_size s = {.keys = n, .error = p};
    return seen_solve(&s) == 0 ? s.kind : SEEN_KIND_UNKNOWN;
}

/* The figures of the design: error relative to classic at equal bits. */
static void blocked_quality(void)
{
    static const struct {
        double bits, most_line, block_low, block_high;
    } at[] = {{8, 1.10, 1.50, 1.58}, {10, 1.20, 1.51, 1.59}, {12, 1.35, 1.69, 1.77}};
    for (int i = 0; i < 3; i++) {
        uint64_t n = 1000000, bytes = (uint64_t)(at[i].bits * 1e6 / 8);
        seen_size classic = {.kind = SEEN_CLASSIC, .keys = n, .bytes = bytes};
        seen_size blocked = {.kind = SEEN_BLOCKED, .keys = n, .bytes = bytes};
        seen_size split = {.kind = SEEN_SPLIT, .keys = n, .bytes = bytes};
        seen_solve(&classic), seen_solve(&blocked), seen_solve(&split);
        double rl = blocked.error / classic.error, rb = split.error / classic.error;
        ok(rl <= at[i].most_line && rb > at[i].block_low && rb < at[i].block_high,
           "%g bits a key: blocked %.3f, split %.3f times the error of classic (k=%u)",
           at[i].bits, rl, rb, blocked.probes);
    }
}

int main(void)
{
    textbook();
    static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT};
    for (int k = 0; k < 3; k++) {
        both_ways(kinds[k], 1, 0.1);
        both_ways(kinds[k], 1000, 0.3);
        both_ways(kinds[k], 1000000, 0.01);
        both_ways(kinds[k], 50000000, 1e-5);
        both_ways(kinds[k], 1000000000, 0.02);
    }
    blocked_quality();
    ok(choice(1000000, 0.01) == SEEN_BLOCKED, "at 1%% the choice is blocked");
    ok(choice(1000000, 1e-3) == SEEN_BLOCKED, "at 0.1%% too");
    ok(choice(1000000, 1e-6) == SEEN_CUCKOO, "at 1e-6 lines waste bits: cuckoo");
    ok(choice(10000, 0.003) == SEEN_SPLIT, "in the caches, at its best rate, split");
    /* Where the formulas of lines and blocks drown in rounding, nothing is made of
     * them. */
    ok(choice(15, 1e-13) == SEEN_CLASSIC && choice(3, 1e-15) == SEEN_CLASSIC,
       "nor do a few keys at 1e-13 go to lines");
    seen_size below = {.kind = SEEN_BLOCKED, .keys = 1000, .error = 1e-14};
    ok(seen_solve(&below) == SEEN_ETOOBIG, "lines do not promise 1e-14: %s",
       seen_reason());
    /* What 64 bits of hash cannot tell apart, no kind can. */
    seen_size sure = {.kind = SEEN_CLASSIC, .keys = 1000000000, .error = 1e-12};
    ok(seen_solve(&sure) == SEEN_EINVAL, "nor does anything below its hash: %s",
       seen_reason());
    sure = (seen_size){.kind = SEEN_CLASSIC, .error = 1e-15, .bytes = 1u << 30};
    ok(seen_solve(&sure) == 0 && sure.keys <= 18447,
       "and a gigabyte holds %llu keys at 1e-15, however empty it is",
       (unsigned long long)sure.keys);
    seen_size bad = {.keys = 5};
    ok(seen_solve(&bad) == SEEN_EINVAL, "one number is too few: %s", seen_reason());
    seen_size all = {.keys = 5, .error = 0.1, .bytes = 100};
    ok(seen_solve(&all) == SEEN_EINVAL, "three are too many: %s", seen_reason());
    seen_size tiny = {.kind = SEEN_BLOCKED, .error = 1e-9, .bytes = 64};
    ok(seen_solve(&tiny) == 0 && tiny.keys <= 12,
       "a single line holds %llu keys at 1e-9", (unsigned long long)tiny.keys);
    seen_size none = {.kind = SEEN_BLOCKED, .error = 0.01, .bytes = 10};
    ok(seen_solve(&none) == SEEN_EINVAL, "ten bytes are too few: %s", seen_reason());
    return done();
}
