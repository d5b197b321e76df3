/* quotient.h - the lines of a quotient filter, as its files and variants see them.
 *
 * The top c bits of a hash name a cell. Cells lie in order over any number of lines; a
 * line of 64 bytes is the home of 64 to 127 of them. A key is a slot of W bits, a
 * prefix of its hash: the low 6 bits of its cell, as many of the following W - 7 bits
 * of the hash as are known, a 1, and zeroes. The seventh bit of the cell is the side of
 * the line that the slot is on. A line is
 *
 *   head     counts of the slots on the left, on the right, and of guests, 5 bits each
 *            (6 if W < 16), and a bit that says that keys overflowed to the next line
 *   S bytes  the high 8 bits of the slots
 *   S bytes  the next 8, if W >= 16: all slots of a line are compared at once by these
 *   the rest of the slots, bit after bit, read for those that may match
 *
 * A prefix that is shorter than an address has its 1 among the six bits, and stands for
 * all cells of its home that begin like that. The left slots begin at 0, the right ones
 * end at S - 1. Guests are keys of the line before, which was full; they come after the
 * left ones and have seven bits of their cell. The first line comes after the last.
 * A head of ones says that the line gave up: it finds every key. A body of zeroes is an
 * empty filter. */
#ifndef SN_QUOTIENT_H
#define SN_QUOTIENT_H
#include "base/bytes.h"
#include "kind/kind.h"
#include <string.h>

enum {
    SN_QUOTIENT_WMIN = 10,
    SN_QUOTIENT_WMAX = 48,
    SN_QUOTIENT_LEAST = 3,   /* lines */
    SN_QUOTIENT_CELLS = 127, /* of a line, at most */
    SN_QUOTIENT_SLOTS = 48,  /* of a line, at most */
    SN_QUOTIENT_COPIES = 8,  /* of a key, where copies are kept */
    SN_QUOTIENT_BITS = 63 /* of a hash in an address and a slot with its 1, at most */
};
#define SN_QUOTIENT_LINES ((uint64_t)1 << 29)
/* A body of at most so many bytes is in the caches. */
#define SN_QUOTIENT_CACHED ((uint64_t)512 << 10)

/* Numbers of the shape: k is W, units are lines. */
enum {
    SN_QUOTIENT_KEYS,  /* that came, at the last growth: see quotient_widen.c */
    SN_QUOTIENT_ERROR, /* of them, in 2^-64 */
    SN_QUOTIENT_ONCE = SN_ONCE, /* 0: every add is kept, so that keys can be removed */
    SN_QUOTIENT_ZERO
};

/* The lines and how keys lie in them. */
typedef struct sn_quotient {
    uint8_t *body;
    uint8_t *after; /* the line after the last */
    uint64_t lines;
    unsigned c, width, slots;
    unsigned head;   /* bytes */
    unsigned field;  /* bits of a count */
    unsigned low;    /* bits of a slot that are not in whole bytes, */
    unsigned low_at; /* and the bit of a line where those of all slots begin */
} sn_quotient;

/* log2 of the cells of LINES. */
static inline unsigned sn_quotient_c(uint64_t lines)
{
    return 63 - (unsigned)__builtin_clzll(lines * SN_QUOTIENT_CELLS);
}

static inline unsigned sn_quotient_slots(unsigned width)
{
    return (width < 16 ? 488 : 496) / width;
}

static inline sn_quotient sn_quotient_lines(uint8_t *body, uint64_t lines,
                                            unsigned width)
{
    unsigned slots = sn_quotient_slots(width), head = width < 16 ? 3 : 2;
    unsigned bytes = width < 16 ? 1 : 2;
    return (sn_quotient){.body = body,
                         .after = body,
                         .lines = lines,
                         .c = sn_quotient_c(lines),
                         .width = width,
                         .slots = slots,
                         .head = head,
                         .field = width < 16 ? 6 : 5,
                         .low = width - 8 * bytes,
                         .low_at = 8 * (head + bytes * slots)};
}

static inline sn_quotient sn_quotient_of(const sn_layer *l)
{
    return sn_quotient_lines(l->body, l->shape.units, l->shape.k);
}

/* ---- a line -------------------------------------------------------------------- */

/* N ones, N < 64. */
static inline uint64_t sn_quotient_ones(unsigned n)
{
    return ((uint64_t)1 << n) - 1;
}

