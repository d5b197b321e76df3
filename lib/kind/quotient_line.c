/* quotient_line.c - one more key in a line, and what it pushes into the next ones. */
#include "kind/quotient_line.h"

unsigned sn_quotient_used(const sn_quotient *q, const uint64_t *line)
{
    unsigned base = q->slots_at;
    for (unsigned k = 8; k-- > 1;) {
        uint64_t x = line[k];
        if (k == base / 64)
            x &= ~(((uint64_t)1 << base % 64) - 1);
        if (k < base / 64)
            break;
        if (x)
            return (64 * k + 63 - (unsigned)__builtin_clzll(x) - base) / q->w + 1;
    }
    return 0;
}

/* ---- a line taken apart and put together ---------------------------------------- */

bool sn_quotient_read(const sn_quotient *q, uint64_t i, sn_quotient_line *x)
{
    uint64_t line[9] = {0};
    for (int k = 0; k < 8; k++)
        line[k] = sn_le64(q->body + i * 64 + 8 * k);
    uint64_t from = sn_quotient_start(q, i), got = line[0] & 255;
    uint64_t passes = line[0] >> 8 & 255, cells = line[0] >> 16, starts = line[1], cell = 0;
    unsigned n = x->n = sn_quotient_used(q, line);
    if (got > from || passes > from + 128 || n > q->slots)
        return false;
    if (q->slots < 64)
        starts &= ((uint64_t)1 << q->slots) - 1;
    x->first = from - got;
    x->end = passes ? from + 128 - passes : sn_quotient_start(q, i + 1);
    if (x->end < x->first || x->end - x->first > SN_QUOTIENT_CELLS ||
        cells >> (x->end - x->first) || (n < 64 && starts >> n) || (n && !(starts & 1)) ||
        __builtin_popcountll(cells) != __builtin_popcountll(starts))
        return false;
    uint64_t mask = ((uint64_t)1 << q->w) - 1, whole = 1;
    unsigned bit = q->slots_at;
    for (unsigned j = 0; j < n; j++, bit += q->w) {
        unsigned k = bit / 64, off = bit % 64;
        uint64_t begins = starts >> j & 1, next = x->first + (uint64_t)__builtin_ctzll(cells | (uint64_t)1 << 63);
        cell = begins ? next : cell;
        cells = begins ? cells & (cells - 1) : cells;
        x->cell[j] = cell;
        x->v[j] = (line[k] >> off | line[k + 1] << 1 << (63 - off)) & mask;
        whole &= x->v[j] != 0;
    }
    return whole;
}

void sn_quotient_write(const sn_quotient *q, uint64_t i, const sn_quotient_line *x,
                       uint8_t *to)
{
    uint64_t from = sn_quotient_start(q, i), line[9] = {0}, starts = 0;
    uint64_t word = from - x->first, before = ~(uint64_t)0;
    if (x->end < sn_quotient_start(q, i + 1))
        word |= (128 + from - x->end) << 8;
    unsigned bit = q->slots_at;
    for (unsigned j = 0; j < x->n; j++, bit += q->w) {
        unsigned k = bit / 64, off = bit % 64;
        word |= (uint64_t)1 << (16 + x->cell[j] - x->first);
        starts |= (uint64_t)(x->cell[j] != before) << j;
        before = x->cell[j];
        line[k] |= x->v[j] << off;
        line[k + 1] |= x->v[j] >> 1 >> (63 - off);
    }
    line[0] = word;
    line[1] |= starts;
    for (int k = 0; k < 8; k++)
        sn_put64(to + 8 * k, line[k]);
}

/* How many of the slots of X, whose first cell is given, line I can hold in whole cells,
 * with FREE slots to spare if some must go; sets X's end. 0 if not even one cell fits, or
 * if there are none. */
static unsigned fit(const sn_quotient *q, uint64_t i, sn_quotient_line *x, unsigned free)
{
    uint64_t home_end = sn_quotient_start(q, i + 1), end = x->first + SN_QUOTIENT_CELLS;
    unsigned keep = x->n;
    end = end < home_end ? end : home_end;
    if (keep > q->slots && x->cell[q->slots - free] < end)
        end = x->cell[q->slots - free];
    while (keep && x->cell[keep - 1] >= end)
        keep--;
    x->end = end;
    return end > x->first || end == home_end ? keep : 0;
}

/* ---- adding ------------------------------------------------------------------- */

/* Opens W bits at BIT in the line W of eight words, and puts V there. */
static void open_bits(uint64_t *line, unsigned bit, unsigned w, uint64_t v)
{
    unsigned at = bit / 64, off = bit % 64;
    uint64_t low = ((uint64_t)1 << off) - 1;
    for (unsigned k = 7; k > at; k--) {
        uint64_t below = k - 1 == at ? line[k - 1] & ~low : line[k - 1];
        line[k] = line[k] << w | below >> (64 - w);
    }
    line[at] = (line[at] & low) | (line[at] & ~low) << w;
    line[at] |= v << off;
    if (off + w > 64)
        line[at + 1] |= v >> (64 - off);
}

unsigned sn_quotient_select(uint64_t x, unsigned n)
{
    while (n-- && x)
        x &= x - 1;
    return x ? (unsigned)__builtin_ctzll(x) : 64;
}

