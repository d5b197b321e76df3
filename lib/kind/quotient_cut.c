/* quotient_cut.c - a line of a quotient filter cut into lines of a larger table with
 * the same cells: slots are copied as they are, without looking at their prefixes.
 *
 * Four of five growths are of this kind, and most lines: where a slot stands for
 * several cells, or a line has no room or guests already, sn_quotient_cut() says no and
 * quotient_resize.c moves key by key. */
#include "kind/quotient.h"

#define EACH 0x0101010101010101u
#define TOP (EACH << 7)

/* The top bits of bytes, as bits. */
static inline uint64_t gather(uint64_t tops)
{
    return (tops >> 7) * 0x0102040810204080 >> 56;
}

/* One side of the line. */
typedef struct half {
    uint64_t in;      /* which slots are on it */
    uint64_t from[3]; /* which are at home in the first, second, third line or later */
    bool whole;       /* all can be copied */
} half;

/* Looks at eight slots at a time. BEFORE: cells of the home before the first of each
 * line, and in all; each at most 127. */
static half look_at(const sn_quotient *q, const uint8_t *line, unsigned side,
                    uint64_t in, uint64_t first, const unsigned before[4])
{
    half x = {.in = in};
    uint64_t strange = 0, add = ((side * 64 - first) & 127) * EACH;
    for (unsigned i = 0; i < q->slots; i += 8) {
        uint64_t high = sn_le64(line + q->head + i);
        uint64_t next = sn_quotient_eight(line, q->head + q->slots + i);
        /* Counted from the first of the home on, the cell of each slot. */
        uint64_t cell = ((high >> 2 & 0x3f * EACH) + add) & ~TOP;
        for (int k = 1; k < 3; k++)
            x.from[k] |= gather((cell + (128 - before[k]) * EACH) & TOP) << i;
        uint64_t known = (high & 3 * EACH) | next; /* zero: it may stand for cells */
        uint64_t none = ~(((known & ~TOP) + ~TOP) | known) & TOP;
        strange |= gather(((cell + (128 - before[3]) * EACH) & TOP) | none) << i;
    }
    x.from[0] = in;
    x.from[1] &= in;
    x.from[2] &= in;
    x.whole = !(strange & in);
    return x;
}

static inline void copy(const sn_quotient *q, uint8_t *to, unsigned at,
                        const uint8_t *from, unsigned i)
{
    if (q->low) {
        sn_quotient_put_slot(q, to, at, sn_quotient_slot(q, from, i));
        return;
    }
    to[q->head + at] = from[q->head + i];
    to[q->head + q->slots + at] = from[q->head + q->slots + i];
}

bool sn_quotient_cut(const sn_quotient *t, const uint8_t *line, uint64_t first,
                     uint64_t home, const unsigned before[4])
{
    sn_quotient_counts n = sn_quotient_counts_of(t, line);
    half left = look_at(t, line, 0, sn_quotient_ones(n.side[0]), first, before);
    half right = look_at(t, line, 1,
                         sn_quotient_ones(n.side[1]) << (t->slots - n.side[1]), first,
                         before);
    if (!left.whole || !right.whole)
        return false;
    unsigned f = t->field, ones = (1u << f) - 1, head[3];
    uint64_t take[2][3];
    for (int k = 0; k < 3; k++) {
        take[0][k] = left.from[k] & ~(k < 2 ? left.from[k + 1] : 0);
        take[1][k] = right.from[k] & ~(k < 2 ? right.from[k + 1] : 0);
        head[k] = take[0][k] | take[1][k]
                      ? sn_quotient_head(t, t->body + 64 * (home + (unsigned)k))
                      : 0;
        unsigned more = (unsigned)__builtin_popcountll(take[0][k]) +
                        (unsigned)__builtin_popcountll(take[1][k]);
        if (head[k] >> 2 * f ||
            (head[k] & ones) + (head[k] >> f & ones) + more > t->slots)
            return false;
    }
    for (int k = 0; k < 3; k++) {
        uint8_t *to = t->body + 64 * (home + (unsigned)k);
        unsigned at = head[k] & ones, end = t->slots - (head[k] >> f & ones);
        uint64_t m = take[0][k];
        if (!(m | take[1][k]))
            continue;
        for (; m; m &= m - 1)
            copy(t, to, at++, line, (unsigned)__builtin_ctzll(m));
        for (m = take[1][k]; m; m &= m - 1)
            copy(t, to, --end, line, (unsigned)__builtin_ctzll(m));
        sn_quotient_put_head(t, to, at | (t->slots - end) << f);
    }
    return true;
}
