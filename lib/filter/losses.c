/* losses.c - how many new keys a filter has called old: the expected number, and a
 * confidence interval.
 *
 * While layer i fills, a new key is lost with the error of the layers before and of
 * layer i itself. Two things vary around the expectation:
 *
 *   - The losses themselves. A layer counts the keys it added, so the losses between
 * two
 *     of them are geometric: mean e / (1 - e), variance e / (1 - e)^2.
 *   - The error of a layer. n random keys make e larger or smaller than its expectation
 *     with a relative variance of at most about a^2 / n, where e grows as n^a: one key
 *     more or less in each of n places. A layer of a hundred keys varies by a third,
 * and this affects every later key. So the layers before the newest, which no longer
 *     change, are measured if that is possible without sampling. */
#include "filter/growth.h"
#include <math.h>

#define MEASURED_BYTES ((uint64_t)16 << 20)
#define STEPS 32
#define GROWN 0.015

typedef struct losses {
    double mean, variance;
} losses;

/* The error of layer L, which gets no more keys, measured from its bits. */
static double measured(sn_layer *l)
{
    uint64_t at = __atomic_load_n(&l->added, __ATOMIC_RELAXED) + 1;
    double e;
    if (__atomic_load_n(&l->measured_at, __ATOMIC_ACQUIRE) == at) {
        __atomic_load(&l->measured, &e, __ATOMIC_RELAXED);
        return e;
    }
    sn_measure m;
    l->kind->measure(l, &m);
    __atomic_store(&l->measured, &m.error, __ATOMIC_RELAXED);
    __atomic_store_n(&l->measured_at, at, __ATOMIC_RELEASE);
    return m.error;
}

/* The exponent a of the error as a function of the keys, near N. */
static double slope(const sn_layer *l, double n)
{
    double e = l->kind->error_at(&l->shape, n),
           less = l->kind->error_at(&l->shape, 0.9 * n);
    return less > 0 && e > less ? log(e / less) / -log(0.9) : 0;
}

/* The same where every add is kept, also of a key that is found: those added are those
 * that came, and each was lost with the error of the moment. */
static losses while_copied(const sn_layer *l, double n, double clear)
{
    losses here = {0, 0};
    double step = n / (4 * STEPS), own = 0;
    for (int s = 0; s < 4 * STEPS; s++) {
        double e = l->kind->error_at(&l->shape, (s + 0.5) * step);
        double yes = 1 - clear * (1 - e);
        here.mean += step * yes;
        here.variance += step * yes * (1 - yes);
        own += step * e;
    }
    double a = slope(l, n);
    here.variance += own * own * a * a / n;
    return here;
}

/* The losses of layer L while it was filled; the layers before let a key pass with
 * probability CLEAR, and none of the first SURE keys was lost. Integrates in equal
 * steps of added keys; one added key means 1 / (1 - error) offered ones, and *CAME is
 * their total. More losses than expected mean more offered keys, so a deviation grows
 * with the error. */
static losses while_filling(const sn_layer *l, double n, double clear, double sure,
                            double *came)
{
    int steps = l->kind->error_at(&l->shape, n) > 0.05 ? 4 * STEPS : STEPS;
    double step = n / steps, e = 0, own = 0, at = 0;
    losses here = {0, 0};
    for (int s = 0; s < steps; s++) {
        double before = e;
        if (e > 0.02) /* below this, the last step gives the midpoint well enough */
            e = l->kind->error_at(&l->shape, at);
        e = l->kind->error_at(&l->shape, at + step / 2 / fmax(1 - e, 0.01));
        double no = clear * fmax(1 - e, 1e-9);
        double rise = 1 + (e - before) / fmax(1 - e, 1e-9);
        /* The part of this step that came after the sure ones. */
        double part = step * fmin(fmax((at + step - sure) / step, 0), 1);
        here.mean += part * (1 - no) / no;
        here.variance = here.variance * rise * rise + part * (1 - no) / (no * no);
        own += part * e / fmax(1 - e, 1e-9);
        at += step / fmax(1 - e, 1e-9);
    }
    double a = slope(l, at);
    here.variance += own * own * a * a / n;
    *came = at;
    return here;
}

static losses expect(const seen_filter *f)
{
    losses all = {0, 0};
    double clear = 1; /* probability that no earlier layer finds a new key */
    /* For the layers that were not measured: the sum of the variances of their errors,
     * and the same times the keys that came after each. */
    double unsure = 0, unsure_keys = 0;
    double sure = (double)sn_whole_keys(f);
    for (uint32_t i = 0; i < f->layers; i++) {
        sn_layer *l = f->layer + i;
        double n = (double)__atomic_load_n(&l->added, __ATOMIC_RELAXED), came;
        if (!(l->kind->can & SEEN_CAN_ADD) || !(n > 0))
            continue; /* static: built from all keys, so none was lost */
        bool copies = sn_keeps_copies(l);
        losses here = copies ? while_copied(l, n, clear)
                             : while_filling(l, n, clear, i ? 0 : sure, &came);
        double keys = copies ? n : n + here.mean;
        if (copies)
            came = n;
        all.mean += here.mean;
        all.variance += here.variance + keys * (2 * unsure_keys + keys * unsure);
        unsure_keys += keys * unsure;
        /* Where the keys lie that a kind moved when it grew is known to 1.5%. */
        if (l->kind->grow && !(f->flags & SEEN_FIXED))
            all.variance += GROWN * GROWN * here.mean * here.mean;
        if (i + 1 == f->layers)
            break;
        /* Fingerprints show how many there are, not how many of them are equal. */
        if (l->len <= MEASURED_BYTES && !(l->kind->can & SEEN_CAN_REMOVE)) {
            clear *= 1 - measured(l);
        } else {
            double e = l->kind->error_at(&l->shape, came), a = slope(l, came);
            clear *= 1 - e;
            unsure += e * e * a * a / n;
        }
    }
    return all;
}

/* Lost when they came, and told apart since: their number is known. */
static double late(const seen_filter *f)
{
    return (double)f->late;
}

double seen_lost_expected(const seen_filter *f)
{
    return fmax(expect(f).mean + late(f), 0);
}

/* The smallest whole number that a negative binomial variable of this mean and variance
 * (Poisson if they are equal) exceeds with probability at most TAIL. */
static double counted_quantile(double mean, double more, double tail)
{
    double odds = more / mean, sum = 0;
    double p = odds > 1e-9 ? exp(-mean / odds * log1p(odds)) : exp(-mean);
    for (int k = 0;; k++) {
        sum += p;
        if (sum >= 1 - tail || k == 100000)
            return k;
        p *= (mean + k * odds) / ((k + 1) * (1 + odds));
    }
}

/* One run in 1000 lies beyond each end. */
#define TAIL 0.001
#define SIGMAS 3.0902

void seen_lost_range(const seen_filter *f, double before, double *low, double *high)
{
    losses all = expect(f);
    double known = late(f) != 0 ? late(f) - before : 0;
    double mean = fmax(known != 0 ? all.mean : all.mean - before, 0),
           more = fmax(all.variance - all.mean, 0);
    if (!(mean > 0)) {
        *low = *high = 0;
    } else if (mean < 500 && more < 100 * mean) {
        *low = counted_quantile(mean, more, 1 - TAIL);
        *high = counted_quantile(mean, more, TAIL);
    } else {
        double room = SIGMAS * sqrt(mean + more);
        *low = fmax(floor(mean - room), 0);
        *high = ceil(mean + room + (SIGMAS * SIGMAS - 1) / 6);
    }
    *low = fmax(*low + known, 0);
    *high = fmax(*high + known, 0);
}
