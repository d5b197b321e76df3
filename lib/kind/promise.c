/* promise.c - the error that a single filter keeps, not only the average of many.
 *
 * Filters of one shape differ: one has a few more bits set than another, or a crowded
 * line. What a filter promises must hold for itself, so sizes come from a bound that
 * one filter in some 30,000 exceeds. At 1% it costs 0.4% of the bits with a million
 * keys, 3% with ten thousand and 20% with a thousand, in classic.c a third of that.
 *
 * A filter is full when so many keys were added as it was made for. More came by then,
 * those that were taken for others, and it errs as one in which all of them are. */
#include "kind/kind.h"
#include "base/fail.h"
#include <math.h>

#define FEW_LINES 2
#define SELDOM 3.2e-5 /* SN_HIGH_SIGMAS, as a probability */

double sn_came(const sn_shape *s, double n)
{
    const sn_kind *kind = sn_kind_of(s->kind);
    double e = kind->error_at(s, n), came = n * (1 + e / 2);
    if (e < 1e-4)
        return came; /* a little more than came */
    /* The error grows as keys^a; its mean while the filter fills is e / (1 + a). */
    double less = kind->error_at(s, 0.9 * n);
    double a = less > 0 && e > less ? log(e / less) / -log(0.9) : 0;
    for (int i = 0; i < 4; i++) {
        came = fmin(n / (1 - fmin(e / (1 + a), 0.9)), 1.5 * n);
        e = kind->error_at(s, came);
    }
    return came;
}

/* The variance of the chance that all of K bits of a line are set, with J keys in it,
 * relative to the square of its mean, which is put in *MEAN. A key sets K / 8 bits in a
 * lane on average. */
static double of_line(double j, unsigned k, double bits, double *mean)
{
    double part = (k % 8) / 8.0, throws = j * k / 8;
    double empty = exp(throws * log1p(-1 / bits)), set = 1 - empty;
    *mean = pow(set, k);
    if (!(set > 0))
        return 0;
    double vary = empty * fmax(1 - (1 + throws / bits) * empty, 0) / bits;
    double slope = empty / bits;
    vary = (vary + slope * slope * j * part * (1 - part)) / (set * set);
    return (k <= 8 ? pow(1 + vary, k)
                   : pow(1 + 4 * vary, k - 8) * pow(1 + vary, 16 - k)) -
           1;
}

/* The keys of a line are Poisson of mean EACH: their number has probability w / all,
 * where w is 1 at most_likely. */
typedef struct crowding {
    double lines, each, most_likely, all;
    double cut;   /* more keys than so many are in a few lines only, */
    double above; /* with this probability */
} crowding;

static crowding crowding_of(double lines, double each)
{
    crowding c = {lines, each, floor(each), 0, floor(each), 0};
    double w = 1, j;
    for (j = c.most_likely; j >= 0 && w > 1e-18; w *= j / each, j--)
        c.all += w;
    for (j = c.most_likely + 1, w = each / j; w > 1e-18; w *= each / ++j)
        c.above += w;
    c.all += c.above;
    c.above /= c.all;
    for (j = c.most_likely + 1, w = each / j; lines * c.above > FEW_LINES;
         w *= each / ++j) {
        c.above -= w / c.all;
        c.cut = j;
    }
    return c;
}

/* The variance of the error, relative to the square of its mean: a mean over lines of a
 * function f of the keys J in each. The sum of all J is given, so the part of f that is
 * linear in J does not vary. */
static double of_lines(const crowding *c, unsigned k, double bits)
{
    double f = 0, ff = 0, fj = 0, v = 0, all = 0;
    for (int way = -1; way <= 1; way += 2) {
        double w = 1, j = c->most_likely;
        if (way > 0)
            w *= c->each / ++j;
        for (; j >= 0 && w > 1e-18;
             w *= way > 0 ? c->each / (j + 1) : j / c->each, j += way) {
            double mean, within = of_line(j, k, bits, &mean);
            all += w;
            f += w * mean;
            fj += w * mean * j;
            ff += w * mean * mean;
            v += w * mean * mean * within;
        }
    }
    if (!(f > 0))
        return 0;
    f /= all, fj /= all, ff /= all, v /= all;
    double linear = fj - f * c->each, between = ff - f * f - linear * linear / c->each;
    return (v + fmax(between, 0) * (1 - 1 / c->lines)) / (f * f * c->lines);
}

/* What a Poisson variable of this MEAN seldom exceeds. */
static double most_events(double mean)
{
    double p = exp(-mean), rest = -expm1(-mean);
    int n = 0;
    while (rest > SELDOM && n < 100) {
        p *= mean / ++n;
        rest -= p;
    }
    return n;
}

/* The error of a line of J keys, seldom more; they set at most K J / 8 bits in a lane.
 */
static double of_crowd(double j, unsigned k, double bits)
{
    double mean, vary = of_line(j, k, bits, &mean);
    return fmin(mean * (1 + 2 * sqrt(vary)), pow(fmin(j * k / 8 / bits, 1), k));
}

/* What the crowds add: how many lines have J keys or more is seldom above
 * most_events().
 */
static double of_crowds(const crowding *c, unsigned k, double bits)
{
    double above = c->above, sum = 0, w = 1, j;
    double before = of_crowd(c->cut, k, bits);
    for (j = c->most_likely + 1; j <= c->cut; j++)
        w *= c->each / j;
    for (j = c->cut + 1; j < 1e5; j++) {
        double f = of_crowd(j, k, bits);
        double met = fmin(most_events(c->lines * fmax(above, 0)),
                          floor(c->lines * c->each / j));
        if (!(met > 0))
            break;
        sum += met * (f - before);
        before = f;
        w *= c->each / j;
        above -= w / c->all;
    }
    return sum / c->lines;
}

double sn_lines_most(double mean, double lines, double n, unsigned k, unsigned bits)
{
    double each = n / lines;
    if (!(each > 0 && each < 4096))
        return mean;
    crowding c = crowding_of(lines, each);
    /* Its logarithm is about normal; one sigma more is for what it has of a tail. */
    double spread = log1p(of_lines(&c, k, bits));
    double high = exp((SN_HIGH_SIGMAS + 1) * sqrt(spread) - spread / 2);
    high = fmax(mean * fmax(high, 1), mean + of_crowds(&c, k, bits));
    /* A few keys never err more often than if all were in one line. */
    double set = ceil(n) * k / 8 / bits;
    return set < 1 ? fmin(high, fmax(mean, pow(set, k) / lines)) : high;
}

double sn_error_most(const sn_shape *s, double n)
{
    const sn_kind *kind = sn_kind_of(s->kind);
    if (!(n > 0))
        return 0;
    double e = kind->error_most ? kind->error_most(s, n) : kind->error_at(s, n);
    return e < 1 ? e : 1;
}

int sn_shape_for(sn_shape *s, const sn_shape *first, double n, double p)
{
    const sn_kind *kind = sn_kind_of(s->kind);
    const sn_shape asked = *s;
    double goal = p, most = 0;
    for (int i = 0; i < 40; i++) {
        *s = asked;
        int rc = first && kind->shape_next ? kind->shape_next(s, first, n, goal)
                                           : kind->shape_for(s, n, goal);
        if (rc < 0)
            return rc;
        if (!kind->error_most || (most = sn_error_most(s, n)) <= p)
            return 0;
        goal *= fmax(fmin(p / most, 0.9995 - 0.01 * i), 1e-3);
    }
    return sn_fail(SEEN_ETOOBIG, "%s cannot keep an error of %g with %.3g keys: the "
                   "least is %.3g", kind->name, p, n, most);
}
