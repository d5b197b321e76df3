/* quotient_move.c - all keys of a quotient filter into more lines.
 *
 * Most slots are copied without a look at their prefix: what changes is the line, and
 * if addresses get a bit, every slot is shifted by one. This is the truth that
 * quotient_move_x86.c repeats with other instructions, in the same order. */
#include "kind/quotient_move.h"
#include <string.h>

/* ---- slots of one home ------------------------------------------------------------
 */

bool sn_quotient_read_own(const sn_quotient *q, const uint8_t *line,
                          sn_quotient_slots_read *x)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    x->n = 0;
    x->gave_up = sn_quotient_gave_up(q, &n);
    if (x->gave_up)
        return true;
    x->n = n.side[0] + n.side[1];
    for (unsigned i = 0; i < n.side[0]; i++)
        x->bits[i] = sn_quotient_slot(q, line, i);
    for (unsigned i = 0, at = q->slots - n.side[1]; i < n.side[1]; i++)
        x->bits[n.side[0] + i] =
            sn_quotient_slot(q, line, at + i) | (uint64_t)1 << q->width;
    return n.overflowed;
}

void sn_quotient_read_guests(const sn_quotient *q, const uint8_t *line,
                             sn_quotient_slots_read *x)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    x->gave_up = sn_quotient_gave_up(q, &n);
    x->n = x->gave_up ? 0 : n.guests;
    for (unsigned i = 0; i < x->n; i++)
        x->bits[i] = sn_quotient_slot(q, line, n.side[0] + i) << 1;
}

/* ---- open lines -------------------------------------------------------------------
 */

void sn_quotient_target_give_up(sn_quotient_target *to, uint64_t i)
{
    if (i < to->done)
        sn_quotient_open_at(to, i)->gave_up = true;
    else
        sn_quotient_give_up(&to->q, to->q.body + 64 * i);
    to->error += 1 / (double)to->q.lines;
}

/* Puts slot X, its first bit foremost, at AT of a list. */
static inline void list(sn_quotient_open_line *o, unsigned planes, unsigned side,
                        unsigned at, uint64_t x)
{
    for (unsigned p = 0; p < planes; p++)
        o->slot[p][side][at] = (uint8_t)(x >> (56 - 8 * p));
}

static inline uint64_t listed(const sn_quotient_open_line *o, unsigned planes,
                              unsigned side, unsigned at)
{
    uint64_t x = 0;
    for (unsigned p = 0; p < planes; p++)
        x |= (uint64_t)o->slot[p][side][at] << (56 - 8 * p);
    return x;
}

static inline void append(sn_quotient_open_line *o, unsigned planes, unsigned side,
                          uint64_t x)
{
    unsigned n = o->n[side]++;
    list(o, planes, side, side ? SN_QUOTIENT_LIST - 1 - n : n, x);
}

bool sn_quotient_target_put(sn_quotient_target *to, uint64_t i, uint64_t bits)
{
    if (i >= to->done)
        return sn_quotient_put(to->q, i, bits);
    sn_quotient_open_line *o = sn_quotient_open_at(to, i);
    unsigned side = bits >> to->q.width & 1;
    if (o->n[side] >= SN_QUOTIENT_FULL)
        return false;
    append(o, to->planes, side, sn_quotient_foremost(&to->q, bits));
    return true;
}

/* Takes a slot with a bit to spare off the lists, or any if there is none: returns it
 * with its side, W + 1 bits. As a guest it has one bit less for its hash. */
static uint64_t take(sn_quotient_open_line *o, const sn_quotient *q, unsigned planes)
{
    unsigned side = 0, best = 0, spare = 8 * planes - q->width;
    bool found = false;
    for (unsigned s = 0; s < 2 && !found; s++)
        for (unsigned i = o->n[s]; i-- && !found;) {
            unsigned at = s ? SN_QUOTIENT_LIST - 1 - i : i;
            found = !(o->slot[planes - 1][s][at] >> spare & 1);
            side = s;
            best = at;
        }
    if (!found && o->n[0])
        side = 0, best = o->n[0] - 1;
    uint64_t x = listed(o, planes, side, best);
    unsigned last = --o->n[side];
    list(o, planes, side, best,
         listed(o, planes, side, side ? SN_QUOTIENT_LIST - 1 - last : last));
    return x >> (64 - q->width) | (uint64_t)side << q->width;
}

