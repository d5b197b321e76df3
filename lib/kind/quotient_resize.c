/* quotient_resize.c - a quotient filter of another size: larger, with wider slots, or
 * with the keys of another one.
 *
 * The body gets longer and every key moves once, in place (quotient_move.c). A prefix
 * gives bits to the address; if it has none left, it stands for all cells that it
 * covers (quotient_cover.c). */
#include "kind/quotient_move.h"
#include "base/fail.h"
#include <math.h>
#include <string.h>

#define EARLY_STEP 1.5 /* where copies of keys, or bad hashes, fill some lines early */
#define EARLY_LOAD 0.65
#define LEAST_LOAD 0.2

/* ---- prefixes ---------------------------------------------------------------------
 */

/* The slot of W + 1 BITS in a home of Q as a prefix; 0 if it stands for cells, or is
 * damaged and does not belong there. */
static inline uint64_t prefix_in(const sn_quotient *q, uint64_t first, uint64_t cells,
                                 uint64_t bits)
{
    unsigned rest_bits = q->width - 6;
    uint64_t rest = bits & sn_quotient_ones(rest_bits);
    uint64_t cell = ((bits >> rest_bits) - first) & 127;
    return rest && cell < cells
               ? ((first + cell) << rest_bits | rest) << (64 - q->c - rest_bits)
               : 0;
}

/* How many slots of Q are a beginning of PREFIX; with BOTH also of how many it is one.
 */
static unsigned alike(const sn_quotient *q, uint64_t prefix, bool both)
{
    const uint8_t *line = q->body + 64 * sn_quotient_home(q, prefix);
    uint64_t bits = sn_quotient_bits(q, prefix);
    sn_quotient_slots_read x[2];
    unsigned found = 0;
    sn_quotient_read_own(q, line, x);
    sn_quotient_read_guests(q, sn_quotient_next(q, line), x + 1);
    for (int guests = 0; guests < 2; guests++)
        for (unsigned i = 0; i < x[guests].n; i++) {
            uint64_t v = x[guests].bits[i];
            bool shorter = (v & -v) >= (bits & -bits);
            found += shorter ? sn_quotient_match(v, bits)
                             : both && sn_quotient_match(bits, v);
        }
    return found;
}

static double error_in(const sn_quotient_target *to)
{
    return to->error + ldexp((double)to->sum, -63);
}

/* ---- growing -----------------------------------------------------------------------
 */

static int refuse_lines(void)
{
    return sn_fail(SEEN_ETOOBIG,
                   "a quotient filter has at most 2^29 lines of 64 bytes");
}

static bool is_fast(const sn_layer *l)
{
#if defined(__x86_64__)
    return l->variant == &sn_quotient_avx2;
#else
    (void)l;
    return false;
#endif
}

/* Gives L so many LINES and slots of WIDTH bits, both no fewer than before. */
static int resize(sn_layer *l, double lines, unsigned width, const seen_allocator *a)
{
    if (lines > (double)SN_QUOTIENT_LINES)
        return refuse_lines();
    uint64_t units = (uint64_t)lines, len = 64 * units;
    uint8_t *body = sn_body_regrow(a, l->body, l->len, len);
    if (!body)
        return sn_fail(SEEN_ENOMEM, "no memory for a filter of %llu bytes",
                       (unsigned long long)len);
    double keys, lost_keys, error = sn_quotient_error_now(&l->shape, (double)l->added);
    sn_quotient_history_now(&l->shape, (double)l->added, &keys, &lost_keys);
    l->body = body;
    l->len = len;
    uint64_t slots = 0;
    do { /* to at most twice the lines each time */
        sn_quotient from = sn_quotient_of(l);
        uint64_t next = units < 2 * from.lines ? units : 2 * from.lines;
        sn_quotient_target to = {
            .q = sn_quotient_lines(body, next, next < units ? from.width : width)};
        sn_quotient_move(&from, &to, is_fast(l));
        if (from.c != to.q.c || from.width != to.q.width)
            error = error_in(&to); /* all were looked at */
        l->shape.units = next;
        l->shape.k = to.q.width;
        slots = to.slots;
    } while (l->shape.units < units);
    sn_quotient_set_history(&l->shape, keys, lost_keys, error);
    double holds =
        sn_quotient_holds(width, lines) - fmax((double)slots - (double)l->added, 0);
    l->shape.capacity = holds > 1 ? (uint64_t)holds : 1;
    return 0;
}

