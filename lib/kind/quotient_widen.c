/* quotient_widen.c - how wide the slots of a quotient filter are, and its error.
 *
 * The error is the sum of 2^-length over all prefixes, fixed when each was added.
 * Between n and 2n keys it rises by as much as between n/2 and n, because the cells
 * double too. So there is a plan: the width is the smallest with which the promise
 * holds up to 2^28 keys, and always for three doublings more. One bit more halves the
 * error that new keys bring, so the promise holds for ever. */
#include "kind/quotient.h"
#include "base/fail.h"
#include <math.h>

#define DOUBLINGS 25 /* from one key on, that the first width serves */
#define MORE_DOUBLINGS 3

/* ---- shapes ------------------------------------------------------------------- */

/* How full lines get, and how many more there are then. Room costs bytes, keys that
 * overflow and small steps cost time. Lines with few slots are for small errors, for
 * which a filter made to measure takes more bits too: they may have more room. */
static const struct growth {
    unsigned slots; /* of a line, at least */
    double load, step;
} growths[] = {{32, 0.9, 1.15}, {28, 0.83, 1.15}, {27, 0.82, 1.2}, {0, 0.78, 1.3}};

static const struct growth *growth_of(unsigned width)
{
    const struct growth *g = growths;
    while (g->slots > sn_quotient_slots(width))
        g++;
    return g;
}

double sn_quotient_holds(unsigned width, double lines)
{
    return floor(lines * sn_quotient_slots(width) * growth_of(width)->load);
}

double sn_quotient_step(unsigned width)
{
    return growth_of(width)->step;
}

/* Guests of a line pass on as in a queue, whose length exceeds S with probability
 * exp(-2 S (1 - load) / load). That times the lines is 1e-6. */
double sn_quotient_lines_for(unsigned width, double n)
{
    double slots = sn_quotient_slots(width);
    double lines = n / slots, tail = log(lines > 1 ? lines : 1) + 14;
    lines = ceil(lines * (1 + tail / slots / 2));
    return lines < SN_QUOTIENT_LEAST ? SN_QUOTIENT_LEAST : lines;
}

/* The error of a key that is added now. */
static double error_of_key(const sn_shape *s)
{
    return ldexp(1, 7 - (int)(sn_quotient_c(s->units) + s->k));
}

double sn_quotient_error_most(const sn_shape *s, double n)
{
    double lines = (double)s->units, each = n / lines, w = 1, all = 0, more = 0,
           vary = 0;
    unsigned slots = sn_quotient_slots(s->k);
    /* Keys of a line are Poisson; more than its slots are guests of the next, which
     * they may fill. A guest has a bit less. */
    for (double j = floor(each); j >= 0 && w > 1e-12; w *= j / each, j--)
        all += w;
    w = each / (floor(each) + 1);
    for (double j = floor(each) + 1; w > 1e-12 || j < slots; j++, w *= each / j) {
        double guests = fmax(j - slots, 0);
        all += w;
        more += w * guests;
        vary += w * guests * guests;
    }
    more = 1.5 * (more / all * lines + SN_HIGH_SIGMAS * sqrt(vary / all * lines));
    return fmin(fmin(n + more, 2 * n) * error_of_key(s), 1);
}

/* What is needed later of the error, with N keys in slots of WIDTH bits. */
static double error_to_come(unsigned width, double n)
{
    double doublings = fmax(DOUBLINGS - log2(fmax(n, 64)), MORE_DOUBLINGS);
    double of_one = sn_quotient_holds(width, 1) / SN_QUOTIENT_CELLS;
    return doublings * ldexp(of_one, 7 - (int)width);
}

/* The widest slots that LINES can have: prefixes are cut at 62 bits. */
static unsigned widest(uint64_t lines)
{
    unsigned w = SN_QUOTIENT_BITS + 6 - sn_quotient_c(lines);
    return w < SN_QUOTIENT_WMAX ? w : SN_QUOTIENT_WMAX;
}

