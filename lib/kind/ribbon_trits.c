/* ribbon_trits.c - the column of a ribbon that is worth log2(3) bits: equations over
 * GF(3), solved along with those of ribbon_solve.c and packed five trits to a byte.
 *
 * A row is two words of 64 lanes, so adding rows takes a few logical operations for any
 * number of slots. */
#include "kind/ribbon.h"

/* Trit t of a byte is floor(value / 243 * 3^(5-t)) modulo 3. 270 / 2^16 stands
 * for 1 / 243: the result is never below the exact one and never reaches the next. */
#define TIMES(v, power) ((v)*270u * (power)&0xffff)
#define TRIT(v, power) (TIMES(v, power) * 3 >> 16)
#define IS(v, x)                                                                       \
    ((TRIT(v, 81u) == (x)) | (TRIT(v, 27u) == (x)) << 1 | (TRIT(v, 9u) == (x)) << 2 |  \
     (TRIT(v, 3u) == (x)) << 3 | (TRIT(v, 1u) == (x)) << 4)
#define ONE(v) (IS(v, 1) | IS(v, 2) << 8)
#define FOUR(v) ONE(v), ONE((v) + 1), ONE((v) + 2), ONE((v) + 3)
#define SIXTEEN(v) FOUR(v), FOUR((v) + 4), FOUR((v) + 8), FOUR((v) + 12)
#define MANY(v) SIXTEEN(v), SIXTEEN((v) + 16), SIXTEEN((v) + 32), SIXTEEN((v) + 48)

const uint16_t sn_ribbon_planes[256] = {MANY(0), MANY(64), MANY(128), MANY(192)};

sn_trit_row sn_trit_add(sn_trit_row a, sn_trit_row b)
{
    uint64_t either = (a.once | b.twice) ^ (a.twice | b.once);
    return (sn_trit_row){
        .once = (a.twice | b.twice) ^ either,
        .twice = (a.once | b.once) ^ either,
        .sum = a.sum + b.sum,
    };
}

/* Sums are reduced modulo 3 only when a row is stored: far fewer than 2^62 rows are
 * added before. */
uint64_t sn_trit_put(sn_trit_row *rows, uint64_t pos, const sn_ribbon_key *k)
{
    uint64_t slot = pos / 5 * 5, step = 0;
    sn_trit_row row = {k->subset, 0, k->trit};
    for (;; slot += step) {
        const sn_trit_row *in = rows + slot;
        /* The stored row counts its first slot once. If the new row counts it twice,
         * the stored row is added, otherwise subtracted: added with once and twice
         * swapped. */
        uint64_t less = -(row.once & 1), swap = (in->once ^ in->twice) & less;
        if (!in->once)
            break;
        row = sn_trit_add(row, (sn_trit_row){in->once ^ swap, in->twice ^ swap,
                                             in->sum << (less & 1)});
        if (!(row.once | row.twice))
            return UINT64_MAX;
        step = (uint64_t)__builtin_ctzll(row.once | row.twice);
        row.once >>= step;
        row.twice >>= step;
    }
    bool once = row.once & 1;
    rows[slot] = (sn_trit_row){once ? row.once : row.twice, once ? row.twice : row.once,
                               (row.sum << !once) % 3};
    return slot;
}

void sn_trit_fill(const sn_trit_row *rows, uint64_t wide, unsigned r, unsigned e,
                  uint8_t *out)
{
    uint64_t once = 0, twice = 0; /* bit i: slot i after this one */
    uint64_t slot = 5 * sn_ribbon_trits_at(wide);
    unsigned byte = 0;
    for (uint64_t g = wide; g-- > 0;) {
        uint8_t *to =
            out + sn_ribbon_at(g, wide, r, e) + 8 * sn_ribbon_columns(g, wide, r, e);
        while (slot-- > 5 * sn_ribbon_trits_at(g)) {
            sn_trit_row row = rows[slot];
            row.once >>= 1;
            row.twice >>= 1;
            int same = __builtin_popcountll(row.once & once) +
                       __builtin_popcountll(row.twice & twice);
            int other = __builtin_popcountll(row.once & twice) +
                        __builtin_popcountll(row.twice & once);
            unsigned x = (unsigned)(row.sum + 2 * (unsigned)same + (unsigned)other) % 3;
            once = once << 1 | (x == 1);
            twice = twice << 1 | (x == 2);
            byte = byte * 3 + x;
            if (slot % 5 == 0) {
                to[slot / 5 - sn_ribbon_trits_at(g)] = (uint8_t)byte;
                byte = 0;
            }
        }
        slot++;
    }
}