/* The slots in use. */
static uint64_t count(const sn_layer *l)
{
    const sn_quotient q = sn_quotient_of(l);
    uint64_t slots = 0;
    for (uint64_t i = 0; i < q.lines; i++) {
        sn_quotient_counts n = sn_quotient_counts_of(&q, q.body + 64 * i);
        slots += sn_quotient_gave_up(&q, &n) ? q.slots : sn_quotient_total(&n);
    }
    return slots;
}

bool sn_quotient_make_place(sn_layer *l, uint64_t h)
{
    const sn_quotient q = sn_quotient_of(l);
    double error = 0;
    if ((double)l->added < EARLY_LOAD * (double)(q.slots * q.lines) ||
        !sn_quotient_squeeze(&q, sn_quotient_home(&q, h), &error))
        return false;
    sn_quotient_add_error(&l->shape, error);
    return true;
}

int sn_quotient_grow(sn_layer *l, const seen_allocator *a)
{
    const sn_shape *s = &l->shape;
    double n = (double)l->added, slots = sn_quotient_slots(s->k);
    double step = sn_quotient_step(s->k);
    if (l->refused) {
        l->refused = false;
        return sn_fail(SEEN_EFULL,
                       "the filter holds %d copies of a key, or of keys that "
                       "it takes for the same: it takes no more of them",
                       SN_QUOTIENT_COPIES);
    }
    if (l->added >= s->capacity) {
        if (n < 0.99 * sn_quotient_holds(s->k, (double)s->units) &&
            !s->own[SN_QUOTIENT_KEYS]) { /* made for fewer than it holds */
            l->shape.capacity = (uint64_t)sn_quotient_holds(s->k, (double)s->units);
            return 0;
        }
    } else if (n < EARLY_LOAD * slots * (double)s->units) {
        double load = (double)count(l) / (slots * (double)s->units);
        if (load < LEAST_LOAD)
            return sn_fail(SEEN_ETOOBIG, "too many keys begin alike: the filter cannot "
                                         "grow");
        if (load < EARLY_LOAD)
            step = EARLY_STEP;
    }
    double lines = ceil((double)s->units * step);
    do {
        unsigned w =
            sn_quotient_width_for(s, n, sn_quotient_error_now(s, n), (uint64_t)lines);
        int rc = resize(l, ceil(lines * slots / sn_quotient_slots(w)), w, a);
        if (rc < 0)
            return rc;
        slots = sn_quotient_slots(w);
        lines = ceil((double)s->units * sn_quotient_step(w));
    } while (s->capacity <= l->added);
    return 0;
}

/* ---- merging -----------------------------------------------------------------------
 */

/* Whether both together hold more copies of a key than one may. */
static bool too_many_copies(const sn_quotient *dst, const sn_quotient *src)
{
    sn_quotient_slots_read x[2];
    for (sn_quotient_homes w = sn_quotient_all_homes(src); sn_quotient_next_home(&w);) {
        const uint8_t *line = src->body + 64 * w.i;
        sn_quotient_read_own(src, line, x);
        sn_quotient_read_guests(src, sn_quotient_next(src, line), x + 1);
        for (unsigned i = 0; i < x[0].n + x[1].n; i++) {
            uint64_t bits = i < x[0].n ? x[0].bits[i] : x[1].bits[i - x[0].n];
            uint64_t p = prefix_in(src, w.first, w.cells, bits);
            if (p && p << dst->c &&
                alike(dst, p, true) + alike(src, p, true) > SN_QUOTIENT_COPIES)
                return true;
        }
    }
    return false;
}

/* Home W gave up: so do all lines that have its cells now. */
static void give_up_home(sn_quotient_target *to, const sn_quotient_homes *w)
{
    uint64_t last = w->first + w->cells - 1;
    unsigned shift = 64 - w->q->c;
    uint64_t end =
        sn_quotient_home(&to->q, (last << shift) + ((uint64_t)1 << shift) - 1);
    for (uint64_t i = sn_quotient_home(&to->q, w->first << shift); i <= end; i++)
        sn_quotient_target_give_up(to, i);
}

