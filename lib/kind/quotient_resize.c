/* quotient_resize.c - a quotient filter of another size: larger, with wider slots, or
 * with the keys of another one.
 *
 * The body gets longer and every key moves once, in place: lines are read from the last
 * to the first, and no key moves to a line before its own. A prefix gives bits to the
 * address; if it has none left, it stands for all cells that it covers. */
#include "kind/quotient.h"
#include "base/fail.h"
#include <math.h>
#include <string.h>

#define STEP 1.15
#define EARLY_STEP 1.5 /* where copies of keys, or bad hashes, fill some lines early */
#define EARLY_LOAD 0.75
#define LEAST_LOAD 0.2

/* ---- keys on the move -------------------------------------------------------------
 */

/* Where keys go to, and what became of them. */
typedef struct target {
    sn_quotient q;
    uint64_t slots;
    uint64_t sum;      /* of 2^-length of prefixes, in 2^-63 */
    double error;      /* of cells that are covered whole */
    uint64_t from, to; /* cells of the table before that wait: see put_pieces */
} target;

static void give_up(target *to, uint64_t home)
{
    sn_quotient_give_up(&to->q, to->q.body + 64 * home);
    to->error += 1 / (double)to->q.lines;
}

/* Slots for those of the cells FROM .. END - 1 that are in home I and begin as VALUE
 * but for K bits. */
static void cover_some(target *to, uint64_t i, uint64_t value, unsigned k,
                       uint64_t from, uint64_t end)
{
    const sn_quotient *q = &to->q;
    sn_quotient_cells x = sn_quotient_cells_of(
        sn_quotient_first(q, i), sn_quotient_first(q, i + 1), value, k);
    uint64_t all = 0, in = 0;
    for (int j = 0; j < 2; j++) {
        uint64_t a = x.from[j] > from ? x.from[j] : from,
                 b = x.to[j] < end ? x.to[j] : end;
        all += x.to[j] - x.from[j];
        in += a < b ? b - a : 0;
    }
    if (!in)
        return;
    if (in < all) {
        cover_some(to, i, value, k - 1, from, end);
        cover_some(to, i, value | (uint64_t)1 << (k - 1), k - 1, from, end);
        return;
    }
    uint64_t bits = value << (q->width - 6) | (uint64_t)1 << (q->width - 7 + k);
    if (!sn_quotient_put(*q, i, bits)) {
        give_up(to, i);
        return;
    }
    to->slots++;
    to->error += ldexp((double)in, -(int)q->c);
}

/* Makes keys with these cells be found, without a bit of their hashes beside. */
static void cover(target *to, uint64_t from, uint64_t end)
{
    unsigned shift = 64 - to->q.c;
    uint64_t last = sn_quotient_home(&to->q, (end - 1) << shift);
    for (uint64_t i = sn_quotient_home(&to->q, from << shift); i <= last; i++)
        for (unsigned side = 0; side < 128; side += 64)
            cover_some(to, i, side, 6, from, end);
}

/* Walks through the homes of a table from the last to the first. */
typedef struct homes {
    const sn_quotient *q;
    uint64_t i, first, cells; /* the home, its first cell, and how many there are */
    uint64_t step, rest, carry; /* 2^c = step lines + rest; carry: see next_home */
} homes;

static homes all_homes(const sn_quotient *q)
{
    uint64_t all = (uint64_t)1 << q->c;
    return (homes){.q = q,
                   .i = q->lines,
                   .first = all,
                   .step = all / q->lines,
                   .rest = all % q->lines,
                   .carry = q->lines - 1};
}

/* first = floor((i 2^c + lines - 1) / lines), and carry is the rest of that division.
 */
static bool next_home(homes *w)
{
    if (!w->i--)
        return false;
    uint64_t borrow = w->carry < w->rest;
    w->cells = w->step + borrow;
    w->carry += borrow * w->q->lines - w->rest;
    w->first -= w->cells;
    return true;
}

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

/* The slots of one home, as W + 1 bits: its own, then those that are guests. */
typedef struct slots_of_home {
    unsigned n;
    bool gave_up;
    uint64_t bits[2 * SN_QUOTIENT_SLOTS];
} slots_of_home;

