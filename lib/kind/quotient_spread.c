/* quotient_spread.c - the same cells, or their halves, over more lines, a line at a
 * time.
 *
 * Five of six growths change only which line a cell lies in, and nearly every sixth
 * cuts each cell in two. Cells, starts and slots then go through three queues of bits,
 * from old lines to new ones. */
#include "kind/quotient_line.h"

typedef unsigned __int128 bits128;

enum { WORDS = 16 }; /* slots of two lines */

typedef struct queue {
    uint64_t first; /* the first cell */
    unsigned cells, slots;
    bits128 taken, starts;
    uint64_t slot[WORDS + 1]; /* packed */
} queue;

static unsigned ones(bits128 x)
{
    return (unsigned)__builtin_popcountll((uint64_t)x) +
           (unsigned)__builtin_popcountll((uint64_t)(x >> 64));
}

/* The place of the bit with N set ones below it, which is there. */
static unsigned place(bits128 x, unsigned n)
{
    unsigned low = (unsigned)__builtin_popcountll((uint64_t)x);
    return n < low ? sn_quotient_select((uint64_t)x, n)
                   : 64 + sn_quotient_select((uint64_t)(x >> 64), n - low);
}

static bits128 below(unsigned n)
{
    return ((bits128)1 << n) - 1;
}

/* An old line as it stands. */
typedef struct old {
    uint64_t line[9], cells, taken, starts;
    unsigned n;
} old;

/* Reads old line I, whose first cell is to be FIRST. */
static bool look(old *o, const sn_quotient *q, uint64_t i, uint64_t first)
{
    for (int k = 0; k < 8; k++)
        o->line[k] = sn_le64(q->body + i * 64 + 8 * k);
    o->line[8] = 0;
    uint64_t start = sn_quotient_start(q, i), passes = o->line[0] >> 8 & 255;
    uint64_t end = passes ? start + 128 - passes : sn_quotient_start(q, i + 1);
    o->cells = end - first;
    o->taken = o->line[0] >> 16;
    o->n = sn_quotient_used(q, o->line);
    o->starts = o->line[1] & (uint64_t)below(q->slots);
    return start - (o->line[0] & 255) == first && o->cells <= SN_QUOTIENT_CELLS &&
           !(o->taken >> o->cells) && o->n <= q->slots && !(o->starts >> o->n) &&
           (!o->n || o->starts & 1) &&
           __builtin_popcountll(o->taken) == __builtin_popcountll(o->starts);
}

/* Appends old line I. */
static bool take(queue *x, const sn_quotient *q, uint64_t i)
{
    old o;
    if (!look(&o, q, i, x->first + x->cells))
        return false;
    x->taken |= (bits128)o.taken << x->cells;
    x->starts |= (bits128)o.starts << x->slots;
    /* The slots, from bit FROM of the line to bit TO of the queue. */
    unsigned from = q->slots_at, to = x->slots * q->w, len = o.n * q->w;
    for (unsigned done = 0; done < len; done += 64) {
        unsigned at = from + done, put = to + done;
        uint64_t v = o.line[at / 64] >> at % 64;
        if (at % 64)
            v |= o.line[at / 64 + 1] << (64 - at % 64);
        x->slot[put / 64] |= v << put % 64;
        if (put % 64)
            x->slot[put / 64 + 1] |= v >> (64 - put % 64);
    }
    x->cells += (unsigned)o.cells;
    x->slots += o.n;
    return true;
}

/* Appends slot V of the cell that is AT places after the first. */
static void append(queue *x, unsigned at, uint64_t v, unsigned w)
{
    unsigned to = x->slots * w, off = to % 64;
    bits128 bit = (bits128)1 << at;
    x->starts |= (bits128) !(x->taken & bit) << x->slots++;
    x->taken |= bit;
    x->slot[to / 64] |= v << off;
    x->slot[to / 64 + 1] |= v >> 1 >> (63 - off);
}

/* Appends the halves of the cells of old line I: the first bit of a slot says which,
 * and the others move up. A prefix without bits is in both halves, for all others
 * there. */