static void write_slots(const sn_quotient *q, unsigned planes,
                        const sn_quotient_open_line *o, uint8_t *line)
{
    unsigned shift = 64 - q->width;
    memset(line, 0, 64);
    for (unsigned i = 0; i < o->n[0]; i++)
        sn_quotient_put_slot(q, line, i, listed(o, planes, 0, i) >> shift);
    for (unsigned i = 0; i < o->n[1]; i++)
        sn_quotient_put_slot(
            q, line, q->slots - 1 - i,
            listed(o, planes, 1, SN_QUOTIENT_LIST - 1 - i) >> shift);
}

/* Writes the last line that is open. What has no place there goes to the next. */
static void write_line(sn_quotient_target *to, bool fast)
{
    const sn_quotient *q = &to->q;
    uint64_t i = --to->done;
    sn_quotient_open_line *o = sn_quotient_open_at(to, i);
    uint8_t *line = q->body + 64 * i;
    bool over = o->n[0] + o->n[1] > q->slots;
    while (!o->gave_up && o->n[0] + o->n[1] > q->slots) {
        uint64_t guest = sn_quotient_as_guest(take(o, q, to->planes));
        if (!sn_quotient_put_guest(q, i, guest)) {
            o->gave_up = true;
            to->error += 1 / (double)q->lines;
        }
    }
    if (o->gave_up) {
        memset(line, 0, 64);
        sn_quotient_give_up(q, line);
    } else {
#if defined(__x86_64__)
        if (fast)
            sn_quotient_write_avx2(q, o, line);
        else
#endif
            write_slots(q, to->planes, o, line);
        sn_quotient_put_head(q, line,
                             o->n[0] | o->n[1] << q->field |
                                 (unsigned)over << 3 * q->field);
    }
    (void)fast;
    o->n[0] = o->n[1] = 0;
    o->gave_up = false;
}

/* ---- from a home to its lines -----------------------------------------------------
 */

/* Where slot X of SIDE goes. */
typedef struct place {
    bool strange; /* it covers cells whole, or is damaged */
    unsigned k;   /* which of the three lines */
    unsigned side;
    uint64_t x;
} place;

static inline place place_of(const sn_quotient_way *way, unsigned side, uint64_t x)
{
    uint64_t cell = ((side << 6 | x >> 58) - way->first) & 127;
    if (way->more) {
        cell = cell << 1 | (x >> 57 & 1);
        side = x >> 63;
        x <<= 1;
    }
    return (place){cell >= way->before[3] || !(x << 6),
                   (cell >= way->before[1]) + (cell >= way->before[2]), side, x};
}

/* Lists one slot; false if it is strange. */
static inline bool pour_one(const sn_quotient_way *way, sn_quotient_target *to,
                            place p)
{
    if (p.strange)
        return false;
    append(sn_quotient_open_at(to, way->line + p.k), to->planes, p.side, p.x);
    return true;
}

/* The sum of 2^-length, in 2^-63, if X are the last ones of slots of Q. */
static inline uint64_t sum_of(const sn_quotient *q, uint64_t x)
{
    return x >> (q->c - 6);
}

/* As in quotient_move_x86.c: the left lists in the order of the slots, the right ones
 * in the opposite order. */
static uint64_t pour(const sn_quotient *q, const uint8_t *line,
                     const sn_quotient_way *way, sn_quotient_target *to)
{
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    place p[SN_QUOTIENT_SLOTS];
    uint64_t strange = 0, last = 0, left = 0;
    for (unsigned i = 0; i < q->slots; i++) {
        bool right = i >= q->slots - n.side[1];
        if (i >= n.side[0] && !right)
            continue;
        uint64_t x = sn_quotient_foremost(q, sn_quotient_slot(q, line, i));
        p[i] = place_of(way, right, x);
        if (p[i].strange) {
            strange |= (uint64_t)1 << i;
            continue;
        }
        to->slots++;
        last += x & -x;
        if (p[i].side)
            left |= (uint64_t)1 << i;
        else
            pour_one(way, to, p[i]);
    }
    for (; left; left &= ~((uint64_t)1 << (63 - __builtin_clzll(left))))
        pour_one(way, to, p[63 - __builtin_clzll(left)]);
    to->sum += sum_of(q, last);
    return strange;
}

/* Home W gave up: so do all lines that have its cells now. */
static void give_up_home(sn_quotient_target *to, const sn_quotient_way *way)
{
    for (unsigned k = 0; k < 3; k++)
        if (!k || way->before[k] < way->before[3])
            sn_quotient_target_give_up(to, way->line + k);
}