/* Returns whether the line overflowed. */
static inline bool read_own(const sn_quotient q, const uint8_t *line, slots_of_home *x)
{
    sn_quotient_counts n = sn_quotient_counts_of(&q, line);
    x->n = 0;
    x->gave_up = sn_quotient_gave_up(&q, &n);
    if (x->gave_up)
        return true;
    x->n = n.side[0] + n.side[1];
    for (unsigned i = 0; i < n.side[0]; i++)
        x->bits[i] = sn_quotient_slot(&q, line, i);
    for (unsigned i = 0, at = q.slots - n.side[1]; i < n.side[1]; i++)
        x->bits[n.side[0] + i] =
            sn_quotient_slot(&q, line, at + i) | (uint64_t)1 << q.width;
    return n.overflowed;
}

static inline void read_guests(const sn_quotient q, const uint8_t *line,
                               slots_of_home *x)
{
    sn_quotient_counts n = sn_quotient_counts_of(&q, line);
    x->gave_up = sn_quotient_gave_up(&q, &n);
    x->n = x->gave_up ? 0 : n.guests;
    for (unsigned i = 0; i < x->n; i++)
        x->bits[i] = sn_quotient_slot(&q, line, n.side[0] + i) << 1;
}

/* Home W gave up: so do all lines that have its cells now. */
static void give_up_home(target *to, const homes *w)
{
    uint64_t last = w->first + w->cells - 1;
    unsigned shift = 64 - w->q->c;
    uint64_t end =
        sn_quotient_home(&to->q, (last << shift) + ((uint64_t)1 << shift) - 1);
    for (uint64_t i = sn_quotient_home(&to->q, w->first << shift); i <= end; i++)
        give_up(to, i);
}

/* How many slots of Q are a beginning of PREFIX; with BOTH also of how many it is one.
 */
static unsigned alike(const sn_quotient *q, uint64_t prefix, bool both)
{
    const uint8_t *line = q->body + 64 * sn_quotient_home(q, prefix);
    uint64_t bits = sn_quotient_bits(q, prefix);
    slots_of_home x[2];
    unsigned found = 0;
    read_own(*q, line, x);
    read_guests(*q, sn_quotient_next(q, line), x + 1);
    for (int guests = 0; guests < 2; guests++)
        for (unsigned i = 0; i < x[guests].n; i++) {
            uint64_t v = x[guests].bits[i];
            bool shorter = (v & -v) >= (bits & -bits);
            found += shorter ? sn_quotient_match(v, bits)
                             : both && sn_quotient_match(bits, v);
        }
    return found;
}

/* Cells of one home that are covered whole, in order and apart. */
typedef struct pieces {
    unsigned n;
    uint64_t from[4 * SN_QUOTIENT_SLOTS], to[4 * SN_QUOTIENT_SLOTS];
} pieces;

static void add_piece(pieces *x, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    unsigned i = x->n, j;
    while (i && x->to[i - 1] >= from)
        i--;
    for (j = i; j < x->n && x->from[j] <= to; j++) {
        from = x->from[j] < from ? x->from[j] : from;
        to = x->to[j] > to ? x->to[j] : to;
    }
    memmove(x->from + i + 1, x->from + j, (x->n - j) * sizeof *x->from);
    memmove(x->to + i + 1, x->to + j, (x->n - j) * sizeof *x->to);
    x->n = x->n - (j - i) + 1;
    x->from[i] = from;
    x->to[i] = to;
}

static void cover_waiting(target *to, const homes *w)
{
    unsigned more = to->q.c - w->q->c;
    if (to->from < to->to)
        cover(to, to->from << more, to->to << more);
    to->from = to->to = 0;
}

/* Covers the pieces of home W. One that begins with the home waits for what the home
 * before has of it: cut where lines were cut, it would take ever more slots. */
static void put_pieces(target *to, const homes *w, pieces *x)
{
    unsigned more = to->q.c - w->q->c;
    if (x->n && to->from < to->to && x->to[x->n - 1] == to->from)
        to->from = x->from[--x->n];
    if (to->from != w->first)
        cover_waiting(to, w);
    for (unsigned i = 0; i < x->n; i++)
        if (x->from[i] == w->first && to->from == to->to)
            to->from = x->from[i], to->to = x->to[i];
        else
            cover(to, x->from[i] << more, x->to[i] << more);
}

/* The slot of W + 1 BITS of home W covers cells whole. */
static void add_pieces(const homes *w, uint64_t bits, pieces *x)
{
    const sn_quotient *q = w->q;
    if (bits & sn_quotient_ones(q->width - 6))
        return; /* damaged */
    sn_quotient_cells cells =
        sn_quotient_cells_of(w->first, w->first + w->cells, bits >> (q->width - 6),
                             sn_quotient_open(q, bits));
    for (int i = 0; i < 2; i++)
        add_piece(x, cells.from[i], cells.to[i]);
}

