/* quotient.c - quotient filter that grows in place: prefixes of hashes, in order.
 *
 * A key is kept as a prefix of its hash, at least long enough for the promise. When the
 * filter grows, every prefix gives bits to the address, so nothing is hashed again and
 * no layer is appended: one cache line answers a question, now and then the next one,
 * for ever. The chance that an absent key is found is the sum of 2^-length over all
 * prefixes. What this costs, beside a filter made to measure: 1.9 times the bits (20 to
 * 23 a key at 1%), 2.4 times the time of a lookup, some 50 ns an add, half of it for
 * walks through all of it whenever it grows by a seventh.
 *
 * Lines are described in quotient.h; growing and merging are in quotient_resize.c. */
#include "kind/quotient.h"
#include "base/fail.h"
#include <math.h>

/* ---- sizes ------------------------------------------------------------------- */

static uint64_t body_len(const sn_shape *s)
{
    if (s->k < SN_QUOTIENT_WMIN || s->k > SN_QUOTIENT_WMAX ||
        s->units < SN_QUOTIENT_LEAST || s->units > SN_QUOTIENT_LINES ||
        sn_quotient_c(s->units) + s->k > SN_QUOTIENT_BITS + 6 ||
        s->own[SN_QUOTIENT_ONCE] > 1 || s->own[SN_QUOTIENT_ZERO])
        return 0;
    return s->units * 64;
}

static int shape_for(sn_shape *s, double n, double p)
{
    return sn_quotient_shape(s, n, p);
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    uint32_t from = s->k ? s->k : SN_QUOTIENT_WMAX, to = s->k ? s->k : SN_QUOTIENT_WMIN;
    uint64_t lines = bytes / 64;
    if (bytes < 64 * SN_QUOTIENT_LEAST || lines > SN_QUOTIENT_LINES)
        return sn_fail(SEEN_EINVAL, "a quotient filter cannot have %llu bytes",
                       (unsigned long long)bytes);
    for (s->k = from; s->k >= to; s->k--) {
        s->units = lines;
        s->capacity = (uint64_t)sn_quotient_holds(s->k, (double)lines);
        if (body_len(s) && (double)s->capacity >= n)
            return 0;
    }
    return sn_fail(SEEN_ETOOBIG, "%.3g keys do not fit into %llu bytes", n,
                   (unsigned long long)bytes);
}

/* Slot J of line I, which has counts N, as W + 1 BITS in its HOME; false if it is free.
 */
static bool slot_in_use(const sn_quotient *q, uint64_t i, const sn_quotient_counts *n,
                        unsigned j, uint64_t *home, uint64_t *bits)
{
    bool left = j < n->side[0], guest = !left && j < n->side[0] + n->guests;
    if (!left && !guest && j < q->slots - n->side[1])
        return false;
    uint64_t v = sn_quotient_slot(q, q->body + 64 * i, j);
    *home = i - guest + (guest && !i ? q->lines : 0);
    *bits = guest ? v << 1 : left ? v : v | (uint64_t)1 << q->width;
    return true;
}

/* What the slots of line I say: how many there are, by the zeroes behind their
 * prefixes; returns the error of those that are shorter than an address. */
static double count_slots(const sn_quotient *q, uint64_t i, uint64_t *by_length)
{
    const uint8_t *line = q->body + i * 64;
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    if (sn_quotient_gave_up(q, &n))
        return 1 / (double)q->lines;
    double error = 0;
    for (unsigned j = 0; j < q->slots; j++) {
        uint64_t home, bits = 0;
        if (!slot_in_use(q, i, &n, j, &home, &bits))
            continue;
        unsigned k = sn_quotient_open(q, bits);
        by_length[k ? 63 : (unsigned)__builtin_ctzll(bits)]++;
        if (!k)
            continue;
        sn_quotient_cells x = sn_quotient_cells_of(sn_quotient_first(q, home),
                                                   sn_quotient_first(q, home + 1),
                                                   bits >> (q->width - 6), k);
        error += ldexp((double)(x.to[0] - x.from[0] + x.to[1] - x.from[1]), -(int)q->c);
    }
    return error;
}

static void measure(const sn_layer *l, sn_measure *out)
{
    const sn_quotient q = sn_quotient_of(l);
    uint64_t all = q.lines, look = all < 1 << 20 ? all : 1 << 20, by_length[64] = {0};
    double slots = 0, scale = (double)all / (double)look, error = 0;
    for (uint64_t i = 0; i < look; i++)
        error += count_slots(&q, i, by_length);
    for (int k = 0; k < 64; k++) {
        slots += (double)by_length[k];
        if (k < 63)
            error += ldexp((double)by_length[k], k + 7 - (int)(q.c + q.width));
    }
    out->error = fmin(error * scale, 1);
    out->bits = l->len * 8;
    out->bits_set = (uint64_t)(slots * scale * q.width + 0.5);
    out->keys = slots * scale;
}

/* ---- the scalar variant --------------------------------------------------------- */

void sn_quotient_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    const sn_quotient q = sn_quotient_of(l);
    for (size_t i = 0; i < n; i++)
        SN_FETCH(sn_quotient_home_line(&q, h[i]));
}

#define EACH 0x0101010101010101u
#define TOP (EACH << 7)

