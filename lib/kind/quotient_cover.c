/* quotient_cover.c - prefixes of a quotient filter that are shorter than an address.
 *
 * Such a prefix stands for all cells that it covers, with a slot in each home that has
 * some of them. When the table grows, the cells that are covered are put together
 * first and then cut anew: cut where lines were cut before, they would take ever more
 * slots. */
#include "kind/quotient_move.h"
#include <math.h>
#include <string.h>

/* Slots for those of the cells FROM .. END - 1 that are in home I and begin as VALUE
 * but for K bits. */
static void cover_some(sn_quotient_target *to, uint64_t i, uint64_t value, unsigned k,
                       uint64_t from, uint64_t end)
{
    const sn_quotient *q = &to->q;
    sn_quotient_cells x = sn_quotient_cells_of(
        sn_quotient_first(q, i), sn_quotient_first(q, i + 1), value, k);
    uint64_t all = 0, in = 0;
    for (int j = 0; j < 2; j++) {
        uint64_t a = x.from[j] > from ? x.from[j] : from,
                 b = x.to[j] < end ? x.to[j] : end;
        all += x.to[j] - x.from[j];
        in += a < b ? b - a : 0;
    }
    if (!in)
        return;
    if (in < all) {
        cover_some(to, i, value, k - 1, from, end);
        cover_some(to, i, value | (uint64_t)1 << (k - 1), k - 1, from, end);
        return;
    }
    uint64_t bits = value << (q->width - 6) | (uint64_t)1 << (q->width - 7 + k);
    if (!sn_quotient_target_put(to, i, bits)) {
        sn_quotient_target_give_up(to, i);
        return;
    }
    to->slots++;
    to->error += ldexp((double)in, -(int)q->c);
}

/* Makes keys with these cells be found, without a bit of their hashes beside. */
static void cover(sn_quotient_target *to, uint64_t from, uint64_t end)
{
    unsigned shift = 64 - to->q.c;
    uint64_t last = sn_quotient_home(&to->q, (end - 1) << shift);
    for (uint64_t i = sn_quotient_home(&to->q, from << shift); i <= last; i++)
        for (unsigned side = 0; side < 128; side += 64)
            cover_some(to, i, side, 6, from, end);
}

void sn_quotient_cover_prefix(sn_quotient_target *to, uint64_t p)
{
    uint64_t from = (p & (p - 1)) >> (64 - to->q.c);
    cover(to, from, from + ((p & -p) >> (63 - to->q.c)));
}

static void add_piece(sn_quotient_pieces *x, uint64_t from, uint64_t to)
{
    if (from >= to)
        return;
    unsigned i = x->n, j;
    while (i && x->to[i - 1] >= from)
        i--;
    for (j = i; j < x->n && x->from[j] <= to; j++) {
        from = x->from[j] < from ? x->from[j] : from;
        to = x->to[j] > to ? x->to[j] : to;
    }
    memmove(x->from + i + 1, x->from + j, (x->n - j) * sizeof *x->from);
    memmove(x->to + i + 1, x->to + j, (x->n - j) * sizeof *x->to);
    x->n = x->n - (j - i) + 1;
    x->from[i] = from;
    x->to[i] = to;
}

void sn_quotient_add_pieces(const sn_quotient_homes *w, uint64_t bits, unsigned more,
                            sn_quotient_pieces *x)
{
    const sn_quotient *q = w->q;
    unsigned rest_bits = q->width - 6;
    uint64_t rest = bits & sn_quotient_ones(rest_bits);
    uint64_t cell = ((bits >> rest_bits) - w->first) & 127;
    if (rest) { /* the one cell, or damaged */
        if (more && rest == (uint64_t)1 << (rest_bits - 1) && cell < w->cells)
            add_piece(x, w->first + cell, w->first + cell + 1);
        return;
    }
    sn_quotient_cells cells =
        sn_quotient_cells_of(w->first, w->first + w->cells, bits >> rest_bits,
                             sn_quotient_open(q, bits));
    for (int i = 0; i < 2; i++)
        add_piece(x, cells.from[i], cells.to[i]);
}

void sn_quotient_put_waiting(sn_quotient_target *to, const sn_quotient_homes *w)
{
    unsigned more = to->q.c - w->q->c;
    if (to->from < to->to)
        cover(to, to->from << more, to->to << more);
    to->from = to->to = 0;
}

/* A piece that begins with the home waits for what the home before has of it. */
void sn_quotient_put_pieces(sn_quotient_target *to, const sn_quotient_homes *w,
                            sn_quotient_pieces *x)
{
    unsigned more = to->q.c - w->q->c;
    if (x->n && to->from < to->to && x->to[x->n - 1] == to->from)
        to->from = x->from[--x->n];
    if (to->from != w->first)
        sn_quotient_put_waiting(to, w);
    for (unsigned i = 0; i < x->n; i++)
        if (x->from[i] == w->first && to->from == to->to)
            to->from = x->from[i], to->to = x->to[i];
        else
            cover(to, x->from[i] << more, x->to[i] << more);
}