/* P is shorter than an address of TO. */
static void cover_prefix(target *to, uint64_t p)
{
    uint64_t from = (p & (p - 1)) >> (64 - to->q.c);
    cover(to, from, from + ((p & -p) >> (63 - to->q.c)));
}

/* Puts the slots X of home W of Q into TO, which has the lines T; what covers cells
 * whole goes to COVERS. */
static inline __attribute__((always_inline)) void
put_slots(target *to, const sn_quotient t, const homes *w, const sn_quotient q,
          const slots_of_home *x, pieces *covers)
{
    const unsigned c = t.c;
    const uint64_t first = w->first, cells = w->cells;
    uint64_t sum = 0, put = 0;
    for (unsigned i = 0; i < x->n; i++) {
        uint64_t p = prefix_in(&q, first, cells, x->bits[i]);
        if (__builtin_expect(!p, 0)) {
            add_pieces(w, x->bits[i], covers);
            continue;
        }
        if (__builtin_expect(!(p << c), 0)) {
            cover_prefix(to, p);
            continue;
        }
        if (!sn_quotient_insert(t, p))
            give_up(to, sn_quotient_home(&t, p));
        put++;
        sum += p & -p;
    }
    to->slots += put;
    to->sum += sum;
}

/* Copies the own slots of LINE, which is home W, where that is enough. LINES is the
 * home of TO that has the first cell, and AFTER the first cells of the two lines after
 * that. */
static bool cut(target *to, const homes *w, const homes *lines, const uint64_t after[2],
                const uint8_t *line)
{
    unsigned before[4] = {0};
    for (int k = 0; k < 3; k++) {
        uint64_t cells = k < 2 && after[k] - w->first < w->cells ? after[k] - w->first
                                                                 : w->cells;
        before[k + 1] = (unsigned)cells;
    }
    return sn_quotient_cut(&to->q, line, w->first, lines->i, before);
}

/* Moves all keys of a table to TO, in the same body. */
static void move(const sn_quotient *q, target *to)
{
    slots_of_home x, guests[2];
    int now = 0;
    homes w = all_homes(q), lines = all_homes(&to->q);
    uint64_t after[2] = {lines.first, lines.first};
    const bool same = q->c == to->q.c && q->width == to->q.width && q->width >= 16;
    uint8_t after_last[64] = {0}; /* the first line is read last */
    to->q.after = after_last;
    read_guests(*q, q->body, guests);
    for (; next_home(&w); now = !now) {
        uint8_t *line = q->body + 64 * w.i, copy[64];
        pieces covers;
        covers.n = 0;
        memcpy(copy, line, 64);
        memset(line, 0, 64);
        while (same && lines.first > w.first) {
            after[1] = after[0];
            after[0] = lines.first;
            next_home(&lines);
        }
        sn_quotient_counts n = sn_quotient_counts_of(q, copy);
        read_guests(*q, copy, guests + !now);
        if (sn_quotient_gave_up(q, &n) || (n.overflowed && guests[now].gave_up)) {
            give_up_home(to, &w);
        } else if (same && cut(to, &w, &lines, after, copy)) {
            to->slots += n.side[0] + n.side[1];
        } else {
            read_own(*q, copy, &x);
            put_slots(to, to->q, &w, *q, &x, &covers);
        }
        put_slots(to, to->q, &w, *q, guests + now, &covers);
        if (covers.n || to->to)
            put_pieces(to, &w, &covers);
    }
    cover_waiting(to, &w);
    to->q.after = to->q.body;
    read_guests(to->q, after_last, guests);
    for (unsigned i = 0; i < guests->n; i++)
        if (!sn_quotient_put_guest(&to->q, to->q.lines - 1, guests->bits[i] >> 1))
            give_up(to, to->q.lines - 1);
}

static double error_in(const target *to)
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
    double keys, lost_keys, error = sn_quotient_error_at(&l->shape, (double)l->added);
    sn_quotient_history_now(&l->shape, (double)l->added, &keys, &lost_keys);
    l->body = body;
    sn_quotient from = sn_quotient_of(l);
    target to = {.q = sn_quotient_lines(body, units, width)};
    move(&from, &to);
    l->len = len;
    l->shape.units = units;
    l->shape.k = width;
    if (from.c != to.q.c || from.width != width)
        error = error_in(&to); /* all were looked at */
    sn_quotient_set_history(&l->shape, keys, lost_keys, error);
    double holds =
        sn_quotient_holds(width, lines) - fmax((double)to.slots - (double)l->added, 0);
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