int sn_quotient_shape(sn_shape *s, double n, double p)
{
    unsigned w = s->k ? s->k : SN_QUOTIENT_WMIN, most = s->k ? s->k : SN_QUOTIENT_WMAX;
    if (w < SN_QUOTIENT_WMIN || most > SN_QUOTIENT_WMAX)
        return sn_fail(SEEN_EINVAL,
                       "a quotient filter has slots of %d to %d bits, not %u",
                       SN_QUOTIENT_WMIN, SN_QUOTIENT_WMAX, w);
    for (;; w++) {
        double lines = sn_quotient_lines_for(w, n);
        if (lines > (double)SN_QUOTIENT_LINES)
            return sn_fail(SEEN_ETOOBIG,
                           "a quotient filter has at most 2^29 lines of 64 "
                           "bytes: %.3g keys are too many",
                           n);
        s->k = w;
        s->units = (uint64_t)lines;
        double error = n * error_of_key(s);
        bool last = w >= most || w >= widest(s->units);
        if (w > widest(s->units))
            return sn_fail(SEEN_ETOOBIG,
                           "slots of %u bits are too wide for %.3g keys with "
                           "64-bit hashes",
                           w, n);
        if (error + error_to_come(w, n) <= p || (last && error <= p))
            return 0;
        if (last)
            return sn_fail(SEEN_ETOOBIG, "%.3g keys at error %g are too many for slots "
                                         "of %u bits", n, p, w);
    }
}

unsigned sn_quotient_width_for(const sn_shape *s, double n, double error,
                               uint64_t lines)
{
    double left = fmax(s->error - error, s->error / 64);
    unsigned w = s->k;
    while (w < widest(lines) && error_to_come(w, n) > left)
        w++;
    return w < widest(lines) ? w : widest(lines);
}

double sn_quotient_promise_from(const sn_shape *s, double n, double error)
{
    return fmax(s->error, error + error_to_come(s->k, n));
}

/* ---- what came before the last growth -------------------------------------------- */

/* Of n keys that came, fewer than at the last growth, the error was E (n / keys)^slope.
 */
typedef struct history {
    double keys;  /* that came: those added and those that were taken for others */
    double slope; /* such that the expected number of those taken for others is right */
    double error;
} history;

#define SLOPE_BITS 28

static history history_of(const sn_shape *s)
{
    uint64_t x = s->own[SN_QUOTIENT_KEYS];
    return (history){(double)(x >> SLOPE_BITS),
                     (double)(x & ((1 << SLOPE_BITS) - 1)) / ((1 << SLOPE_BITS) - 1),
                     ldexp((double)s->own[SN_QUOTIENT_ERROR], -64)};
}

static double lost(const history *was)
{
    return was->error * was->keys / (1 + was->slope);
}

void sn_quotient_set_history(sn_shape *s, double keys, double lost_keys, double error)
{
    double kept = keys - lost_keys, slope = 0;
    error = fmin(error, 0.999);
    if (lost_keys > 0)
        slope = fmin(fmax(error * keys / lost_keys - 1, 0), 1);
    /* What is not lost is what is in: a slope that was cut off must not change that. */
    keys = kept / (1 - error / (1 + slope));
    slope *= (1 << SLOPE_BITS) - 1;
    uint64_t came = (uint64_t)(fmax(keys, 0) + 0.5),
             of_them = (uint64_t)ldexp(error, 64);
    bool some = came && of_them;
    s->own[SN_QUOTIENT_KEYS] = some ? came << SLOPE_BITS | (uint64_t)slope : 0;
    s->own[SN_QUOTIENT_ERROR] = some ? of_them : 0;
}

void sn_quotient_add_error(sn_shape *s, double slots)
{
    double error = history_of(s).error + slots * error_of_key(s);
    if (s->own[SN_QUOTIENT_KEYS] && error > 0)
        s->own[SN_QUOTIENT_ERROR] = (uint64_t)ldexp(fmin(error, 0.999), 64);
}

double sn_quotient_error_at(const sn_shape *s, double n)
{
    history was = history_of(s);
    if (n < was.keys)
        return n > 0 ? was.error * pow(n / was.keys, was.slope) : 0;
    /* Only those that are not taken for others bring something to match. */
    double e = error_of_key(s), since = -expm1(-(n - was.keys) * e);
    return was.error + (1 - was.error) * since;
}

void sn_quotient_history_now(const sn_shape *s, double added, double *keys,
                             double *lost_keys)
{
    history was = history_of(s);
    double e = error_of_key(s);
    if (!s->own[SN_QUOTIENT_ONCE]) { /* also those that were taken for others are in */
        double came = fmax(added - was.keys, 0);
        *keys = was.keys + came;
        *lost_keys = lost(&was) + came + (1 - was.error) * expm1(-came * e) / e;
        return;
    }
    double more = fmax(added - (was.keys - lost(&was)), 0);
    double came = -log1p(-fmin(more * e / (1 - was.error), 0.999)) / e;
    *keys = was.keys + came;
    *lost_keys = lost(&was) + came - more;
}

double sn_quotient_error_now(const sn_shape *s, double added)
{
    double keys, lost_keys;
    sn_quotient_history_now(s, added, &keys, &lost_keys);
    return sn_quotient_error_at(s, keys);
}
