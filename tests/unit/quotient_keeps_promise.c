/* quotient_keeps_promise.c - a table of prefixes grown from three lines, as the kind
 * does it: no key is denied, the error is the one it says at every size, wider slots
 * keep the promise for ever, the expected losses are those that happen, and it takes at
 * most twice the bytes of a filter made to measure. With arguments ERROR KEYS: only
 * that, up to there. */
#include "filter/filter.h"
#include "kind/quotient.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>

static const seen_allocator mem;

static sn_layer make(double error, uint32_t width)
{
    sn_shape s = {.kind = SEEN_QUOTIENT, .k = width, .error = error, .own[SN_ONCE] = 1};
    if (width)
        s.units = SN_QUOTIENT_LEAST, s.capacity = 40;
    else
        ok(sn_quotient_kind.shape_for(&s, s.capacity = 50, error) == 0,
           "a shape for 50");
    sn_layer l = {.kind = &sn_quotient_kind, .shape = s};
    l.len = l.kind->body_len(&s);
    l.body = sn_body_alloc(&mem, l.len);
    l.variant = l.kind->variant(&s, sn_simd_best(), false);
    return l;
}

/* Adds keys FROM .. TO-1; returns how many were taken for others. */
static uint64_t add(sn_layer *l, uint64_t from, uint64_t to)
{
    uint64_t lost = 0;
    for (uint64_t i = from; i < to;) {
        uint64_t h[64], room = l->shape.capacity - l->added;
        bool dup[64];
        size_t n = to - i < 64 ? (size_t)(to - i) : 64, m = n < room ? n : (size_t)room;
        for (size_t j = 0; j < m; j++)
            h[j] = mix(i + j);
        size_t taken = l->variant->add(l, h, m, dup);
        for (size_t j = 0; j < taken; j++)
            lost += dup[j];
        i += taken;
        if ((taken < m || l->added == l->shape.capacity) &&
            l->kind->grow(l, &mem) < 0) {
            ok(false, "growth: %s", seen_reason());
            return lost;
        }
    }
    return lost;
}

static uint64_t denied(const sn_layer *l, uint64_t to)
{
    uint64_t no = 0, h[1000];
    bool found[1000];
    for (uint64_t i = 0; i < to; i += 1000) {
        size_t n = to - i < 1000 ? (size_t)(to - i) : 1000;
        for (size_t j = 0; j < n; j++)
            h[j] = mix(i + j);
        l->variant->has(l, h, n, found);
        for (size_t j = 0; j < n; j++)
            no += !found[j];
    }
    return no;
}

static double share_found(const sn_layer *l, uint64_t asked)
{
    uint64_t yes = 0, h[1024];
    bool found[1024];
    for (uint64_t i = 0; i < asked; i += 1024) {
        for (uint64_t j = 0; j < 1024; j++)
            h[j] = mix(((uint64_t)1 << 50) + i + j);
        l->variant->has(l, h, 1024, found);
        for (int j = 0; j < 1024; j++)
            yes += found[j];
    }
    return (double)yes / (double)asked;
}

/* Bytes over those of a filter made to measure, for N keys. */
static double over_measure(const sn_layer *l, uint64_t n, double error)
{
    seen_size s = {.keys = n, .error = error};
    return seen_solve(&s) == 0 ? (double)l->len / (double)s.bytes : 0;
}