int sn_quotient_grow(sn_layer *l, const seen_allocator *a)
{
    const sn_shape *s = &l->shape;
    double n = (double)l->added, slots = sn_quotient_slots(s->k), step = STEP;
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
            sn_quotient_width_for(s, n, sn_quotient_error_at(s, n), (uint64_t)lines);
        int rc = resize(l, ceil(lines * slots / sn_quotient_slots(w)), w, a);
        if (rc < 0)
            return rc;
        slots = sn_quotient_slots(w);
        lines = ceil((double)s->units * STEP);
    } while (s->capacity <= l->added);
    return 0;
}

/* ---- merging -----------------------------------------------------------------------
 */

/* Whether both together hold more copies of a key than one may. */
static bool too_many_copies(const sn_quotient *dst, const sn_quotient *src)
{
    slots_of_home x[2];
    for (homes w = all_homes(src); next_home(&w);) {
        const uint8_t *line = src->body + 64 * w.i;
        read_own(*src, line, x);
        read_guests(*src, sn_quotient_next(src, line), x + 1);
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

/* Adds P to DST, which has the lines of TO, and gets more if P has no place. */
static void absorb_prefix(sn_layer *dst, target *to, uint64_t p,
                          const seen_allocator *a)
{
    if (p << to->q.c && dst->shape.own[SN_QUOTIENT_ONCE] && alike(&to->q, p, false))
        return;
    dst->added++;
    if (!(p << to->q.c)) {
        cover_prefix(to, p);
        return;
    }
    if (!sn_quotient_insert(to->q, p) &&
        (resize(dst, ceil((double)dst->shape.units * EARLY_STEP), dst->shape.k, a) <
             0 ||
         !sn_quotient_insert(to->q = sn_quotient_of(dst), p)))
        give_up(to, sn_quotient_home(&to->q, p));
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
    double error = sn_quotient_error_at(&src->shape, (double)src->added);
    double n = (double)count(dst) + (double)count(src), keys[2], lost_keys[2];
    double lines = fmax((double)dst->shape.units, (double)src->shape.units);
    lines = fmax(lines, sn_quotient_lines_for(dst->shape.k, n));
    if (lines > (double)SN_QUOTIENT_LINES)
        return refuse_lines();
    unsigned w = sn_quotient_width_for(
        &dst->shape, n, error + sn_quotient_error_at(&dst->shape, (double)dst->added),
        (uint64_t)lines);
    /* Prefixes that are shorter than an address take a slot in each of their cells. */
    n += ldexp(error, (int)sn_quotient_c((uint64_t)lines));
    lines = fmax(lines, sn_quotient_lines_for(w, n));
    int rc = resize(dst, lines, w, a);
    if (rc < 0)
        return rc;
    sn_quotient_history_now(&dst->shape, (double)dst->added, keys, lost_keys);
    sn_quotient_history_now(&src->shape, (double)src->added, keys + 1, lost_keys + 1);
    target to = {.q = sn_quotient_of(dst),
                 .error = ldexp((double)dst->shape.own[SN_QUOTIENT_ERROR], -64)};
    slots_of_home x[2];
    homes walk = all_homes(&from);
    while (next_home(&walk)) {
        const uint8_t *line = from.body + 64 * walk.i;
        pieces covers;
        covers.n = 0;
        bool overflowed = read_own(from, line, x);
        read_guests(from, sn_quotient_next(&from, line), x + 1);
        if (x[0].gave_up || (overflowed && x[1].gave_up))
            give_up_home(&to, &walk);
        for (unsigned i = 0; i < x[0].n + x[1].n; i++) {
            uint64_t bits = i < x[0].n ? x[0].bits[i] : x[1].bits[i - x[0].n];
            uint64_t p = prefix_in(&from, walk.first, walk.cells, bits);
            if (p)
                absorb_prefix(dst, &to, p, a);
            else
                add_pieces(&walk, bits, &covers);
        }
        put_pieces(&to, &walk, &covers);
    }
    cover_waiting(&to, &walk);
    double extra = fmax((double)to.slots - (double)src->added, 0);
    dst->shape.capacity = fmax(1, (double)dst->shape.capacity - extra);
    sn_quotient_set_history(&dst->shape, keys[0] + keys[1], lost_keys[0] + lost_keys[1],
                            error_in(&to));
    return 0;
}