typedef struct sn_quotient_counts {
    unsigned side[2], guests;
    bool overflowed;
} sn_quotient_counts;

/* The counts as they are packed. Read and written by the same bytes: a load of two
 * stores would wait for both. */
static inline unsigned sn_quotient_head(const sn_quotient *q, const uint8_t *line)
{
    uint16_t x;
    memcpy(&x, line, 2);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = (uint16_t)(x << 8 | x >> 8);
#endif
    return q->head == 2 ? x : x | (unsigned)line[2] << 16;
}

static inline void sn_quotient_put_head(const sn_quotient *q, uint8_t *line, unsigned x)
{
    uint16_t low = (uint16_t)x;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    low = (uint16_t)(low << 8 | low >> 8);
#endif
    memcpy(line, &low, 2);
    if (q->head == 3)
        line[2] = (uint8_t)(x >> 16);
}

static inline sn_quotient_counts sn_quotient_counts_of(const sn_quotient *q,
                                                       const uint8_t *line)
{
    unsigned x = sn_quotient_head(q, line), f = q->field, ones = (1u << f) - 1;
    return (sn_quotient_counts){
        {x & ones, x >> f & ones}, x >> 2 * f & ones, x >> 3 * f & 1};
}

static inline unsigned sn_quotient_total(const sn_quotient_counts *n)
{
    return n->side[0] + n->side[1] + n->guests;
}

/* The line finds every key; any other counts that are too many are damage, of which
 * nothing is read. */
static inline bool sn_quotient_gave_up(const sn_quotient *q,
                                       const sn_quotient_counts *n)
{
    return sn_quotient_total(n) > q->slots;
}

/* Eight bytes of a line from AT on, as far as it goes. */
static inline uint64_t sn_quotient_eight(const uint8_t *line, unsigned at)
{
    unsigned from = at < 56 ? at : 56;
    return sn_le64(line + from) >> 8 * (at - from);
}

/* Slot I of a line; any I below the number of slots. */
static inline uint64_t sn_quotient_slot(const sn_quotient *q, const uint8_t *line,
                                        unsigned i)
{
    uint64_t v = line[q->head + i];
    if (q->width >= 16)
        v = v << 8 | line[q->head + q->slots + i];
    if (!q->low)
        return v;
    unsigned bit = q->low_at + i * q->low, byte = bit / 8 < 56 ? bit / 8 : 56;
    uint64_t x = sn_le64(line + byte) >> (bit - 8 * byte);
    return v << q->low | (x & sn_quotient_ones(q->low));
}

static inline void sn_quotient_put_slot(const sn_quotient *q, uint8_t *line, unsigned i,
                                        uint64_t v)
{
    uint64_t bytes = v >> q->low;
    if (q->width >= 16) {
        line[q->head + q->slots + i] = (uint8_t)bytes;
        bytes >>= 8;
    }
    line[q->head + i] = (uint8_t)bytes;
    if (!q->low)
        return;
    unsigned bit = q->low_at + i * q->low, byte = bit / 8 < 56 ? bit / 8 : 56;
    uint64_t ones = sn_quotient_ones(q->low) << (bit - 8 * byte);
    uint64_t x = sn_le64(line + byte);
    sn_put64(line + byte, (x & ~ones) | (v << (bit - 8 * byte) & ones));
}

/* Whether slot V, whose bits end with its last 1, is a beginning of KEY. */
static inline bool sn_quotient_match(uint64_t v, uint64_t key)
{
    return ((v ^ key) & ~(v ^ (v - 1))) == 0;
}

/* ---- a key --------------------------------------------------------------------- */

/* The home of the cell of H. */
static inline uint64_t sn_quotient_home(const sn_quotient *q, uint64_t h)
{
    return sn_mulhi(h & ~(uint64_t)0 << (64 - q->c), q->lines);
}

static inline __attribute__((always_inline)) const uint8_t *
sn_quotient_home_line(const sn_quotient *q, uint64_t h)
{
    return q->body + 64 * sn_quotient_home(q, h);
}

/* The line after LINE. */
static inline uint8_t *sn_quotient_next(const sn_quotient *q, const uint8_t *line)
{
    uint64_t end = (uint64_t)(line - q->body) + 64;
    return end < 64 * q->lines ? q->body + end : q->after;
}

/* Seven bits of the cell and the slot's others: W + 1 bits. X is a hash, or a prefix
 * that ends with a 1 and zeroes. */