/* Adds P to DST, which has the lines of TO, and gets more if P has no place. */
static void absorb_prefix(sn_layer *dst, sn_quotient_target *to, uint64_t p,
                          const seen_allocator *a)
{
    if (p << to->q.c && dst->shape.own[SN_QUOTIENT_ONCE] && alike(&to->q, p, false))
        return;
    dst->added++;
    if (!(p << to->q.c)) {
        sn_quotient_cover_prefix(to, p);
        return;
    }
    if (!sn_quotient_insert(to->q, p) &&
        (resize(dst, ceil((double)dst->shape.units * EARLY_STEP), dst->shape.k, a) <
             0 ||
         !sn_quotient_insert(to->q = sn_quotient_of(dst), p)))
        sn_quotient_target_give_up(to, sn_quotient_home(&to->q, p));
    to->slots++;
    to->sum += p & -p;
}

int sn_quotient_absorb(sn_layer *dst, const sn_layer *src, const seen_allocator *a)
{
    const sn_quotient from = sn_quotient_of(src), into = sn_quotient_of(dst);
    if (!dst->shape.own[SN_QUOTIENT_ONCE] && too_many_copies(&into, &from))
        return sn_fail(SEEN_EFULL,
                       "together the filters hold more than %d copies of a key",
                       SN_QUOTIENT_COPIES);
    double error = sn_quotient_error_now(&src->shape, (double)src->added);
    /* A file may claim more keys than it has slots in use. */
    double n = fmax((double)count(dst), (double)dst->added) +
               fmax((double)count(src), (double)src->added);
    double keys[2], lost_keys[2];
    double lines = fmax((double)dst->shape.units, (double)src->shape.units);
    lines = fmax(lines, sn_quotient_lines_for(dst->shape.k, n));
    if (lines > (double)SN_QUOTIENT_LINES)
        return refuse_lines();
    /* Prefixes cannot get longer: if the sum of both errors is more than was promised,
     * wider slots do not help, and the promise changes. */
    double own = sn_quotient_error_now(&dst->shape, (double)dst->added),
           both = own + error;
    unsigned w = both > dst->shape.error * 63 / 64
                     ? dst->shape.k
                     : sn_quotient_width_for(&dst->shape, n, both, (uint64_t)lines);
    /* Prefixes that are shorter than an address take a slot in each of their cells. */
    n += ldexp(error, (int)sn_quotient_c((uint64_t)lines));
    lines = fmax(lines, sn_quotient_lines_for(w, n));
    int rc = resize(dst, lines, w, a);
    if (rc < 0)
        return rc;
    sn_quotient_history_now(&dst->shape, (double)dst->added, keys, lost_keys);
    sn_quotient_history_now(&src->shape, (double)src->added, keys + 1, lost_keys + 1);
    sn_quotient_target to = {.q = sn_quotient_of(dst),
                 .error = ldexp((double)dst->shape.own[SN_QUOTIENT_ERROR], -64)};
    sn_quotient_slots_read x[2];
    sn_quotient_homes walk = sn_quotient_all_homes(&from);
    while (sn_quotient_next_home(&walk)) {
        const uint8_t *line = from.body + 64 * walk.i;
        sn_quotient_pieces covers;
        covers.n = 0;
        bool overflowed = sn_quotient_read_own(&from, line, x);
        sn_quotient_read_guests(&from, sn_quotient_next(&from, line), x + 1);
        if (x[0].gave_up || (overflowed && x[1].gave_up))
            give_up_home(&to, &walk);
        for (unsigned i = 0; i < x[0].n + x[1].n; i++) {
            uint64_t bits = i < x[0].n ? x[0].bits[i] : x[1].bits[i - x[0].n];
            uint64_t p = prefix_in(&from, walk.first, walk.cells, bits);
            if (p)
                absorb_prefix(dst, &to, p, a);
            else
                sn_quotient_add_pieces(&walk, bits, 0, &covers);
        }
        sn_quotient_put_pieces(&to, &walk, &covers);
    }
    sn_quotient_put_waiting(&to, &walk);
    double extra = fmax((double)to.slots - (double)src->added, 0);
    dst->shape.capacity = fmax(1, (double)dst->shape.capacity - extra);
    /* Of the keys of SRC, some are now taken for those of DST. */
    double lost = lost_keys[0] + lost_keys[1] + own * (double)src->added;
    sn_quotient_set_history(&dst->shape, (double)dst->added + lost, lost,
                            error_in(&to));
    if (dst->shape.error > 0)
        dst->shape.error =
            fmin(sn_quotient_promise_from(&dst->shape, n, error_in(&to)), 1);
    return 0;
}