uint64_t sn_quotient_run(const sn_quotient *q, const uint8_t *line, unsigned at)
{
    uint64_t cells = sn_le64(line) >> 16, starts = sn_le64(line + 8) & sn_quotient_low(q->slots);
    if (!(cells >> at & 1))
        return 0;
    unsigned before = (unsigned)__builtin_popcountll(cells & sn_quotient_low(at));
    unsigned first = sn_quotient_select(starts, before);
    if (first >= q->slots)
        return 0;
    uint64_t later = starts >> first >> 1;
    unsigned end = later ? first + 1 + (unsigned)__builtin_ctzll(later) : q->slots;
    return sn_quotient_low(end) & ~sn_quotient_low(first);
}

/* Adds to a line that has room; AT is the place of the cell among its cells. */
static void insert_here(const sn_quotient *q, uint8_t *bytes, uint64_t *line, unsigned n,
                        unsigned at, uint64_t v)
{
    uint64_t mask = q->slots < 64 ? ((uint64_t)1 << q->slots) - 1 : ~(uint64_t)0;
    uint64_t cells = line[0] >> 16, starts = line[1] & mask, bit = (uint64_t)1 << at;
    unsigned before = (unsigned)__builtin_popcountll(cells & (bit - 1));
    unsigned from = sn_quotient_select(starts, before), slot = from < n ? from : n;
    bool first = true;
    if (cells & bit) {
        while (slot < n && (slot == from || !(starts >> slot & 1)) &&
               sn_quotient_slot_at(q, bytes, slot) < v)
            slot++;
        first = slot == from;
        if (first) /* what began the cell follows now */
            starts &= ~((uint64_t)1 << from);
    }
    uint64_t low = ((uint64_t)1 << slot) - 1;
    starts = ((starts & low) | (starts & ~low) << 1 | (uint64_t)first << slot) & mask;
    line[0] |= bit << 16;
    open_bits(line, q->slots_at + slot * q->w, q->w, v);
    line[1] = (line[1] & ~mask) | starts;
    for (int k = 0; k < 8; k++)
        sn_put64(bytes + 8 * k, line[k]);
}

enum { CHAIN = 32 }; /* lines that one key may change */

/* The same where the line is full: it passes cells on, with FREE slots more than it must.
 * None, and the next key is passed on as well; two, and lookups follow too many. */
static bool insert_passing(const sn_quotient *q, uint64_t i, uint64_t cell, uint64_t v,
                           unsigned free)
{
    uint8_t made[CHAIN][64];
    sn_quotient_line x;
    unsigned lines = 0, n;
    if (!sn_quotient_read(q, i, &x) || cell < x.first || cell >= x.end)
        return false;
    for (n = x.n; n && (x.cell[n - 1] > cell || (x.cell[n - 1] == cell && x.v[n - 1] > v));
         n--) {
        x.cell[n] = x.cell[n - 1];
        x.v[n] = x.v[n - 1];
    }
    x.cell[n] = cell;
    x.v[n] = v;
    x.n++;
    for (uint64_t k = i;; k++) {
        uint64_t was = x.end;
        unsigned all = x.n, keep = fit(q, k, &x, free);
        if (x.end > was) { /* what was passed on stays there */
            x.end = was;
            keep = all;
        }
        if (lines == CHAIN || (!keep && all) ||
            sn_quotient_start(q, k + 1) - x.end > SN_QUOTIENT_PASSED)
            return false;
        x.n = keep;
        sn_quotient_write(q, k, &x, made[lines++]);
        if (x.end == was)
            break;
        if (k + 1 >= q->lines + SN_QUOTIENT_SPARE)
            return false;
        /* The rest goes in front of the next line. */
        sn_quotient_line next;
        if (!sn_quotient_read(q, k + 1, &next) || next.first != was)
            return false;
        unsigned rest = all - keep;
        memmove(x.cell, x.cell + keep, rest * sizeof *x.cell);
        memmove(x.v, x.v + keep, rest * sizeof *x.v);
        memcpy(x.cell + rest, next.cell, next.n * sizeof *x.cell);
        memcpy(x.v + rest, next.v, next.n * sizeof *x.v);
        x.first = x.end;
        x.n = rest + next.n;
        x.end = next.end;
    }
    for (unsigned k = 0; k < lines; k++)
        memcpy(q->body + (i + k) * 64, made[k], 64);
    return true;
}

bool sn_quotient_insert(const sn_quotient *q, uint64_t h)
{
    uint64_t v = sn_quotient_slot(q, h), line[8];
    unsigned at;
    uint64_t i = sn_quotient_home(q, h, &at);
    if (!sn_quotient_seek(q, &i, &at))
        return false;
    uint8_t *bytes = q->body + i * 64;
    for (int k = 0; k < 8; k++)
        line[k] = sn_le64(bytes + 8 * k);
    unsigned n = sn_quotient_used(q, line);
    if (n >= q->slots)
        return insert_passing(q, i, sn_quotient_cell(q, h), v, 1) ||
               insert_passing(q, i, sn_quotient_cell(q, h), v, 0);
    insert_here(q, bytes, line, n, at, v);
    return true;
}
