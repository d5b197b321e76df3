/* quotient_line.c - slots into and out of the lines of a quotient filter.
 *
 * A key is in its home line or, as a guest, in the next. A full line passes a key on,
 * and if the next line is full too, that one passes on a key of its own first, and so
 * forth: only a line full of guests has no place. As a guest a key has one bit less for
 * its hash, so one with a bit to spare goes first. */
#include "kind/quotient.h"

#define INLINE static inline __attribute__((always_inline))

/* So many lines may pass on a key for one add; about ten do where lines are full. */
#define FARTHEST 4096

INLINE void put_counts(const sn_quotient *q, uint8_t *line, const sn_quotient_counts *n)
{
    unsigned f = q->field;
    sn_quotient_put_head(q, line,
                         n->side[0] | n->side[1] << f | n->guests << 2 * f |
                             (unsigned)n->overflowed << 3 * f);
}

INLINE void move(const sn_quotient *q, uint8_t *line, unsigned to, unsigned from)
{
    if (to != from)
        sn_quotient_put_slot(q, line, to, sn_quotient_slot(q, line, from));
}

INLINE void put_guest(const sn_quotient *q, uint8_t *line, uint64_t v)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    sn_quotient_put_slot(q, line, n.side[0] + n.guests, v);
    n.guests++;
    put_counts(q, line, &n);
}

INLINE void empty(const sn_quotient *q, uint8_t *line, unsigned i)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    unsigned guests_end = n.side[0] + n.guests;
    if (i >= guests_end) {
        move(q, line, i, q->slots - n.side[1]);
        n.side[1]--;
    } else if (i >= n.side[0]) {
        move(q, line, i, guests_end - 1);
        n.guests--;
    } else {
        move(q, line, i, n.side[0] - 1);
        move(q, line, n.side[0] - 1, guests_end - 1);
        n.side[0]--;
    }
    put_counts(q, line, &n);
}

void sn_quotient_give_up(const sn_quotient *q, uint8_t *line)
{
    unsigned ones = (1u << q->field) - 1;
    put_counts(q, line, &(sn_quotient_counts){{ones, ones}, ones, true});
}

INLINE void set_overflowed(const sn_quotient *q, uint8_t *line)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    n.overflowed = true;
    put_counts(q, line, &n);
}

/* A slot of SIDE with a bit to spare, or else -1. */
INLINE int spare(const sn_quotient *q, const uint8_t *line, const sn_quotient_counts *n,
                 unsigned side)
{
    unsigned i = side ? q->slots - n->side[1] : 0, end = i + n->side[side];
    for (; i < end; i++)
        if (!(sn_quotient_slot(q, line, i) & 1))
            return (int)i;
    return -1;
}

/* A full LINE, which has keys of its own, passes one on to the next, which has room. */
INLINE void pass_on(const sn_quotient *q, uint8_t *line)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    unsigned side = 0;
    int i = spare(q, line, &n, 0);
    if (i < 0)
        i = spare(q, line, &n, side = 1);
    if (i < 0 && n.side[0])
        i = (int)n.side[0] - 1, side = 0;
    else if (i < 0)
        i = (int)(q->slots - n.side[1]);
    uint64_t v = sn_quotient_slot(q, line, (unsigned)i) | (uint64_t)side << q->width;
    empty(q, line, (unsigned)i);
    set_overflowed(q, line);
    put_guest(q, sn_quotient_next(q, line), sn_quotient_as_guest(v));
}

/* Line I, counted on over the end of Q. */
INLINE uint8_t *line_at(const sn_quotient *q, uint64_t i)
{
    return i < q->lines ? q->body + 64 * i : q->after + 64 * (i - q->lines);
}

/* Makes room in the line after HOME: false, and nothing changed, if that is not
 * possible. */
INLINE bool make_room(const sn_quotient *q, uint64_t home)
{
    uint64_t j = home + 1, most = home + (q->lines < FARTHEST ? q->lines : FARTHEST);
    if (q->after != q->body && most > q->lines + 1)
        most = q->lines + 1; /* one line only */
    for (;; j++) {
        if (j >= most)
            return false;
        sn_quotient_counts n = sn_quotient_counts_of(q, line_at(q, j));
        if (sn_quotient_total(&n) < q->slots)
            break;
        if (n.guests >= q->slots || sn_quotient_gave_up(q, &n))
            return false;
    }
    for (; j > home + 1; j--)
        pass_on(q, line_at(q, j - 1));
    return true;
}

INLINE bool put_far_guest(const sn_quotient *q, uint64_t home, uint64_t v)
{
    if (!make_room(q, home))
        return false;
    put_guest(q, line_at(q, home + 1), v);
    return true;
}

