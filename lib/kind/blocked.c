/* blocked.c - blocked Bloom filter: all bits of a key in one cache line. The default.
 *
 * A key touches one 64-byte line, so a lookup costs one cache miss. Its k bits go to k
 * consecutive 64-bit lanes, starting at a rotation that the hash chooses, so any k is
 * one vector OR. The error is 1.09 / 1.19 / 1.34 times that of classic.c at 8 / 10 / 12
 * bits a key; below 1e-4 crowded lines cost too much and classic.c is smaller. This
 * file has the sizes and the scalar reference; blocked_x86.c and blocked_neon.c are
 * variants. */
#include "kind/blocked.h"
#include "base/fail.h"
#include <math.h>

/* Bits that a key sets in the lane J places after its rotation: 0, 1 or 2. */
static int bits_in(uint32_t k, int j)
{
    return (j < (int)k) + (j + 8 < (int)k);
}

/* ---- sizes ------------------------------------------------------------------- */

/* The exact expected error. A lookup tests one or two bits in each of its lanes. By
 * inclusion and exclusion, "all are set" expands into terms "these stay clear", with
 * one choice for each lane: no bit (factor 1), one bit, or both. A key of rotation r
 * sets bits_in((j - r) mod 8) bits in lane j; each misses one given bit with
 * probability 63/64, two with 62/64. Keys are independent, so a term is (probability
 * for one key)^n. PROD has the probability for a key in this line, by rotation. */
static double expand(uint32_t k, int lane, double coef, const double prod[8],
                     double lines, double n)
{
    while (lane < 8 && bits_in(k, lane) == 0)
        lane++;
    if (lane == 8) {
        double mean = 0;
        for (int r = 0; r < 8; r++)
            mean += prod[r] / 8;
        /* The probability that one key sets one of them. It is near 0 with many lines,
         * where log(1 - x) would lose the digits in which the terms differ. */
        double hit = (1 - mean) / lines;
        return coef * (hit < 1 ? exp(n * log1p(-hit)) : 0);
    }
    static const double miss[2] = {63.0 / 64, 62.0 / 64};
    int asked = bits_in(k, lane);
    /* Two tested bits are the same bit with probability 1/64. */
    double weight[2] = {asked == 1 ? -1.0 : -127.0 / 64, 63.0 / 64};
    double sum = expand(k, lane + 1, coef, prod, lines, n);
    for (int c = 0; c < asked; c++) {
        double next[8];
        for (int r = 0; r < 8; r++) {
            int thrown = bits_in(k, (lane - r) & 7);
            next[r] = prod[r];
            while (thrown--)
                next[r] *= miss[c];
        }
        sum += expand(k, lane + 1, coef * weight[c], next, lines, n);
    }
    return sum;
}

