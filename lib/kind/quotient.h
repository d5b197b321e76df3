/* quotient.h - the lines of a quotient filter, as its files and variants see them.
 *
 * The top c bits of a hash name a cell. Cells lie in order over the lines: line i is the
 * home of cells s(i) .. s(i+1)-1, some 20 to 40 of them, so that there can be any number
 * of lines. A key in a cell is a slot of w bits: as many of the following bits of its
 * hash as are known, a 1, and zeroes. A line of 64 bytes is
 *
 *   byte 0      o, the cells at its start that the line before passed on to it
 *   byte 1      0, or 128 - e: it passes on its cells from s(i) + e on (e < 0: also some
 *               of those that were passed on to it)
 *   bytes 2-7   which of its cells hold keys, from s(i) - o on
 *   S bits      which slots begin a cell
 *   zeroes      up to
 *   S slots     of w bits, those of a cell together and in order; the rest are zero
 *
 * with S = 448 / (w + 1). A body of zeroes is an empty filter. */
#ifndef SN_QUOTIENT_H
#define SN_QUOTIENT_H
#include "base/bytes.h"
#include "kind/kind.h"

enum {
    SN_QUOTIENT_CELLS = 48,  /* of a line, at most */
    SN_QUOTIENT_PASSED = 63, /* cells passed on, at most */
    SN_QUOTIENT_SPARE = 2,   /* lines behind the last, for what it passes on */
    SN_QUOTIENT_SLOTS = 64,  /* of a line, at most */
    SN_QUOTIENT_MOST_COPIES = 8, /* of one prefix; then it is there for good */
    SN_QUOTIENT_WMIN = 10,
    SN_QUOTIENT_WMAX = 30
};
/* A body of at most so many bytes is in the caches. */
#define SN_QUOTIENT_CACHED ((uint64_t)512 << 10)
/* Up to so many, the places of cells are exact in 128 bits. */
#define SN_QUOTIENT_LINES ((uint64_t)1 << 28)

/* Numbers of the shape: k is w, units are lines without the spare ones. */
enum {
    SN_QUOTIENT_C,     /* low byte: log2 of the cells; above: keys at the last growth */
    SN_QUOTIENT_ERROR, /* of those keys, in 2^-64 */
    SN_QUOTIENT_ONCE = SN_ONCE, /* 0: every add is kept, so that keys can be removed */
    SN_QUOTIENT_STEP   /* cells a line, in 2^-58 */
};

/* S = 448 / (w + 1), for each width. */
static inline unsigned sn_quotient_slots(unsigned w)
{
    static const uint8_t slots[SN_QUOTIENT_WMAX + 1] = {
        0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  40, 37, 34, 32, 29, 28,
        26, 24, 23, 22, 21, 20, 19, 18, 17, 17, 16, 16, 15, 14, 14};
    return slots[w];
}

/* The bit of a line where the slots begin: they go up to its end. Up to 30 bits wide, as
 * many slots as fit into eight bytes then lie in eight bytes that can be addressed. */
static inline unsigned sn_quotient_slots_at(unsigned w)
{
    return 512 - sn_quotient_slots(w) * w;
}

