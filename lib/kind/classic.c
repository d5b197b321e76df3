/* classic.c - the textbook Bloom filter: k bits anywhere in m.
 *
 * It takes fewer bits than blocked.c and split.c but k cache misses a key. The probes
 * are k successive remixes of one 64-bit hash, each mapped onto 0..m-1 by a
 * multiplication: there is no step that could be zero or share a factor with m, and m
 * may exceed 2^32. */
#include "kind/kind.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "hash/hash.h"
#include <math.h>

#define K_MAX 255
/* More are never chosen: each is a cache miss, and with 32 the size is within 4% of the
 * least, down to errors at which hashes begin to be equal. */
#define K_CHOSEN 32
#define LN2 0.693147180559945309417

/* ---- sizes ------------------------------------------------------------------- */

uint64_t seen_classic_bits(uint64_t keys, double error)
{
    if (keys < 1 || !(error > 0 && error < 1))
        return 0;
    double m = ceil(-(double)keys * log(error) / (LN2 * LN2));
    return m < 1 ? 1 : m >= 1.8e19 ? 0 : (uint64_t)m;
}

uint32_t seen_classic_probes(uint64_t bits, uint64_t keys)
{
    double k = keys ? floor((double)bits / (double)keys * LN2 + 0.5) : 1;
    return k < 1 ? 1 : k > K_MAX ? K_MAX : (uint32_t)k;
}

static double fill_at(double m, double throws)
{
    return m <= 1 ? throws > 0 : -expm1(throws * log1p(-1 / m));
}

/* The textbook's (fill)^k uses the expected fill; in small filters the variance of the
 * fill matters. There, Stirling numbers give the probability that k probes hit j
 * different bits, and inclusion and exclusion the probability that all j are set. */
static double error_small(double m, uint32_t k, double n)
{
    double s[26] = {1}; /* probability that the first i probes hit j different bits */
    for (uint32_t i = 0; i < k; i++)
        for (uint32_t j = i + 1; j + 1 > 0; j--) {
            double stay = j <= i ? s[j] * j / m : 0;
            double step = j > 0 ? s[j - 1] * (m - j + 1) / m : 0;
            s[j] = stay + (step > 0 ? step : 0);
            if (j == 0)
                break;
        }
    double sum = 0;
    for (uint32_t j = 1; j <= k && j <= m; j++) {
        double all_set = 0, choose = 1;
        for (uint32_t i = 0; i <= j; i++) {
            double base = 1 - i / m;
            double miss = base > 0 ? exp(k * n * log(base)) : n == 0;
            all_set += (i & 1 ? -choose : choose) * miss;
            choose = choose * (j - i) / (i + 1);
        }
        sum += s[j] * (all_set > 0 ? all_set : 0);
    }
    return sum > 1 ? 1 : sum;
}

double seen_classic_error(uint64_t bits, uint32_t probes, uint64_t keys)
{
    return bits ? pow(fill_at((double)bits, (double)probes * (double)keys), probes) : 1;
}

/* The variance of the share of M bits that are set. */
static double vary_at(double m, double throws)
{
    double empty = 1 - fill_at(m, throws);
    return fmax(empty * (1 - (1 + throws / m) * empty) / m, 0);
}

static double error_at(const sn_shape *s, double n)
{
    if (n <= 0)
        return 0;
    if (s->units < 65536 && s->k <= 20)
        return sn_with_hash(error_small((double)s->units, s->k, n), n);
    /* The variance of the fill, to second order. */
    double m = (double)s->units, k = s->k, fill = fill_at(m, k * n);
    double vary = vary_at(m, k * n) / (fill * fill);
    return sn_with_hash(pow(fill, k) * exp(fmin(k * (k - 1) / 2 * vary, 50)), n);
}

/* The error follows from the fill, of which no more than every throw can be set. */
static double error_most(const sn_shape *s, double n)
{
    double m = (double)s->units, throws = s->k * sn_came(s, n);
    double fill = fill_at(m, throws) + SN_HIGH_SIGMAS * sqrt(vary_at(m, throws));
    return sn_with_hash(pow(fmin(fmin(fill, throws / m), 1), s->k), n);
}

static uint64_t body_len(const sn_shape *s)
{
    if (s->k < 1 || s->k > K_MAX || s->units < 1 || s->units > SN_MAX_BYTES * 8)
        return 0;
    return (s->units + 63) / 64 * 8;
}

/* The fewest bits, M or more, with which K probes keep the promise; INFINITY if that is
 * too many. The error falls about as m^(-0.7 k), so a few steps are enough; if rounding
 * hides that (a hostile file may have any numbers), the steps grow. */
static double bits_from(double m, uint32_t k, double n, double p)
{
    double least = 1;
    int steps = 0;
    for (m = m < 1 ? 1 : ceil(m); m < (double)SN_MAX_BYTES * 8; steps++) {
        sn_shape s = {.kind = SEEN_CLASSIC, .k = k, .units = (uint64_t)m};
        double e = error_at(&s, n);
        if (e <= p)
            return m;
        double more = ceil(m * (exp(log(e / p) / (0.75 * k)) - 1) * 0.9);
        least *= steps < 32 ? 1 : 2;
        m += more > least ? more : least;
    }
    return INFINITY;
}