static inline uint64_t sn_quotient_bits(const sn_quotient *q, uint64_t x)
{
    return x << (q->c - 7) >> (63 - q->width);
}

/* The prefix of H that a new slot takes, ended by a 1 and zeroes. */
static inline uint64_t sn_quotient_prefix(const sn_quotient *q, uint64_t h)
{
    unsigned end = 70 - q->c - q->width;
    return (h >> end | 1) << end;
}

/* The first cell of home I: those from it to that of I + 1 are at home there. */
static inline uint64_t sn_quotient_first(const sn_quotient *q, uint64_t i)
{
    return (uint64_t)((((unsigned __int128)i << q->c) + q->lines - 1) / q->lines);
}

/* Some of the cells of a home, of which FIRST .. END - 1 are all: those whose low seven
 * bits are the same as VALUE but for the last K. They are in up to two pieces. */
typedef struct sn_quotient_cells {
    uint64_t from[2], to[2];
} sn_quotient_cells;

static inline sn_quotient_cells sn_quotient_cells_of(uint64_t first, uint64_t end,
                                                     uint64_t value, unsigned k)
{
    sn_quotient_cells x;
    uint64_t at = (first & ~(uint64_t)127) + (value >> k << k);
    for (int i = 0; i < 2; i++, at += 128) {
        uint64_t to = at + ((uint64_t)1 << k);
        x.from[i] = at > first ? at : first;
        x.to[i] = to < end ? to : end;
        if (x.to[i] < x.from[i])
            x.to[i] = x.from[i];
    }
    return x;
}

/* How many bits of the address the slot of W + 1 BITS leaves open, at most 6. */
static inline unsigned sn_quotient_open(const sn_quotient *q, uint64_t bits)
{
    unsigned zeroes = bits ? (unsigned)__builtin_ctzll(bits) : q->width - 1;
    return zeroes < q->width - 6   ? 0
           : zeroes > q->width - 1 ? 6
                                   : zeroes - q->width + 7;
}

/* As a guest, a slot has a bit of the cell more and one of the others less. */
static inline uint64_t sn_quotient_as_guest(uint64_t bits)
{
    return bits >> 1 | (bits & 1);
}

/* Whether one of the slots of MASK is a beginning of KEY. */
static inline __attribute__((always_inline)) bool
sn_quotient_one_of(const sn_quotient *q, const uint8_t *line, uint64_t mask,
                   uint64_t key)
{
    for (mask &= sn_quotient_ones(q->slots); mask; mask &= mask - 1)
        if (sn_quotient_match(
                sn_quotient_slot(q, line, (unsigned)__builtin_ctzll(mask)), key))
            return true;
    return false;
}

/* Which slots are guests. */
static inline uint64_t sn_quotient_guests(const sn_quotient_counts *n)
{
    return sn_quotient_ones(n->guests) << n->side[0];
}

/* The slots of SIDE in a line with HEAD, as bits. */
static inline uint64_t sn_quotient_side(const sn_quotient *q, unsigned head,
                                        unsigned side)
{
    unsigned f = q->field, n = head >> side * f & ((1u << f) - 1);
    return sn_quotient_ones(n) << ((q->slots - n) & -side & 63);
}

static inline bool sn_quotient_overflowed(const sn_quotient *q, unsigned head)
{
    return head >> 3 * q->field & 1;
}

/* ---- quotient_line.c ------------------------------------------------------------ */

/* sn_quotient_put where the line is full. */
bool sn_quotient_overflow(const sn_quotient *q, uint64_t home, uint64_t bits);

/* Puts a slot of W + 1 BITS into LINE, its home with HEAD, where there is room. No
 * branch depends on the line or the side. */
static inline __attribute__((always_inline)) void
sn_quotient_put_own(const sn_quotient q, uint8_t *line, unsigned head, uint64_t bits)
{
    unsigned f = q.field, ones = (1u << f) - 1, side = bits >> q.width & 1;
    unsigned left = head & ones, right = head >> f & ones,
             guests = head >> 2 * f & ones;
    /* The first guest gives way to the left, or has a copy in a free slot. */
    sn_quotient_put_slot(&q, line, left + guests, sn_quotient_slot(&q, line, left));
    unsigned from_right = q.slots - 1 - right, i = left ^ ((left ^ from_right) & -side);
    sn_quotient_put_slot(&q, line, i, bits & sn_quotient_ones(q.width));
    sn_quotient_put_head(&q, line, head + (1u << side * f));
}

