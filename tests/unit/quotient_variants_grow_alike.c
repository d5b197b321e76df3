/* quotient_variants_grow_alike.c - the variants of a quotient filter have the same
 * bytes, numbers and answers after every growth, whatever the width of the slots; and
 * a home with more keys than two lines hold denies none of them. */
#include "kind/quotient.h"
#include "test_keys.h"
#include "tap.h"
#include <math.h>
#include <string.h>

static const seen_allocator mem;

static sn_layer make(uint32_t width, double error, enum sn_simd simd)
{
    sn_shape s = {.kind = SEEN_QUOTIENT,
                  .k = width,
                  .units = SN_QUOTIENT_LEAST,
                  .error = error,
                  .own[SN_ONCE] = 1};
    s.capacity = (uint64_t)sn_quotient_holds(width, (double)s.units);
    sn_layer l = {.kind = &sn_quotient_kind, .shape = s};
    l.len = l.kind->body_len(&s);
    l.body = sn_body_alloc(&mem, l.len);
    l.variant = l.kind->variant(&s, simd, false);
    return l;
}

/* Adds N hashes; returns how many times it grew. */
static unsigned add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    unsigned times = 0;
    for (size_t done = 0; done < n;) {
        uint64_t room = l->shape.capacity - l->added;
        size_t m = n - done < room ? n - done : (size_t)room;
        size_t taken = l->variant->add(l, h + done, m, dup + done);
        done += taken;
        if (taken == m && done == n)
            break;
        if (l->kind->grow(l, &mem) < 0)
            return 0;
        times++;
    }
    return times;
}

static bool same(const sn_layer *a, const sn_layer *b)
{
    return a->len == b->len && a->added == b->added &&
           !memcmp(&a->shape, &b->shape, sizeof a->shape) &&
           !memcmp(a->body, b->body, a->len);
}

static bool answer_alike(const sn_layer *a, const sn_layer *b, uint64_t n)
{
    uint64_t h[1003];
    bool found[2][1003], alike = true;
    for (size_t i = 0; i < 1003; i++) /* every other one is in */
        h[i] = mix(i & 1 ? i * 7919 % n : i + ((uint64_t)1 << 50));
    for (size_t m = 0; m < 1003; m = 2 * m + 1) {
        a->variant->has(a, h, m, found[0]);
        b->variant->has(b, h, m, found[1]);
        alike &= !memcmp(found[0], found[1], m);
        for (size_t i = 0; i < m; i++)
            alike &= a->variant->has_one(a, h[i]) == found[0][i] &&
                     b->variant->has_one(b, h[i]) == found[0][i] &&
                     (found[0][i] || !(i & 1));
    }
    return alike;
}

static void grow_alike(uint32_t width, double error, uint64_t most, enum sn_simd simd)
{
    sn_layer plain = make(width, error, SN_SCALAR), fast = make(width, error, simd);
    bool dup[2][600], bytes = true, dups = true, answers = true;
    uint64_t n = 0, h[600];
    unsigned times = 0;
    for (size_t step = 1; n < most; step = step * 7 % 599 + 1) {
        for (size_t i = 0; i < step; i++)
            h[i] = mix(n + i);
        n += step;
        if (step % 5 == 4) /* the last one came before */
            n--, h[step - 1] = mix(n - (step % 2 ? step / 2 : n / 3));
        unsigned grew = add(&plain, h, step, dup[0]);
        bytes &= grew == add(&fast, h, step, dup[1]);
        dups &= !memcmp(dup[0], dup[1], step);
        times += grew;
        if (grew) {
            bytes &= same(&plain, &fast);
            answers &= answer_alike(&plain, &fast, n);
        }
    }
    ok(bytes && dups && times > 20,
       "slots of %u to %u bits: %s has the bytes of the scalar variant after each of "
       "%u "
       "growths",
       width, plain.shape.k, sn_simd_name(simd), times);
    ok(answers, "and its answers");
    sn_body_free(&mem, plain.body, plain.len);
    sn_body_free(&mem, fast.body, fast.len);
}

/* A table is filled to LOAD, and then come CROWD keys of one cell: two lines do not
 * hold them. */
static void crowded(uint32_t width, double load, unsigned crowd, enum sn_simd simd)
{
    sn_layer l = make(width, 0.5, simd);
    bool dup[256];
    uint64_t h[256], units, n = 0;
    do {
        h[0] = mix(n++);
        add(&l, h, 1, dup);
        units = l.shape.units;
    } while (l.added < 20000 ||
             (double)l.added < load * (double)(units * sn_quotient_slots(width)));
    const sn_quotient q = sn_quotient_of(&l);
    uint64_t cell = h[0] >> (64 - q.c) << (64 - q.c);
    sn_measure m[2];
    l.kind->measure(&l, m);
    for (unsigned i = 0; i < crowd; i++)
        h[i] = cell | mix(i) >> q.c;
    unsigned grew = add(&l, h, crowd, dup);
    l.kind->measure(&l, m + 1);
    l.variant->has(&l, h, crowd, dup);
    unsigned denied = 0;
    for (unsigned i = 0; i < crowd; i++)
        denied += !dup[i];
    ok(grew == 0 && denied == 0 && l.shape.units == units,
       "slots of %u bits: %u keys of one cell find a place without growth", width,
       crowd);
    ok(m[1].error >= m[0].error &&
           fabs(m[1].error / l.kind->error_at(&l.shape, (double)l.added) - 1) < 0.01,
       "the error is the one it says");
    sn_body_free(&mem, l.body, l.len);
}

int main(void)
{
    static const struct {
        uint32_t width;
        double error;
    } tables[] = {{11, 0.9}, {12, 0.05}, {15, 0.5}, {16, 0.5},   {16, 0.002}, {17, 0.5},
                  {18, 0.5}, {20, 0.5},  {21, 0.5}, {23, 0.001}, {24, 0.5},   {25, 0.5},
                  {40, 0.5}};
    for (int simd = 1; simd < SN_SIMDS; simd++) {
        if (!sn_simd_runs((enum sn_simd)simd))
            continue;
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            grow_alike(tables[i].width, tables[i].error, 60000,
                       (enum sn_simd)simd);
    }
    crowded(16, 0.7, 150, SN_SCALAR);
    crowded(16, 0.8, 200, sn_simd_best());
    crowded(18, 0.7, 120, sn_simd_best());
    return done();
}