static void grows(double error, uint32_t width, uint64_t most)
{
    double sum = 0, worst = 0, points = 0;
    sn_layer l = make(error, width);
    uint64_t n = 0, no = 0, lost = 0, asked = WORK(1 << 21) & ~(uint64_t)1023;
    double off = 0, beside = 0;
    while (n < most) {
        uint64_t next = n + n / 7 + 20;
        lost += add(&l, n, next);
        n = next;
        if (n < 10000000 || n >= most)
            no += denied(&l, n);
        if (n >= 100) {
            double over = over_measure(&l, n, error);
            sum += over;
            worst = fmax(worst, over);
            points++;
        }
        sn_measure m;
        l.kind->measure(&l, &m);
        double said = l.kind->error_at(&l.shape, (double)l.added);
        if (n > 1000) {
            beside = fmax(beside, fabs(m.error / said - 1));
            off = fmax(off, m.error / error);
        }
    }
    ok(no == 0, "error %g: no key is denied on the way to %llu", error,
       (unsigned long long)n);
    ok(width || error > 0.01 || error < 0.001 || (sum / points <= 2 && worst <= 2.6),
       "it takes %.3f times the bytes of made to measure on average, %.2f at most",
       sum / points, worst);
    ok(beside < 0.03, "what is expected is what the slots say, within %.3f", beside);
    ok(off <= 1,
       "the promise holds, the error is at most %.2f of it, slots have %u bits", off,
       l.shape.k);
    sn_measure m;
    l.kind->measure(&l, &m);
    double share = share_found(&l, asked), sigma = sqrt(m.error / (double)asked);
    ok(fabs(share - m.error) <= 6 * sigma + 2 / (double)asked,
       "%.6f of absent keys are found, %.6f said",
       share, m.error);
    seen_filter f = {.layer = &l, .layers = 1};
    double expected = seen_lost_expected(&f), low, high;
    seen_lost_range(&f, 0, &low, &high);
    double more = (high - low) / 2; /* three sigma, and three more for fixed keys */
    ok((double)lost >= low - more && (double)lost <= high + more,
       "%llu keys were taken for others, %.0f expected, %.0f to %.0f",
       (unsigned long long)lost, expected, low, high);
    sn_body_free(&mem, l.body, l.len);
}

/* The same by its numbers alone, up to as many lines as there can be: what is expected
 * after every growth leaves room for what the model does not know, the bits that guests
 * lose. */
static void plans(double error)
{
    sn_shape s = {.kind = SEEN_QUOTIENT, .error = error, .own[SN_ONCE] = 1};
    int rc = sn_quotient_kind.shape_for(&s, 50, error);
    double n = 0, off = 0, lines;
    uint32_t before = s.k, widest = 0, jump = 0;
    for (;;) {
        n = sn_quotient_holds(s.k, (double)s.units);
        double e = sn_quotient_error_now(&s, n), keys, lost;
        off = fmax(off, e / error);
        lines = ceil((double)s.units * sn_quotient_step(s.k));
        if (lines > (double)SN_QUOTIENT_LINES)
            break;
        uint32_t w = sn_quotient_width_for(&s, n, e, (uint64_t)lines);
        lines = ceil(lines * sn_quotient_slots(s.k) / sn_quotient_slots(w));
        sn_quotient_history_now(&s, n, &keys, &lost);
        jump = w - s.k > jump ? w - s.k : jump;
        s.units = (uint64_t)lines;
        s.k = widest = w;
        sn_quotient_set_history(&s, keys, lost, e);
    }
    ok(rc == 0 && n > 2e9 && off <= 0.98 && jump <= 1 && widest <= before + 6,
       "error %g: with %.3g keys, and slots of %u to %u bits, it is expected to be at "
       "most %.3f of the promise",
       error, n, before, widest, off);
}

/* Ten keys fit into 256 bytes. */
static void starts_small(void)
{
    double errors[] = {0.1, 0.01, 0.001, 1e-4, 1e-6, 1e-9};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        sn_shape s = {.kind = SEEN_QUOTIENT, .own[SN_ONCE] = 1};
        int rc = sn_quotient_kind.shape_for(&s, 10, errors[i]);
        ok(rc == 0 && sn_quotient_kind.body_len(&s) <= 256 &&
               sn_quotient_kind.error_at(&s, 10) <= errors[i],
           "ten keys at %g take %llu bytes, slots of %u bits", errors[i],
           (unsigned long long)sn_quotient_kind.body_len(&s), s.k);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        grows(atof(argv[1]), 0, (uint64_t)atof(argv[2]));
        return done();
    }
    starts_small();
    double errors[] = {0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 1e-4, 1e-5};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        plans(errors[i]);
    grows(0.1, 0, WORK(300000));
    grows(0.01, 0, WORK(3000000));
    grows(0.001, 0, WORK(400000));
    grows(1e-4, 0, WORK(100000));
    grows(1e-6, 0, WORK(100000));
    grows(0.05, 12, WORK(300000)); /* slots too narrow: they get wider on the way */
    grows(0.002, 16, WORK(300000));
    return done();
}
