/* quotient_spread.c - the same cells over more lines, a line at a time.
 *
 * Five of six growths, and most of those of a large filter, change only which line a
 * cell lies in. Cells, starts and slots then go through three queues of bits, from old
 * lines to new ones. */
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

/* Appends old line I. */
static bool take(queue *x, const sn_quotient *q, uint64_t i)
{
    uint64_t line[9] = {0};
    for (int k = 0; k < 8; k++)
        line[k] = sn_le64(q->body + i * 64 + 8 * k);
    uint64_t start = sn_quotient_start(q, i), passes = line[0] >> 8 & 255;
    uint64_t end = passes ? start + 128 - passes : sn_quotient_start(q, i + 1);
    uint64_t cells = end - (x->first + x->cells), taken = line[0] >> 16;
    unsigned n = sn_quotient_used(q, line);
    uint64_t starts = line[1] & (uint64_t)below(q->slots);
    if (start - (line[0] & 255) != x->first + x->cells || cells > SN_QUOTIENT_CELLS ||
        taken >> cells || starts >> n || (n && !(starts & 1)) ||
        __builtin_popcountll(taken) != __builtin_popcountll(starts) || n > q->slots)
        return false;
    x->taken |= (bits128)taken << x->cells;
    x->starts |= (bits128)starts << x->slots;
    /* The slots, from bit FROM of the line to bit TO of the queue. */
    unsigned from = q->slots_at, to = x->slots * q->w, len = n * q->w;
    for (unsigned done = 0; done < len; done += 64) {
        unsigned at = from + done, put = to + done;
        uint64_t v = line[at / 64] >> at % 64;
        if (at % 64)
            v |= line[at / 64 + 1] << (64 - at % 64);
        x->slot[put / 64] |= v << put % 64;
        if (put % 64)
            x->slot[put / 64 + 1] |= v >> (64 - put % 64);
    }
    x->cells += (unsigned)cells;
    x->slots += n;
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

bool sn_quotient_spread(const sn_quotient *from, const sn_quotient *to)
{
    queue x = {0};
    uint64_t next = 0, all = from->lines + SN_QUOTIENT_SPARE;
    for (uint64_t i = 0; i < to->lines + SN_QUOTIENT_SPARE; i++) {
        while (x.cells < SN_QUOTIENT_CELLS && x.slots <= to->slots && next < all)
            if (!take(&x, from, next++))
                return false;
        if (!give(&x, to, i))
            return false;
    }
    return !x.slots && next == all;
}