/* The best number of probes in M bits. */
static uint32_t probes_for(double m, double n)
{
    uint32_t k = seen_classic_probes(m < 1 ? 1 : (uint64_t)ceil(m), (uint64_t)ceil(n));
    return k < K_CHOSEN ? k : K_CHOSEN;
}

/* The textbook's m assumes a real k and the expected fill. Rounding k costs up to 1%
 * more error, and with few keys the variance of the fill costs far more. So bits are
 * added until the promise holds. */
static int shape_for(sn_shape *s, double n, double p)
{
    double m =
        s->k ? -s->k * n / log1p(-pow(p, 1.0 / s->k)) : -n * log(p) / (LN2 * LN2);
    uint32_t k = s->k;
    if (m < (double)SN_MAX_BYTES * 8) {
        uint32_t usual = probes_for(m, n);
        double best = INFINITY, from = m;
        for (uint32_t try = s->k ? s->k : usual > 3 ? usual - 3 : 1;
             try <= (s->k ? s->k : usual); try++) {
            double bits = bits_from(from, try, n, p);
            if (bits < best) {
                best = bits;
                k = try;
            }
        }
        m = best;
    }
    if (!(m < (double)SN_MAX_BYTES * 8))
        return sn_fail(SEEN_ETOOBIG, "%.3g keys at error %g would take %.3g bytes", n,
                       p, m / 8);
    s->units = (uint64_t)m;
    s->k = k;
    return 0;
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    if (bytes < 8 || bytes > SN_MAX_BYTES)
        return sn_fail(SEEN_EINVAL, "a classic filter cannot have %llu bytes",
                       (unsigned long long)bytes);
    s->units = bytes / 8 * 64;
    if (s->k)
        return 0;
    /* With bits to spare fewer probes do: what is left is the chance of equal hashes.
     */
    s->k = probes_for((double)s->units, n);
    double least = error_at(s, n);
    for (sn_shape fewer = *s; --fewer.k && error_at(&fewer, n) <= 1.001 * least;)
        s->k = fewer.k;
    return 0;
}

static void measure(const sn_layer *l, sn_measure *out)
{
    uint64_t words = l->len / 8, step = 1 + words / (8 << 20), seen = 0, set = 0;
    for (uint64_t i = 0; i < words; i += step, seen++)
        set += (uint64_t)__builtin_popcountll(sn_peek64(l->body + 8 * i));
    double m = (double)l->shape.units;
    double fill = step == 1 ? (double)set / m : (double)set / ((double)seen * 64);
    out->bits = l->shape.units;
    out->bits_set = (uint64_t)(fill * m + 0.5);
    out->keys = fill >= 1 ? INFINITY : log1p(-fill) / log1p(-1 / m) / l->shape.k;
    if (m <= 1)
        out->keys = fill;
    out->error = sn_with_hash(pow(fill, l->shape.k), sn_added_now(l));
}

/* ---- bits -------------------------------------------------------------------- */

static void prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    uint64_t m = l->shape.units;
    uint32_t k = l->shape.k;
    for (size_t i = 0; i < n; i++) {
        uint64_t g = h[i];
        for (uint32_t j = 0; j < k; j++, g = sn_remix(g))
            SN_FETCH(l->body + (sn_mulhi(g, m) >> 3));
    }
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    uint64_t m = l->shape.units;
    uint32_t k = l->shape.k;
    for (size_t i = 0; i < n; i++) {
        uint64_t g = h[i];
        uint32_t j = 0;
        for (; j < k; j++, g = sn_remix(g)) {
            uint64_t bit = sn_mulhi(g, m);
            if (!(__atomic_load_n(l->body + (bit >> 3), __ATOMIC_RELAXED) >> (bit & 7) &
                  1))
                break;
        }
        found[i] = j == k;
    }
}

static inline void add_to(sn_layer *l, const uint64_t *h, size_t n, bool *dup,
                          const bool atomically)
{
    uint64_t m = l->shape.units, fresh = 0;
    uint32_t k = l->shape.k;
    for (size_t i = 0; i < n; i++) {
        uint64_t g = h[i];
        uint8_t missing = 0;
        for (uint32_t j = 0; j < k; j++, g = sn_remix(g)) {
            uint64_t bit = sn_mulhi(g, m);
            missing |= SN_SET_BITS(l->body + (bit >> 3), (uint8_t)(1u << (bit & 7)),
                                   atomically);
        }
        dup[i] = !missing;
        fresh += missing != 0;
    }
    sn_count_added(l, fresh, atomically);
}
SN_BOTH_ADDS(add, add_atomic, add_to)

static const sn_variant plain = {prefetch, has, add};
static const sn_variant atomic = {prefetch, has, add_atomic};

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool want_atomic)
{
    (void)s, (void)simd;
    return want_atomic ? &atomic : &plain;
}

const sn_kind sn_classic = {
    .name = "classic",
    .id = SEEN_CLASSIC,
    .can = SEEN_CAN_ADD | SEEN_CAN_MERGE | SEEN_CAN_GROW | SEEN_CAN_ATOMIC,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .error_at = error_at,
    .error_most = error_most,
    .measure = measure,
    .variant = variant,
    .unit_bits = 1,
};