/* In each byte, which bits are after the last 1, or that 1; all if there is none. */
static inline uint64_t end_of(uint64_t v)
{
    uint64_t less = ((v | TOP) - EACH) ^ (~v & TOP); /* every byte less 1 */
    return v ^ less;
}

/* The top bit of each byte that is zero. */
static inline uint64_t zero_bytes(uint64_t v)
{
    return ~(((v & ~TOP) + ~TOP) | v | ~TOP);
}

/* Eight slots at a time. */
static inline uint64_t maybe(const sn_quotient *q, const uint8_t *line, uint64_t key)
{
    uint64_t high = (key >> 56) * EACH, low = (key >> 48 & 255) * EACH, found = 0;
    for (unsigned i = 0; i < q->slots; i += 8) {
        uint64_t v = sn_le64(line + q->head + i), end = end_of(v), differ = 0;
        if (q->width >= 16) {
            uint64_t w = sn_quotient_eight(line, q->head + q->slots + i);
            end &= (zero_bytes(w) >> 7) * 255;
            differ = (w ^ low) & ~end_of(w);
        }
        differ |= (v ^ high) & ~end;
        found |= ((zero_bytes(differ) >> 7) * 0x0102040810204080 >> 56) << i;
    }
    return found;
}

static inline uint64_t maybe_own(const sn_quotient *q, const uint8_t *line,
                                 unsigned head, uint64_t top)
{
    return maybe(q, line, top << 1) & sn_quotient_side(q, head, top >> 63);
}

static inline uint64_t slots_in(const sn_quotient *q, uint64_t mask)
{
    (void)q;
    return mask;
}

#define TARGET
#include "kind/quotient_ask.h"

static const sn_variant plain = {
    .prefetch = sn_quotient_prefetch, .has = has, .add = add, .has_one = has_one};

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool atomic)
{
    (void)s;
    if (atomic)
        return NULL;
#if defined(__x86_64__)
    if (simd >= SN_AVX2)
        return &sn_quotient_avx2;
#endif
    (void)simd;
    return &plain;
}

/* No call relies on what lines say of themselves; these numbers decide when to grow,
 * and what error is told. */
static int check(const sn_layer *l)
{
    uint64_t most = l->shape.units * sn_quotient_slots(l->shape.k);
    if (l->added > most || l->shape.capacity > most)
        return sn_fail(SEEN_EFORMAT, "%llu keys are claimed, there is room for %llu",
                       (unsigned long long)(l->added > most ? l->added
                                                            : l->shape.capacity),
                       (unsigned long long)most);
    if (!l->shape.capacity) /* it would be filled beyond any */
        return sn_fail(SEEN_EFORMAT, "a quotient filter has a capacity, this has none");
    if (!l->shape.own[SN_QUOTIENT_KEYS] != !l->shape.own[SN_QUOTIENT_ERROR])
        return sn_fail(SEEN_EFORMAT, "an error of no keys is claimed, or none of some");
    return 0;
}

/* Whether every slot in use of line I is of a cell of its home: growth relies on it. */
static bool slots_at_home(const sn_quotient *q, uint64_t i)
{
    const uint8_t *line = q->body + 64 * i;
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    for (unsigned j = 0; j < q->slots && !sn_quotient_gave_up(q, &n); j++) {
        uint64_t home, bits = 0;
        if (!slot_in_use(q, i, &n, j, &home, &bits))
            continue;
        sn_quotient_cells x = sn_quotient_cells_of(
            sn_quotient_first(q, home), sn_quotient_first(q, home + 1),
            bits >> (q->width - 6), sn_quotient_open(q, bits));
        if (x.to[0] == x.from[0] && x.to[1] == x.from[1])
            return false;
    }
    return true;
}

/* The counts of a line add up to its slots at most, or are all ones: it gave up.
 * Lookups know no third way. */
static int check_body(const sn_layer *l)
{
    const sn_quotient q = sn_quotient_of(l);
    unsigned all = (1u << (3 * q.field + 1)) - 1;
    for (uint64_t i = 0; i < q.lines; i++) {
        const uint8_t *line = q.body + 64 * i;
        sn_quotient_counts n = sn_quotient_counts_of(&q, line);
        unsigned head = sn_quotient_head(&q, line);
        if (head > all || (sn_quotient_gave_up(&q, &n) && head != all))
            return sn_fail(
                SEEN_EFORMAT,
                "line %llu of the quotient filter counts %u slots, it has %u",
                (unsigned long long)i, sn_quotient_total(&n), q.slots);
        if (!slots_at_home(&q, i))
            return sn_fail(SEEN_EFORMAT,
                           "line %llu of the quotient filter has a slot of another one",
                           (unsigned long long)i);
    }
    return 0;
}

const sn_kind sn_quotient_kind = {
    .name = "quotient",
    .id = SEEN_QUOTIENT,
    .can = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_MERGE | SEEN_CAN_GROW,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .error_at = sn_quotient_error_at,
    .error_most = sn_quotient_error_most,
    .measure = measure,
    .variant = variant,
    .absorb = sn_quotient_absorb,
    .grow = sn_quotient_grow,
    .remove = sn_quotient_remove,
    .multiset = true,
    .check = check,
    .check_body = check_body,
    .ordered = true,
    .prefetches_itself = true,
};