/* The slots of home W. */
static void pour_home(const sn_quotient_homes *w, const sn_quotient_way *way,
                      const uint8_t *line, const sn_quotient_slots_read *guests,
                      sn_quotient_target *to, bool fast)
{
    const sn_quotient *q = w->q;
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    sn_quotient_pieces covers;
    covers.n = 0;
    if (sn_quotient_gave_up(q, &n) || (n.overflowed && guests->gave_up)) {
        give_up_home(to, way);
    } else {
        uint64_t strange;
#if defined(__x86_64__)
        if (fast)
            strange = sn_quotient_pour_avx2(q, line, way, to);
        else
#endif
            strange = pour(q, line, way, to);
        (void)fast;
        for (; strange; strange &= strange - 1) {
            unsigned i = (unsigned)__builtin_ctzll(strange);
            uint64_t side = i >= n.side[0];
            sn_quotient_add_pieces(
                w, sn_quotient_slot(q, line, i) | side << q->width, way->more, &covers);
        }
    }
    uint64_t last = 0;
    for (unsigned i = 0; i < guests->n; i++) {
        uint64_t bits = guests->bits[i], x = sn_quotient_foremost(q, bits);
        if (pour_one(way, to, place_of(way, bits >> q->width & 1, x))) {
            to->slots++;
            last += x & -x;
        } else {
            sn_quotient_add_pieces(w, bits, way->more, &covers);
        }
    }
    to->sum += sum_of(q, last);
    if (covers.n || to->to)
        sn_quotient_put_pieces(to, w, &covers);
}

/* Walks LINES on to the line that has the first cell of home W. AFTER are the first
 * cells of the two lines after that. */
static void find_way(const sn_quotient_homes *w, sn_quotient_homes *lines,
                     uint64_t after[2], sn_quotient_way *x)
{
    unsigned more = lines->q->c - w->q->c;
    uint64_t first = w->first << more, cells = w->cells << more;
    while (lines->first > first) {
        after[1] = after[0];
        after[0] = lines->first;
        sn_quotient_next_home(lines);
    }
    x->line = lines->i;
    x->first = w->first;
    x->more = more;
    for (int k = 0; k < 2; k++)
        x->before[k + 1] =
            (unsigned)(after[k] - first < cells ? after[k] - first : cells);
    x->before[3] = (unsigned)cells;
}

void sn_quotient_move(const sn_quotient *q, sn_quotient_target *to, bool fast)
{
    sn_quotient_open_line open[SN_QUOTIENT_OPEN];
    sn_quotient_slots_read guests[2];
    sn_quotient_homes w = sn_quotient_all_homes(q),
                      lines = sn_quotient_all_homes(&to->q);
    uint64_t after[2] = {lines.first, lines.first};
    uint8_t after_last[64] = {0}; /* the first line is written last */
    sn_quotient_way way;
    uint64_t before = to->q.lines; /* the first line that the home before needed */
    int now = 0;
    for (int i = 0; i < SN_QUOTIENT_OPEN; i++) {
        open[i].n[0] = open[i].n[1] = 0;
        open[i].gave_up = false;
    }
    fast = fast && q->width == to->q.width && SN_QUOTIENT_FAST(q->width);
    to->open = open;
    to->planes = (to->q.width + 7) / 8;
    to->done = to->q.lines;
    to->q.after = after_last;
    sn_quotient_read_guests(q, q->body, guests);
    for (; sn_quotient_next_home(&w); now = !now) {
        const uint8_t *line = q->body + 64 * w.i;
        find_way(&w, &lines, after, &way);
        sn_quotient_read_guests(q, line, guests + !now);
        pour_home(&w, &way, line, guests + now, to, fast);
        while (to->done > before + 1) /* lists that were not filled just now */
            write_line(to, fast);
        before = way.line;
    }
    sn_quotient_put_waiting(to, &w);
    while (to->done)
        write_line(to, fast);
    to->open = NULL;
    to->q.after = to->q.body;
    sn_quotient_read_guests(&to->q, after_last, guests);
    for (unsigned i = 0; i < guests->n; i++)
        if (!sn_quotient_put_guest(&to->q, to->q.lines - 1, guests->bits[i] >> 1))
            sn_quotient_target_give_up(to, to->q.lines - 1);
}
