/* quotient_multiset.c - a quotient filter from which keys can be removed: every add is
 * kept, up to eight of one key.
 *
 * What is removed must not have stood for two keys, so a key that is in already is
 * stored once more. A remove takes the longest of the prefixes that match: if that one
 * came from another key, the shorter one that came from this key matches the other as
 * well, so that every key left still has a prefix of its own. A prefix that has become
 * one for each of several cells is removed from one of them; the others cost a place
 * but never a key. */
#include "kind/quotient.h"
#include "base/fail.h"

/* The prefixes that match one key. */
typedef struct chain {
    unsigned n;
    uint8_t *line; /* of the longest */
    unsigned slot;
    unsigned unknown; /* zeroes at its end, as if it were in its home line */
    bool for_good;    /* a line gave up, or a prefix is shorter than an address */
} chain;

static void look_at(const sn_quotient *q, uint8_t *line, uint64_t mask, uint64_t key,
                    unsigned guest, chain *x)
{
    for (; mask; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctzll(mask);
        uint64_t v = sn_quotient_slot(q, line, i);
        if (!sn_quotient_match(v, key))
            continue;
        if (sn_quotient_open(q, v << guest)) {
            x->for_good = true;
            continue;
        }
        unsigned unknown = (unsigned)__builtin_ctzll(v) + guest;
        if (!x->n++ || unknown < x->unknown) {
            x->line = line;
            x->slot = i;
            x->unknown = unknown;
        }
    }
}

static chain look(const sn_quotient *q, uint64_t h)
{
    chain x = {0};
    uint8_t *line = q->body + 64 * sn_quotient_home(q, h);
    uint64_t bits = sn_quotient_bits(q, h) | 1;
    sn_quotient_counts n = sn_quotient_counts_of(q, line);
    uint8_t *after = sn_quotient_next(q, line);
    sn_quotient_counts next = sn_quotient_counts_of(q, after);
    x.for_good = sn_quotient_gave_up(q, &n) ||
                (n.overflowed && sn_quotient_gave_up(q, &next));
    if (x.for_good)
        return x;
    unsigned side = (unsigned)(bits >> q->width);
    uint64_t mask = sn_quotient_ones(n.side[side]);
    look_at(q, line, side ? mask << (q->slots - n.side[1]) : mask,
            bits & sn_quotient_ones(q->width), 0, &x);
    if (n.overflowed)
        look_at(q, after, sn_quotient_guests(&next), sn_quotient_as_guest(bits), 1, &x);
    return x;
}

size_t sn_quotient_add_copies(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    const sn_quotient q = sn_quotient_of(l);
    for (size_t i = 0; i < n; i++) {
        chain x = look(&q, h[i]);
        dup[i] = x.n || x.for_good;
        if (x.for_good)
            continue;
        l->refused = x.n >= SN_QUOTIENT_COPIES;
        if (l->refused || !sn_quotient_insert(q, sn_quotient_prefix(&q, h[i])))
            return i;
        l->added++;
    }
    return n;
}

int sn_quotient_remove(sn_layer *l, uint64_t h)
{
    const sn_quotient q = sn_quotient_of(l);
    chain x = look(&q, h);
    if (!x.n && x.for_good)
        return sn_fail(SEEN_EKIND,
                       "the key cannot be removed: the filter grew more than "
                       "500 times since this or a similar one was added");
    if (!x.n)
        return 0;
    sn_quotient_empty(&q, x.line, x.slot);
    l->added -= l->added > 0;
    return 1;
}