static bool take_halves(queue *x, const sn_quotient *q, uint64_t i)
{
    old o;
    uint64_t v[SN_QUOTIENT_SLOTS], whole = sn_quotient_whole_cell(q);
    if (!look(&o, q, i, (x->first + x->cells) / 2) ||
        x->cells + 2 * o.cells > 8 * sizeof x->taken)
        return false;
    unsigned bit = q->slots_at;
    unsigned wholes = 0;
    bool every = true;
    for (unsigned j = 0; j < o.n; j++, bit += q->w) {
        unsigned k = bit / 64, off = bit % 64;
        v[j] = (o.line[k] >> off | o.line[k + 1] << 1 << (63 - off)) &
               sn_quotient_low(q->w);
        every &= v[j] != 0;
        wholes += v[j] == whole;
    }
    if (!every || (x->slots + o.n + wholes) * q->w > 64 * WORDS)
        return false;
    for (unsigned j = 0, end; j < o.n; j = end, o.taken &= o.taken - 1) {
        unsigned at = x->cells + 2 * (unsigned)__builtin_ctzll(o.taken);
        uint64_t later = o.starts >> j >> 1;
        bool all = false;
        end = later ? j + 1 + (unsigned)__builtin_ctzll(later) : o.n;
        for (unsigned k = j; wholes && k < end; k++)
            all |= v[k] == whole;
        for (unsigned half = 0; all && half < 2; half++)
            append(x, at + half, whole, q->w);
        for (unsigned k = j; !all && k < end; k++)
            append(x, at + (v[k] >= whole), (v[k] & (whole - 1)) << 1, q->w);
    }
    x->cells += 2 * (unsigned)o.cells;
    return true;
}

/* Makes new line I of the first cells, as many as it holds. */
static bool give(queue *x, const sn_quotient *q, uint64_t i)
{
    uint64_t start = sn_quotient_start(q, i), next = sn_quotient_start(q, i + 1);
    uint64_t most = x->first + SN_QUOTIENT_CELLS, end = next < most ? next : most;
    if (end > x->first + x->cells) /* then there are more slots than it holds */
        end = x->first + x->cells;
    unsigned runs = ones(x->taken & below((unsigned)(end - x->first)));
    unsigned slots = runs < ones(x->taken) ? place(x->starts, runs) : x->slots;
    if (slots > q->slots) { /* up to the cell of the first slot that does not fit */
        runs = ones(x->starts & below(q->slots + 1)) - 1;
        slots = place(x->starts, runs);
        end = x->first + place(x->taken, runs);
        if (end == x->first)
            return false;
    }
    if (next - end > SN_QUOTIENT_PASSED)
        return false;
    unsigned cells = (unsigned)(end - x->first), len = slots * q->w, to = q->slots_at;
    uint64_t line[9] = {(start - x->first) | (end < next ? (128 + start - end) << 8 : 0) |
                            (uint64_t)(x->taken & below(cells)) << 16,
                        (uint64_t)(x->starts & below(slots))};
    for (unsigned done = 0; done < len; done += 64) {
        uint64_t v = x->slot[done / 64];
        if (len - done < 64)
            v &= (uint64_t)below(len - done);
        line[(to + done) / 64] |= v << (to + done) % 64;
        if ((to + done) % 64)
            line[(to + done) / 64 + 1] |= v >> (64 - (to + done) % 64);
    }
    for (int k = 0; k < 8; k++)
        sn_put64(q->body + i * 64 + 8 * k, line[k]);
    x->first = end;
    x->cells -= cells;
    x->slots -= slots;
    x->taken >>= cells;
    x->starts >>= slots;
    unsigned used = (x->slots * q->w + 63) / 64, word = len / 64, bit = len % 64;
    for (unsigned k = 0; k < WORDS; k++) {
        uint64_t v = 0;
        if (k < used && k + word <= WORDS) {
            v = x->slot[k + word] >> bit;
            if (bit && k + word < WORDS)
                v |= x->slot[k + word + 1] << (64 - bit);
        }
        x->slot[k] = v;
    }
    x->slot[WORDS] = 0;
    return true;
}

bool sn_quotient_spread(const sn_quotient *from, const sn_quotient *to, uint64_t *slots)
{
    queue x = {0};
    uint64_t next = 0, all = from->lines + SN_QUOTIENT_SPARE;
    bool (*take_next)(queue *, const sn_quotient *, uint64_t) =
        to->c == from->c ? take : take_halves;
    *slots = 0;
    for (uint64_t i = 0; i < to->lines + SN_QUOTIENT_SPARE; i++) {
        while (x.cells < SN_QUOTIENT_CELLS && x.slots <= to->slots && next < all) {
            unsigned had = x.slots;
            if (!take_next(&x, from, next++))
                return false;
            *slots += x.slots - had;
        }
        if (!give(&x, to, i))
            return false;
    }
    return !x.slots && next == all;
}
