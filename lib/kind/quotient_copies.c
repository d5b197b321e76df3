/* quotient_copies.c - a quotient filter from which keys can be removed: every add is kept.
 *
 * What is removed must not have stood for two keys, so a key that is in already is stored
 * once more. A remove takes the longest of the prefixes that match: if that one came from
 * another key, the shorter one that came from this key matches the other as well, so that
 * every key left still has a prefix of its own.
 *
 * Some prefixes are there for good, and cost a place but never a key: one of which eight
 * copies are kept, and one that has no bits left beside the address (the filter has become
 * hundreds of times larger since). Keys that such a prefix matches are not stored again.
 * Where eight prefixes of any lengths match one key, they become eight of the shortest. */
#include "kind/quotient_line.h"

enum { MOST = SN_QUOTIENT_MOST_COPIES };

/* The prefixes that match one key. */
typedef struct chain {
    uint64_t line; /* where the cell is */
    unsigned n;
    uint64_t shortest, longest; /* slots; 0 if there are none */
    bool lost;                  /* no line has the cell */
    bool for_good;              /* one of them is */
    bool longest_for_good;
} chain;

static unsigned unknown_bits(uint64_t v)
{
    return (unsigned)__builtin_ctzll(v);
}

static chain look(const sn_quotient *q, uint64_t h)
{
    chain x = {0};
    unsigned at;
    x.line = sn_quotient_home(q, h, &at);
    x.lost = !sn_quotient_seek(q, &x.line, &at);
    if (x.lost)
        return x;
    const uint8_t *line = q->body + x.line * 64;
    uint64_t key = sn_quotient_slot(q, h), last = 0, run = sn_quotient_run(q, line, at);
    unsigned same = 0;
    for (; run; run &= run - 1) {
        uint64_t v = sn_quotient_slot_at(q, line, (unsigned)__builtin_ctzll(run));
        if (!v || !sn_quotient_match(v, key))
            continue;
        same = v == last ? same + 1 : 1;
        last = v;
        bool stays = same >= MOST || v == sn_quotient_whole_cell(q);
        x.n++;
        x.for_good |= stays;
        if (!x.shortest || unknown_bits(v) > unknown_bits(x.shortest))
            x.shortest = v;
        if (!x.longest || unknown_bits(v) <= unknown_bits(x.longest)) {
            x.longest_for_good = stays;
            x.longest = v;
        }
    }
    return x;
}

/* Puts MOST copies of P in place of all slots of CELL that begin with it, which are as many
 * or more. Returns how many slots fewer there are now. */
static unsigned shorten(const sn_quotient *q, uint64_t line, uint64_t cell, uint64_t p)
{
    sn_quotient_line x;
    if (!sn_quotient_read(q, line, &x))
        return 0;
    unsigned was = x.n, n = 0, put = 0;
    for (unsigned i = 0; i < was; i++) {
        uint64_t v = x.v[i];
        bool in = x.cell[i] == cell && unknown_bits(v) <= unknown_bits(p) &&
                  sn_quotient_match(p, v);
        /* Those that begin with P are neighbours: what P leaves open counts upward. */
        if (in && put++ >= MOST)
            continue;
        x.cell[n] = x.cell[i];
        x.v[n++] = in ? p : v;
    }
    x.n = n;
    sn_quotient_write(q, line, &x, q->body + line * 64);
    return was - n;
}

int sn_quotient_add_copy(sn_layer *l, uint64_t h)
{
    sn_quotient q = sn_quotient_of(l);
    chain x = look(&q, h);
    if (x.lost)
        return -1;
    if (x.n >= MOST && !x.for_good) {
        unsigned fewer = shorten(&q, x.line, sn_quotient_cell(&q, h), x.shortest);
        l->added -= fewer < l->added ? fewer : l->added;
    } else if (!x.for_good) {
        if (!sn_quotient_insert(&q, h))
            return -1;
        l->added++;
    }
    return x.n > 0;
}

int sn_quotient_remove(sn_layer *l, uint64_t h)
{
    sn_quotient q = sn_quotient_of(l);
    chain x = look(&q, h);
    sn_quotient_line y;
    if (!x.n)
        return 0;
    if (x.longest_for_good)
        return 1;
    if (!sn_quotient_read(&q, x.line, &y))
        return 0; /* damaged: nothing is certain, and nothing is changed */
    uint64_t cell = sn_quotient_cell(&q, h);
    unsigned i = 0;
    while (i < y.n && (y.cell[i] != cell || y.v[i] != x.longest))
        i++;
    if (i == y.n)
        return 0;
    for (y.n--; i < y.n; i++) {
        y.cell[i] = y.cell[i + 1];
        y.v[i] = y.v[i + 1];
    }
    sn_quotient_write(&q, x.line, &y, q.body + x.line * 64);
    l->added -= l->added > 0;
    return 1;
}