static double error_of(uint32_t k, double lines, double n)
{
    if (n <= 0)
        return 0;
    static const double one[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    double e = expand(k, 0, 1, one, lines, n);
    /* The sum has some 2^k terms, each of up to 1 and rounded. */
    return sn_with_hash(fmax(e, 0) + fmax(ldexp(1, (int)k - 51), 1e-13), n);
}

static double error_at(const sn_shape *s, double n)
{
    return error_of(s->k, (double)s->units, n);
}

static double error_most(const sn_shape *s, double n)
{
    double lines = (double)s->units, came = sn_came(s, n);
    return sn_lines_most(error_at(s, came), lines, came, s->k, 64);
}

/* The fewest lines for N keys at error P with K probes; 0 if too many. */
static double lines_for(uint32_t k, double n, double p)
{
    /* Starts at a guess and widens until the solution is between lo and hi. */
    const double most = (double)SN_MAX_BYTES / 64;
    double x = floor(n * (1 - log2(p) * 1.5) / 512), lo = 0, hi = 0, at_lo = 0,
           at_hi = 0;
    for (double step = 1.25; !hi || !lo; step *= step) {
        x = x < 1 ? 1 : x > most ? most : x;
        double e = error_of(k, x, n);
        if (e > p) {
            lo = x;
            at_lo = log(e / p);
            x = ceil(x * step);
        } else {
            hi = x;
            at_hi = log(e / p);
            x = floor(x / step);
        }
        if (lo == most)
            return 0;
        if (hi == 1)
            return 1;
    }
    /* The logarithm of the error is nearly linear, so the next guess is the zero of the
     * line between both ends; an end that stays has its weight halved each time. */
    while (hi - lo > 1 && hi - lo > hi * 1e-7) {
        double mid = floor(lo + (hi - lo) * at_lo / (at_lo - at_hi));
        mid = mid <= lo ? lo + 1 : mid >= hi ? hi - 1 : mid;
        double e = error_of(k, mid, n);
        if (e > p) {
            lo = mid;
            at_lo = log(e / p);
            at_hi /= 2;
        } else {
            hi = mid;
            at_hi = log(e / p);
            at_lo /= 2;
        }
    }
    return hi;
}

static int shape_for(sn_shape *s, double n, double p)
{
    double best = 0;
    if (s->k > SN_BLOCKED_KMAX)
        return sn_fail(SEEN_ETOOBIG, "a blocked filter has at most %d probes, not %u",
                       SN_BLOCKED_KMAX, s->k);
    if (s->k) {
        best = lines_for(s->k, n, p);
    } else {
        /* As a function of k the size has one minimum, near 0.9 log2(1/p). */
        int guess = p > 0 ? (int)(-log2(p) * 0.9 + 0.5) : SN_BLOCKED_KMAX;
        guess = guess < 1 ? 1 : guess > SN_BLOCKED_KMAX ? SN_BLOCKED_KMAX : guess;
        best = lines_for((uint32_t)guess, n, p);
        s->k = (uint32_t)guess;
        for (int dir = -1; dir <= 1; dir += 2)
            for (int k = guess + dir; k >= 1 && k <= SN_BLOCKED_KMAX; k += dir) {
                double lines = lines_for((uint32_t)k, n, p);
                if (!lines && !best)
                    continue; /* rounding hides so small an error, less with fewer */
                if (!lines || (best && lines >= best))
                    break;
                best = lines;
                s->k = (uint32_t)k;
            }
        /* Up to eight bits take one vector; a second vector must save more than 3% of
         * the bytes. */
        double eight = s->k > 8 ? lines_for(8, n, p) : 0;
        if (eight && eight <= best * 1.03) {
            best = eight;
            s->k = 8;
        }
    }
    if (!best)
        return sn_fail(SEEN_ETOOBIG, "%.3g keys at error %g are too many for lines", n,
                       p);
    s->units = (uint64_t)best;
    return 0;
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    if (bytes < 64 || bytes > SN_MAX_BYTES)
        return sn_fail(SEEN_EINVAL, "a blocked filter cannot have %llu bytes",
                       (unsigned long long)bytes);
    s->units = bytes / 64;
    if (s->k)
        return 0;
    double best = 2;
    for (uint32_t k = 1; k <= SN_BLOCKED_KMAX; k++) {
        double e = error_of(k, (double)s->units, n);
        if (e >= best)
            break;
        best = e;
        s->k = k;
    }
    return 0;
}

static uint64_t body_len(const sn_shape *s)
{
    if (s->k < 1 || s->k > SN_BLOCKED_KMAX || s->units < 1 ||
        s->units > SN_MAX_BYTES / 64)
        return 0;
    return s->units * 64;
}

/* A random absent key has each line and rotation with equal probability, and finds each
 * of its bits set with the share of set bits in that lane. */
static void measure(const sn_layer *l, sn_measure *out)
{
    uint64_t lines = l->shape.units, step = 1 + lines / (1 << 18), read = 0, set = 0;
    uint32_t k = l->shape.k;
    double error = 0;
    for (uint64_t i = 0; i < lines; i += step, read++) {
        double share[8];
        for (int j = 0; j < 8; j++) {
            int pop = __builtin_popcountll(sn_peek64(l->body + 64 * i + 8 * j));
            set += (uint64_t)pop;
            share[j] = pop / 64.0;
        }
        for (int r = 0; r < 8; r++) {
            double yes = 0.125;
            for (int j = 0; j < 8; j++)
                for (int b = bits_in(k, j); b; b--)
                    yes *= share[(r + j) & 7];
            error += yes;
        }
    }
    double fill = (double)set / ((double)read * 512);
    out->bits = lines * 512;
    out->bits_set = (uint64_t)(fill * (double)out->bits + 0.5);
    out->error = sn_with_hash(error / (double)read, sn_added_now(l));
    double hit = 0; /* probability that a key of this line sets a given bit of it */
    for (int j = 0; j < 8; j++)
        hit += (1 - pow(63.0 / 64, bits_in(k, j))) / 8;
    double one = hit / (double)lines;
    out->keys = fill >= 1 ? INFINITY : log1p(-fill) / log1p(-one);
}

/* ---- the scalar reference ------------------------------------------------------- */

/* Visits the k bits of H: the lane and the place in it. */
#define EACH_BIT(h, k, lane, at, body)                                                 \
    do {                                                                               \
        uint64_t g_ = sn_remix(h);                                                     \
        unsigned r_ = (unsigned)(g_ >> 61);                                            \
        for (uint32_t j_ = 0; j_ < (k); j_++) {                                        \
            if (j_ == 8)                                                               \
                g_ = sn_remix(g_);                                                     \
            unsigned lane = (r_ + j_) & 7;                                             \
            unsigned at = g_ >> (6 * lane) & 63;                                       \
            body                                                                       \
        }                                                                              \
    } while (0)

static bool has_one(const sn_layer *l, uint64_t h)
{
    const uint64_t *line = (const uint64_t *)(const void *)sn_blocked_at(l, h);
    uint64_t all = 1;
    EACH_BIT(h, l->shape.k, lane, at, {
        all &= sn_swap64(__atomic_load_n(line + lane, __ATOMIC_RELAXED)) >> at;
    });
    return all;
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    for (size_t i = 0; i < n; i++)
        found[i] = has_one(l, h[i]);
}

static inline void add_to(sn_layer *l, const uint64_t *h, size_t n, bool *dup,
                          const bool atomically)
{
    uint64_t fresh = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *line = (uint64_t *)(void *)sn_blocked_at(l, h[i]);
        uint64_t missing = 0;
        EACH_BIT(h[i], l->shape.k, lane, at, {
            missing |=
                SN_SET_BITS(line + lane, sn_swap64((uint64_t)1 << at), atomically);
        });
        dup[i] = missing == 0;
        fresh += missing != 0;
    }
    sn_count_added(l, fresh, atomically);
}
SN_BOTH_ADDS(add, add_atomic, add_to)

static const sn_variant plain = {sn_blocked_prefetch, has, add, .has_one = has_one};
static const sn_variant atomic = {sn_blocked_prefetch, has, add_atomic,
                                  .has_one = has_one};

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool want_atomic)
{
    const sn_variant *t = NULL;
    if (want_atomic)
        return &atomic;
    switch (simd) {
#if defined(__x86_64__)
    case SN_AVX512:
        t = sn_blocked_avx512[s->k > 8];
        break;
    case SN_AVX2:
        t = sn_blocked_avx2[s->k > 8];
        break;
#elif defined(__aarch64__)
    case SN_NEON:
        t = sn_blocked_neon[s->k > 8];
        break;
#endif
    default:
        break;
    }
    return t ? t : &plain;
}

const sn_kind sn_blocked = {
    .name = "blocked",
    .id = SEEN_BLOCKED,
    .can = SEEN_CAN_ADD | SEEN_CAN_MERGE | SEEN_CAN_GROW | SEEN_CAN_ATOMIC,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .error_at = error_at,
    .error_most = error_most,
    .measure = measure,
    .variant = variant,
    .ordered = true,
    .unit_bits = 512,
};
