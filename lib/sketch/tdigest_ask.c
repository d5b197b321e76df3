/* tdigest_ask.c - queries of a t-digest, answered from its compressed nodes.
 *
 * A node of weight 1 is a value that was added; a heavier one spreads its weight evenly
 * to both sides of its mean. Every function interpolates between the midpoints of two
 * neighbours, in RedisBloom's order of operations. */
#include "sketch/tdigest.h"
#include "seen_sketch.h"
#include <math.h>

/* The position of a walk from the smallest node: SUM is the weight up to the middle of
 * node I. */
typedef struct walk {
    double sum;
    uint64_t i;
} walk;

static walk walk_start(const seen_tdigest *t)
{
    return (walk){(double)t->nodes[0].weight / 2, 0};
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* Values may be so far apart that a difference or a product overflows. These three
 * compute as RedisBloom does unless that happens, and then in a safer order. */

/* The weighted mean of X and Y, never outside them. */
static double weighted(double x, double wx, double y, double wy)
{
    double mean = (x * wx + y * wy) / (wx + wy);
    if (isinf(x * wx) || isinf(y * wy))
        mean = x * (wx / (wx + wy)) + y * (wy / (wx + wy));
    return x <= y ? clamp(mean, x, y) : clamp(mean, y, x);
}

/* Interpolates: the value DONE / ALL of the way from the end X to the mean Y. In a node
 * of weight 2 that is the end itself. */
static double on_the_way(const seen_tdigest *t, double x, double done, double all,
                         double y)
{
    if (all == 0 && !(t->flags & SEEN_TDIGEST_REDISBLOOM))
        return x;
    double share = done / all;
    return isfinite(y - x) ? x + share * (y - x) : x * (1 - share) + y * share;
}

/* STEP times (V - X) / (Y - X). */
static double way_gone(double x, double v, double y, double step)
{
    double gone = step * (v - x);
    return isfinite(gone) && isfinite(y - x)
               ? gone / (y - x)
               : step * ((v / 2 - x / 2) / (y / 2 - x / 2));
}

/* The value that has weight X below it; needs at least two nodes. A walk may continue
 * to a larger X. */
static double value_at(const seen_tdigest *t, double x, walk *at)
{
    const seen_tdigest_node *v = t->nodes, *last = v + t->merged - 1;
    double all = (double)t->merged_weight, first = (double)v->weight;
    double end = (double)last->weight;
    if (first > 1 && x < first / 2)
        return on_the_way(t, t->min, x - 1, first / 2 - 1, v->mean);
    if (x > all - 1)
        return t->max;
    if (end > 1 && all - x <= end / 2)
        return on_the_way(t, t->max, all - x - 1, end / 2 - 1, last->mean);
    for (; at->i + 1 < t->merged; at->i++) {
        const seen_tdigest_node *a = v + at->i, *b = a + 1;
        double step = ((double)a->weight + (double)b->weight) / 2;
        if (at->sum + step > x) {
            double left = 0, right = 0;
            if (a->weight == 1) {
                if (x - at->sum < 0.5)
                    return a->mean;
                left = 0.5;
            }
            if (b->weight == 1) {
                if (at->sum + step - x <= 0.5)
                    return b->mean;
                right = 0.5;
            }
            double z1 = x - at->sum - left, z2 = at->sum + step - x - right;
            return weighted(a->mean, z2, b->mean, z1);
        }
        at->sum += step;
    }
    double z1 = x - all - end / 2, z2 = end / 2 - z1;
    return weighted(last->mean, z1, t->max, z2);
}

void seen_tdigest_quantiles(seen_tdigest *t, const double *q, size_t n, double *out)
{
    seen_tdigest_compress(t);
    walk at = {0};
    for (size_t i = 0; i < n; i++) {
        if (!t->merged) {
            out[i] = NAN;
        } else if (t->merged == 1) {
            out[i] = t->nodes[0].mean;
        } else {
            if (!i || !(q[i - 1] <= q[i]))
                at = walk_start(t);
            out[i] = value_at(t, q[i] * (double)t->merged_weight, &at);
        }
    }
}

/* The share of the weight below V, which is at node I or between it and the next;
 * BEFORE is the weight before I. */
static double share_between(const seen_tdigest *t, uint64_t i, double before, double v)
{
    const seen_tdigest_node *a = t->nodes + i, *b = a + 1;
    double all = (double)t->merged_weight;
    if (a->weight == 1 && b->weight == 1)
        return (before + 1) / all;
    double left = a->weight == 1 ? 0.5 : 0, right = b->weight == 1 ? 0.5 : 0;
    double wa = (double)a->weight, wb = (double)b->weight;
    double base = before + wa / 2 + left, step = (wa + wb) / 2 - left - right;
    return (base + way_gone(a->mean, v, b->mean, step)) / all;
}

static double share_below(const seen_tdigest *t, double v)
{
    const seen_tdigest_node *m = t->nodes, *last = m + t->merged - 1;
    double all = (double)t->merged_weight, before = 0;
    if (v < t->min)
        return 0;
    if (v > t->max)
        return 1;
    if (t->merged == 1)
        return 0.5;
    if (v < m->mean && v > t->min)
        return (1 + way_gone(t->min, v, m->mean, 1) * ((double)m->weight / 2 - 1)) /
               all;
    if (v < m->mean)
        return 0.5 / all;
    if (v > last->mean && v < t->max)
        return 1 - (1 + way_gone(t->max, v, last->mean, 1) *
                            ((double)last->weight / 2 - 1)) /
                       all;
    if (v > last->mean)
        return 1 - 0.5 / all;
    for (uint64_t i = 0; i + 1 < t->merged; i++) {
        if (m[i].mean == v) {
            double equal = 0;
            for (; i < t->merged && m[i].mean == v; i++)
                equal += (double)m[i].weight;
            return (before + equal / 2) / all;
        }
        if (m[i].mean < v && v < m[i + 1].mean)
            return share_between(t, i, before, v);
        before += (double)m[i].weight;
    }
    return 1 - 0.5 / all;
}

double seen_tdigest_cdf(seen_tdigest *t, double v)
{
    seen_tdigest_compress(t);
    if (!t->merged || isnan(v))
        return NAN;
    double share = share_below(t, v);
    return isnan(share) ? 0.5 : share;
}

double seen_tdigest_trimmed_mean(seen_tdigest *t, double low, double high)
{
    seen_tdigest_compress(t);
    if (!t->merged)
        return NAN;
    if (t->merged == 1)
        return t->nodes[0].mean;
    double from = floor((double)t->merged_weight * low);
    double to = ceil((double)t->merged_weight * high);
    double passed = 0, sum = 0, count = 0;
    for (uint64_t i = 0; i < t->merged && passed < to; i++) {
        double w = (double)t->nodes[i].weight;
        double c = w - fmin(fmax(0, from - passed), w);
        c = fmin(fmax(0, to - passed), c);
        passed += w;
        sum += t->nodes[i].mean * c;
        count += c;
    }
    return sum / count;
}

/* ---- ranks ----------------------------------------------------------------------- */

static int64_t weight_of(const seen_tdigest *t)
{
    return t->merged_weight + t->unmerged_weight;
}

/* Rounds to the nearest integer, halves down. */
static double half_down(double x)
{
    double down = floor(x);
    return x - down > 0.5 ? down + 1 : down;
}

static int64_t to_int64(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x > -0x1p63 ? (int64_t)x : INT64_MIN;
}

int64_t seen_tdigest_rank(seen_tdigest *t, double v)
{
    int64_t n = weight_of(t);
    if (!n)
        return -2;
    if (v < t->min)
        return -1;
    if (v > t->max)
        return n;
    return to_int64(half_down(seen_tdigest_cdf(t, v) * (double)n));
}

int64_t seen_tdigest_revrank(seen_tdigest *t, double v)
{
    int64_t n = weight_of(t);
    if (!n)
        return -2;
    if (v < t->min)
        return n;
    if (v > t->max)
        return -1;
    return to_int64(round((double)n - round(seen_tdigest_cdf(t, v) * (double)n)));
}

static double by_share(seen_tdigest *t, double q)
{
    seen_tdigest_compress(t);
    if (t->merged == 1)
        return t->nodes[0].mean;
    double x = q * (double)t->merged_weight;
    if (x < 1)
        return t->min;
    walk at = walk_start(t);
    return value_at(t, x, &at);
}

double seen_tdigest_by_rank(seen_tdigest *t, int64_t rank)
{
    int64_t n = weight_of(t);
    if (!n)
        return NAN;
    if (rank <= 0)
        return t->min;
    if (rank >= n)
        return INFINITY;
    return by_share(t, (double)rank / (double)n);
}

double seen_tdigest_by_revrank(seen_tdigest *t, int64_t rank)
{
    int64_t n = weight_of(t);
    if (!n)
        return NAN;
    if (rank <= 0)
        return t->max;
    if (rank >= n)
        return -INFINITY;
    return by_share(t, (double)(n - rank - 1) / (double)n);
}
