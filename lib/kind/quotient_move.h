/* quotient_move.h - the keys of a quotient filter on their way into more lines.
 *
 * Homes are read from the last to the first, and each key goes to one of up to three
 * lines of the new table, which are open: they collect slots in lists, and are written
 * when no key can come any more. Both tables are in the same body: no key moves to a
 * line before its own. */
#ifndef SN_QUOTIENT_MOVE_H
#define SN_QUOTIENT_MOVE_H
#include "kind/quotient.h"

/* ---- homes ------------------------------------------------------------------------
 */

/* Walks through the homes of a table from the last to the first. */
typedef struct sn_quotient_homes {
    const sn_quotient *q;
    uint64_t i, first, cells; /* the home, its first cell, and how many there are */
    uint64_t step, rest, carry; /* 2^c = step lines + rest; carry: see next */
} sn_quotient_homes;

static inline sn_quotient_homes sn_quotient_all_homes(const sn_quotient *q)
{
    uint64_t all = (uint64_t)1 << q->c;
    return (sn_quotient_homes){.q = q,
                               .i = q->lines,
                               .first = all,
                               .step = all / q->lines,
                               .rest = all % q->lines,
                               .carry = q->lines - 1};
}

/* first = floor((i 2^c + lines - 1) / lines), and carry is the rest of that division.
 */
static inline bool sn_quotient_next_home(sn_quotient_homes *w)
{
    if (!w->i--)
        return false;
    uint64_t borrow = w->carry < w->rest;
    w->cells = w->step + borrow;
    w->carry += borrow * w->q->lines - w->rest;
    w->first -= w->cells;
    return true;
}

/* ---- open lines -------------------------------------------------------------------
 */

enum {
    SN_QUOTIENT_LIST = 256, /* slots of one side have place */
    SN_QUOTIENT_FULL = 160, /* more than so many are only copied from lines */
    SN_QUOTIENT_PLANES = 6,
    SN_QUOTIENT_OPEN = 8 /* lines, of which at most five are in use */
};

/* Slots of one line, each in as many bytes as it needs, its first bit foremost: byte p
 * of a slot is in plane p. The left ones begin at 0, the right ones end with the list.
 */
typedef struct sn_quotient_open_line {
    unsigned n[2];
    bool gave_up;
    uint8_t slot[SN_QUOTIENT_PLANES][2][SN_QUOTIENT_LIST];
} sn_quotient_open_line;

/* How cells of a home of one table lie in the lines of another. */
typedef struct sn_quotient_way {
    uint64_t line;      /* that has the first cell */
    uint64_t first;     /* cell of the home, as it was */
    unsigned more;      /* bits that an address gets: 0 or 1 */
    unsigned before[4]; /* cells, as they are now, before those of line + k */
} sn_quotient_way;

/* Where keys go to, and what became of them. */
typedef struct sn_quotient_target {
    sn_quotient q;
    unsigned planes;
    uint64_t done; /* lines from here on are written, those before are open */
    sn_quotient_open_line *open;
    uint64_t slots;
    uint64_t sum;      /* of 2^-length of prefixes, in 2^-63 */
    double error;      /* of cells that are covered whole */
    uint64_t from, to; /* cells of the table before that wait: see put_pieces */
} sn_quotient_target;

static inline sn_quotient_open_line *sn_quotient_open_at(const sn_quotient_target *to,
                                                         uint64_t i)
{
    return to->open + i % SN_QUOTIENT_OPEN;
}

/* Slot V of Q with its first bit foremost. */
static inline uint64_t sn_quotient_foremost(const sn_quotient *q, uint64_t v)
{
    return v << (64 - q->width);
}

/* ---- quotient_move.c --------------------------------------------------------------
 */

/* Moves all keys of Q to TO, whose lines are as many or up to twice as many, in the
 * same body; FAST: with AVX2. Adds to what TO says became of them. */
void sn_quotient_move(const sn_quotient *q, sn_quotient_target *to, bool fast);

/* Line I of TO finds every key. */
void sn_quotient_target_give_up(sn_quotient_target *to, uint64_t i);
/* A slot of W + 1 BITS into line I, be it open or written; false: no place. */
bool sn_quotient_target_put(sn_quotient_target *to, uint64_t i, uint64_t bits);

/* Slots of one home that are guests, as W + 1 bits. */
typedef struct sn_quotient_slots_read {
    unsigned n;
    bool gave_up;
    uint64_t bits[2 * SN_QUOTIENT_SLOTS];
} sn_quotient_slots_read;

/* The slots of a home in its own LINE; returns whether that overflowed. */
bool sn_quotient_read_own(const sn_quotient *q, const uint8_t *line,
                          sn_quotient_slots_read *x);
/* Those that are guests of LINE. */
void sn_quotient_read_guests(const sn_quotient *q, const uint8_t *line,
                             sn_quotient_slots_read *x);

/* ---- quotient_cover.c: prefixes that are shorter than an address ------------------
 */

/* Cells of one home that are covered whole, in order and apart. */
typedef struct sn_quotient_pieces {
    unsigned n;
    uint64_t from[4 * SN_QUOTIENT_SLOTS], to[4 * SN_QUOTIENT_SLOTS];
} sn_quotient_pieces;

/* The slot of W + 1 BITS of home W covers cells whole, with MORE bits in an address. */
void sn_quotient_add_pieces(const sn_quotient_homes *w, uint64_t bits, unsigned more,
                            sn_quotient_pieces *x);
/* Covers the pieces of home W; the next call is for the home before. */
void sn_quotient_put_pieces(sn_quotient_target *to, const sn_quotient_homes *w,
                            sn_quotient_pieces *x);
/* After the last home. */
void sn_quotient_put_waiting(sn_quotient_target *to, const sn_quotient_homes *w);
/* P is shorter than an address of TO. */
void sn_quotient_cover_prefix(sn_quotient_target *to, uint64_t p);

/* ---- quotient_move_x86.c: the same as in quotient_move.c --------------------------
 */

/* Slots of 16 to 24 bits, of the same width before and after. */
#define SN_QUOTIENT_FAST(width) ((width) >= 16 && (width) <= 24)

/* Lists the slots of LINE that are at home there in the open lines of TO. Returns
 * those, as bits, that cover cells whole or are damaged. */
uint64_t sn_quotient_pour_avx2(const sn_quotient *q, const uint8_t *line,
                               const sn_quotient_way *way, sn_quotient_target *to);
/* Writes the slots of O, which fit, into LINE; not the head. */
void sn_quotient_write_avx2(const sn_quotient *q, const sn_quotient_open_line *o,
                            uint8_t *line);
#endif