INLINE bool overflow(const sn_quotient *q, uint64_t home, uint64_t bits)
{
    uint8_t *line = q->body + 64 * home;
    sn_quotient_counts n = sn_quotient_counts_of(q, line),
                       next = sn_quotient_counts_of(q, sn_quotient_next(q, line));
    if (sn_quotient_gave_up(q, &n))
        return true;
    if (sn_quotient_gave_up(q, &next)) { /* it stands for all guests */
        set_overflowed(q, line);
        return true;
    }
    if (!make_room(q, home))
        return false;
    unsigned side = (unsigned)(bits >> q->width);
    int i = bits & 1 ? spare(q, line, &n, side) : -1;
    if (i >= 0) {
        uint64_t v = sn_quotient_slot(q, line, (unsigned)i);
        sn_quotient_put_slot(q, line, (unsigned)i, bits & sn_quotient_ones(q->width));
        bits = v | (uint64_t)side << q->width;
    }
    set_overflowed(q, line);
    put_guest(q, sn_quotient_next(q, line), sn_quotient_as_guest(bits));
    return true;
}

/* ---- the most common width has code of its own ------------------------------------
 */

INLINE sn_quotient of_16(const sn_quotient *q)
{
    sn_quotient x = sn_quotient_lines(q->body, q->lines, 16);
    x.after = q->after;
    return x;
}

void sn_quotient_empty(const sn_quotient *q, uint8_t *line, unsigned i)
{
    empty(q, line, i);
}

bool sn_quotient_put_guest(const sn_quotient *q, uint64_t home, uint64_t v)
{
    if (q->width != 16)
        return put_far_guest(q, home, v);
    const sn_quotient x = of_16(q);
    return put_far_guest(&x, home, v);
}

bool sn_quotient_overflow(const sn_quotient *q, uint64_t home, uint64_t bits)
{
    if (q->width != 16)
        return overflow(q, home, bits);
    const sn_quotient x = of_16(q);
    return overflow(&x, home, bits);
}

/* ---- where there is no place ------------------------------------------------------
 */

/* At most 2^10 times the error of a new key is paid for a place. */
#define ALIKE 10

/* The slots V and W as one that finds both: where its last 1 is. */
static unsigned end_of_both(uint64_t v, uint64_t w)
{
    unsigned a = (unsigned)__builtin_ctzll(v), b = (unsigned)__builtin_ctzll(w);
    unsigned end = a > b ? a : b, differ = v == w ? 0 : 63 - __builtin_clzll(v ^ w);
    return end > differ ? end : differ;
}

/* Of the slots I .. END - 1 of LINE, makes those two one that are most alike, and have
 * the same cell: TOP is the last bit of a cell. Returns the slot that is free now, or
 * -1, and adds to *ERROR, in units of a slot's last bit. */
static int join(const sn_quotient *q, uint8_t *line, unsigned i, unsigned end,
                unsigned top, double *error)
{
    unsigned one = 0, other = 0;
    top = top < ALIKE ? top : ALIKE;
    unsigned best = top;
    for (; i < end; i++)
        for (unsigned j = i + 1; j < end; j++) {
            uint64_t v = sn_quotient_slot(q, line, i), w = sn_quotient_slot(q, line, j);
            unsigned at = v && w ? end_of_both(v, w) : top;
            if (at < best)
                best = at, one = i, other = j;
        }
    if (best == top)
        return -1;
    uint64_t v = sn_quotient_slot(q, line, one), w = sn_quotient_slot(q, line, other);
    uint64_t bit = (uint64_t)1 << best;
    sn_quotient_put_slot(q, line, one, (v & ~(bit - 1)) | bit);
    *error += (double)bit - (double)(v & -v) - (double)(w & -w);
    return (int)other;
}

bool sn_quotient_squeeze(const sn_quotient *q, uint64_t home, double *error)
{
    uint8_t *line = q->body + 64 * home, *next = sn_quotient_next(q, line);
    sn_quotient_counts n = sn_quotient_counts_of(q, line),
                       m = sn_quotient_counts_of(q, next);
    if (sn_quotient_gave_up(q, &n) || sn_quotient_gave_up(q, &m))
        return false;
    int i = join(q, line, 0, n.side[0], q->width - 6, error);
    if (i < 0)
        i = join(q, line, q->slots - n.side[1], q->slots, q->width - 6, error);
    if (i >= 0) {
        empty(q, line, (unsigned)i);
        return true;
    }
    double twice = 0; /* a guest has one bit less */
    if (n.overflowed)
        i = join(q, next, m.side[0], m.side[0] + m.guests, q->width - 7, &twice);
    *error += 2 * twice;
    if (i >= 0)
        empty(q, next, (unsigned)i);
    return i >= 0;
}