/* N ones. */
static inline uint64_t sn_quotient_low(unsigned n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

static inline unsigned sn_quotient_c(const sn_shape *s)
{
    return (unsigned)s->own[SN_QUOTIENT_C] & 255;
}

static inline uint64_t sn_quotient_keys(const sn_shape *s)
{
    return s->own[SN_QUOTIENT_C] >> 8;
}

static inline uint64_t sn_quotient_step(uint64_t lines, unsigned c)
{
    return (uint64_t)(((unsigned __int128)1 << (c + 58)) / lines);
}

typedef struct sn_quotient {
    uint8_t *body;
    uint64_t lines, step;
    unsigned c, w, slots, slots_at;
    bool copies; /* every add is kept, so that it can be removed */
} sn_quotient;

static inline sn_quotient sn_quotient_of(const sn_layer *l)
{
    return (sn_quotient){.body = l->body,
                         .lines = l->shape.units,
                         .step = l->shape.own[SN_QUOTIENT_STEP],
                         .c = sn_quotient_c(&l->shape),
                         .w = l->shape.k,
                         .slots = sn_quotient_slots(l->shape.k),
                         .slots_at = sn_quotient_slots_at(l->shape.k),
                         .copies = !l->shape.own[SN_QUOTIENT_ONCE]};
}

/* s(i): the first cell whose home is line I. */
static inline uint64_t sn_quotient_start(const sn_quotient *q, uint64_t i)
{
    const uint64_t most = ((uint64_t)1 << 58) - 1;
    uint64_t s = (uint64_t)(((unsigned __int128)i * q->step + most) >> 58);
    return i <= q->lines ? s : (uint64_t)1 << q->c;
}

static inline uint64_t sn_quotient_cell(const sn_quotient *q, uint64_t h)
{
    return h >> (64 - q->c);
}

/* The home of the cell of H; *AT is the place of the cell among those of its home. */
static inline uint64_t sn_quotient_home(const sn_quotient *q, uint64_t h, unsigned *at)
{
    unsigned drop = 64 - q->c;
    unsigned __int128 x = (unsigned __int128)(h >> drop << drop) * q->lines;
    *at = (unsigned)(sn_mulhi((uint64_t)x, q->step + 1) >> 58);
    return (uint64_t)(x >> 64);
}

static inline __attribute__((always_inline)) uint8_t *
sn_quotient_home_line(const sn_quotient *q, uint64_t h)
{
    return q->body + 64 * sn_mulhi(h >> (64 - q->c) << (64 - q->c), q->lines);
}

/* Keys from the fetch of a line to their turn: into the second level, and into the first. */
enum { SN_QUOTIENT_FAR = 128, SN_QUOTIENT_NEAR = 8 };

/* Asks for the lines of keys to come, while key I of N has its turn. */
static inline __attribute__((always_inline)) void
sn_quotient_fetch(const sn_quotient *q, const uint64_t *h, size_t i, size_t n)
{
    if (i + SN_QUOTIENT_FAR < n)
        SN_FETCH(sn_quotient_home_line(q, h[i + SN_QUOTIENT_FAR]));
    if (i + SN_QUOTIENT_NEAR < n)
        __builtin_prefetch(sn_quotient_home_line(q, h[i + SN_QUOTIENT_NEAR]));
}

/* Whether LINE passes on the cell that is AT places after its own first one; in the next
 * line it is then AT + line[1] - 128 places after the first of all. */
static inline bool sn_quotient_passes(const uint8_t *line, int at)
{
    return at + line[1] >= 128;
}

/* Moves from the home of a cell, AT places after its first one, to the line that has it,
 * where it is AT places after the first of all. False if no line has (any bytes are
 * safe). */
static inline bool sn_quotient_seek(const sn_quotient *q, uint64_t *i, unsigned *at)
{
    int place = (int)*at;
    for (;; ++*i) {
        if (*i >= q->lines + SN_QUOTIENT_SPARE)
            return false;
        const uint8_t *line = q->body + *i * 64;
        if (!sn_quotient_passes(line, place)) {
            *at = (unsigned)(place + line[0]);
            return *at < SN_QUOTIENT_CELLS;
        }
        place += line[1] - 128;
        if (*i + 1 < q->lines + SN_QUOTIENT_SPARE)
            place -= line[64];
    }
}

/* The slot of a key of which all is known: w - 1 bits of the hash and a 1. */
static inline uint64_t sn_quotient_slot(const sn_quotient *q, uint64_t h)
{
    return h << q->c >> (65 - q->w) << 1 | 1;
}

/* The slot of a prefix that has no bits beside the address. */
static inline uint64_t sn_quotient_whole_cell(const sn_quotient *q)
{
    return (uint64_t)1 << (q->w - 1);
}

/* Whether slot V, whose bits end with its last 1, is a beginning of KEY. */
static inline bool sn_quotient_match(uint64_t v, uint64_t key)
{
    return ((v ^ key) & ~(v ^ (v - 1))) == 0;
}

/* W bits at BIT of a line, w + 7 < 64. */
static inline uint64_t sn_quotient_bits(const uint8_t *line, unsigned bit, unsigned w)
{
    unsigned byte = bit / 8 < 56 ? bit / 8 : 56;
    return sn_le64(line + byte) >> (bit - 8 * byte) & (((uint64_t)1 << w) - 1);
}

static inline uint64_t sn_quotient_slot_at(const sn_quotient *q, const uint8_t *line,
                                           unsigned i)
{
    return sn_quotient_bits(line, q->slots_at + i * q->w, q->w);
}

/* Whether a key with hash H is in; any bytes are safe. SELECT(x, n) is the position of
 * the bit of X that has N set ones below it, 64 if there is none. */
static inline __attribute__((always_inline)) bool
sn_quotient_find(const sn_quotient *q, uint64_t h, unsigned (*select)(uint64_t, unsigned))
{
    unsigned at;
    uint64_t i = sn_quotient_home(q, h, &at);
    if (!sn_quotient_seek(q, &i, &at))
        return false;
    const uint8_t *line = q->body + i * 64;
    uint64_t cells = sn_le64(line) >> 16;
    if (!(cells >> at & 1))
        return false;
    unsigned before = (unsigned)__builtin_popcountll(cells & (((uint64_t)1 << at) - 1));
    uint64_t starts = sn_le64(line + 8);
    if (q->slots < 64)
        starts &= ((uint64_t)1 << q->slots) - 1;
    unsigned slot = select(starts, before);
    uint64_t key = sn_quotient_slot(q, h);
    while (slot < q->slots) {
        uint64_t v = sn_quotient_slot_at(q, line, slot);
        if (v && sn_quotient_match(v, key))
            return true;
        slot++;
        if (!v || slot >= q->slots || starts >> slot & 1)
            break;
    }
    return false;
}

/* The position of the bit of X that has N set ones below it, 64 if there is none. */
unsigned sn_quotient_select(uint64_t x, unsigned n);
/* Adds one hash: whether it was in, or -1 if there is no place. */
int sn_quotient_add_one(sn_layer *l, uint64_t h);

/* quotient_copies.c: the same where every add is kept, and what that is for. */
int sn_quotient_add_copy(sn_layer *l, uint64_t h);
int sn_quotient_remove(sn_layer *l, uint64_t h);
/* Adds one hash that was not found: false if there is no place, then nothing changed. */
bool sn_quotient_insert(const sn_quotient *q, uint64_t h);

/* The chance that an absent key is found in the first LINES, and how many slots they use. */
double sn_quotient_sum(const sn_quotient *q, uint64_t lines, uint64_t *slots);

/* quotient_rewrite.c */
int sn_quotient_grow(sn_layer *l, const seen_allocator *a);
int sn_quotient_absorb(sn_layer *dst, const sn_layer *src, const seen_allocator *a);
int sn_quotient_shape(sn_shape *s, double n, double p, uint64_t lines);

void sn_quotient_prefetch(const sn_layer *l, const uint64_t *h, size_t n);
extern const sn_variant sn_quotient_avx2;
/* The variant for this shape; NULL if the processor lacks the instructions. */
const sn_variant *sn_quotient_avx512(const sn_shape *s);
#endif