/* Puts a slot of W + 1 BITS into its HOME: false if there is no place for it, then
 * nothing changed. */
static inline __attribute__((always_inline)) bool
sn_quotient_put(const sn_quotient q, uint64_t home, uint64_t bits)
{
    uint8_t *line = q.body + 64 * home;
    unsigned head = sn_quotient_head(&q, line), f = q.field, ones = (1u << f) - 1;
    if ((head & ones) + (head >> f & ones) + (head >> 2 * f & ones) >= q.slots) {
        const sn_quotient copy = q; /* Q stays in registers */
        return sn_quotient_overflow(&copy, home, bits);
    }
    sn_quotient_put_own(q, line, head, bits);
    return true;
}

/* The same for PREFIX, which ends with a 1 after the bits of its cell. */
static inline __attribute__((always_inline)) bool
sn_quotient_insert(sn_quotient q, uint64_t prefix)
{
    /* A longer prefix is cut, and ends with a 1 all the same. */
    uint64_t bits = sn_quotient_bits(&q, prefix);
    bits |= (prefix << (q.c + q.width - 6)) != 0;
    return sn_quotient_put(q, sn_quotient_home(&q, prefix), bits);
}
/* Puts V, a slot as a guest, into the line after HOME: false if there is no place. */
bool sn_quotient_put_guest(const sn_quotient *q, uint64_t home, uint64_t v);
/* Empties slot I of LINE, which is in use. */
void sn_quotient_empty(const sn_quotient *q, uint8_t *line, unsigned i);
/* Frees a slot for a key of HOME, where there is no place: two prefixes of one cell
 * become a shorter one that finds both. False if there are no such two; *ERROR grows by
 * what the filter's error does, in units of the error of a new slot. */
bool sn_quotient_squeeze(const sn_quotient *q, uint64_t home, double *error);
/* The line finds every key from now on. */
void sn_quotient_give_up(const sn_quotient *q, uint8_t *line);

/* ---- quotient_multiset.c: where every add is kept ---------------------------------
 */

size_t sn_quotient_add_copies(sn_layer *l, const uint64_t *h, size_t n, bool *dup);
int sn_quotient_remove(sn_layer *l, uint64_t h);

/* ---- quotient_widen.c -------------------------------------------------------------
 */

/* Keys that LINES hold before they are too full. */
double sn_quotient_holds(unsigned width, double lines);
/* How many times as many lines it gets then. */
double sn_quotient_step(unsigned width);
/* Lines that hold N keys for certain. */
double sn_quotient_lines_for(unsigned width, double n);
/* Chooses the width, unless given, and the lines for N keys at error P. */
int sn_quotient_shape(sn_shape *s, double n, double p);
/* The width, no smaller than before, that keeps the promise in LINES, from N keys and
 * ERROR on. */
unsigned sn_quotient_width_for(const sn_shape *s, double n, double error,
                               uint64_t lines);
/* Of a body that did not grow: the error to promise with N keys in it. */
double sn_quotient_error_most(const sn_shape *s, double n);
/* What S can promise from N keys and ERROR on, no less than before. */
double sn_quotient_promise_from(const sn_shape *s, double n, double error);
/* Expected error when N keys have come, and with ADDED in. */
double sn_quotient_error_at(const sn_shape *s, double n);
double sn_quotient_error_now(const sn_shape *s, double added);
/* The keys that came and those of them that were taken for others, with ADDED in. */
void sn_quotient_history_now(const sn_shape *s, double added, double *keys,
                             double *lost);
/* Keeps them in S, which has ERROR now. */
void sn_quotient_set_history(sn_shape *s, double keys, double lost, double error);

/* Adds the error of so many new SLOTS. */
void sn_quotient_add_error(sn_shape *s, double slots);

/* ---- quotient_resize.c ------------------------------------------------------------
 */

int sn_quotient_grow(sn_layer *l, const seen_allocator *a);
/* Makes place for a key that has none, where L is about to grow anyway. False: there is
 * none. */
bool sn_quotient_make_place(sn_layer *l, uint64_t h);
int sn_quotient_absorb(sn_layer *dst, const sn_layer *src, const seen_allocator *a);

void sn_quotient_prefetch(const sn_layer *l, const uint64_t *h, size_t n);
extern const sn_variant sn_quotient_avx2;
#endif
