/* keyed.h - the keyed hash: bytes to 64 bits, with a proven bound for keys that
 * strangers choose.
 *
 * The arithmetic is that of GF(2^64), polynomials over bits modulo x^64 + x^4 + x^3 +
 * x + 1: adding is XOR, multiplying is a carry-less product and a reduction. The secret
 * is a point k and a mask s, 64 random bits each.
 *
 * A key of L bytes is m pairs of 64-bit words (a_i, b_i), little-endian:
 *   L >= 16     bytes 16i .. 16i+15; the last pair is the last 16 bytes of the key
 *   8 .. 15     one pair, the first and the last 8 bytes
 *   4 .. 7      one pair, the first and the last 4 bytes
 *   1 .. 3      one pair: bytes 0, L/2 and L-1 as a 24-bit number, and 0
 *   0           one pair, (0, 0)
 * Pairs form blocks of 8 (128 bytes); only the last block may be shorter, and it has at
 * least one pair. Block j of J is the polynomial
 *
 *   B_j = sum over its pairs i = 1 .. m_j of (a_i + k^2i) (b_i + k^(2i-1))
 *
 * and the value of the key is P = sum of B_j k^(32 (J-j)), plus L. The hash is a fixed
 * bijection of P + s, which spreads every bit over the whole word.
 *
 * The bound. Let D be the difference of the polynomials of two different keys, as a
 * polynomial in k. It is not zero:
 *   - A block has degree below 32, so blocks do not overlap. If the keys differ in the
 *     number of blocks, or of pairs in the first block, the highest term differs: it is
 *     k^(4i-1) of the last pair of the first block, with coefficient 1.
 *   - If all blocks have the same numbers of pairs, the terms without a word cancel. In
 *     the rest of a block, the coefficient of k^2i is the difference of b_i, and that
 * of
 *     k^(2i-1) the difference of a_i. Words that differ leave such a term.
 *   - If only the last blocks have different numbers of pairs, and all blocks before
 *     them are equal, the highest term of the last block differs as above.
 *   - If all words are equal the lengths differ (equal lengths and words are equal
 *     keys), and D is the constant L + L', which is not zero: "" and a zero byte, or
 *     four times "a" and five times. Such keys are called alike.
 * So keys that are alike never have the same hash: it is a bijection of P + s. Of other
 * keys D is not constant: the first three cases leave a term k^i with i > 0. Its degree
 * is below 32 J, so D + c, for any constant c, has at most 32 J roots among the 2^64
 * points. As s is independent of k, and D is the difference of what the bijection is
 * applied to, the two hashes are any given pair of words with probability at most
 * 32 J / 2^128, and equal with probability at most 32 J / 2^64. Summed over the
 * 2^(128-T) pairs of words whose T given bits agree, this is the second bound below. So
 * for two fixed keys and a random secret:
 *
 *   - they have the same hash with probability at most 2^-59 up to 128 bytes, 2^-56 up
 *     to 1 KB, and in general (L/4 + 32) / 2^64; 0 if they are alike;
 *   - unless they are alike, T given bits of their hashes agree with probability at
 * most 32 J / 2^T. Of alike keys only s hides the words that the bijection gets, whose
 *     difference is known; how often T bits of the results agree is measured (1.0 /
 * 2^T, tests/unit/keyed_hash_bound.c) and not proved.
 *
 * Nothing is promised against somebody who knows the secret (it is in the file), or who
 * learns it by watching answers and choosing the next key accordingly. */
#ifndef SN_KEYED_H
#define SN_KEYED_H
#include "base/bytes.h"
#include "seen.h"

#define SN_KEYED_PAIRS 8
#define SN_KEYED_BLOCK (16 * SN_KEYED_PAIRS)

/* The secret, with the powers of its point. */
typedef struct sn_keyed {
    uint64_t power[2 * SN_KEYED_PAIRS]; /* k^2, k^1, k^4, k^3, ... in order of pairs */
    uint64_t step;                      /* k^32 */
    uint64_t mask;                      /* s */
} sn_keyed;

/* Makes the secret from a 128-bit seed. A bijection: a random seed gives a random
 * secret, and seeds such as 0 and 1 do not give weak points. */
void sn_keyed_init(sn_keyed *out, uint64_t seed, uint64_t seed_high);

typedef struct sn_keyed_variant {
    void (*many)(const sn_keyed *s, const seen_key *keys, size_t n, uint64_t *out);
    uint64_t (*one)(const sn_keyed *s, const void *key, size_t len);
} sn_keyed_variant;

/* The variant for this machine; its first call chooses it. */
extern const sn_keyed_variant *sn_keyed_best __attribute__((visibility("hidden")));

/* The hashes of N keys. */
static inline void sn_keyed_many(const sn_keyed *s, const seen_key *keys, size_t n,
                                 uint64_t *out)
{
    __atomic_load_n(&sn_keyed_best, __ATOMIC_RELAXED)->many(s, keys, n, out);
}
static inline uint64_t sn_keyed_hash(const sn_keyed *s, const void *key, size_t len)
{
    return __atomic_load_n(&sn_keyed_best, __ATOMIC_RELAXED)->one(s, key, len);
}

/* ---- for the variants ---------------------------------------------------------------
 */

extern const sn_keyed_variant sn_keyed_portable;
/* With carry-less multiplication in hardware; NULL if this machine has none. */
const sn_keyed_variant *sn_keyed_clmul(void);

/* The pair of a key of fewer than 16 bytes. */
static inline void sn_keyed_short(const uint8_t *p, size_t len, uint64_t *a,
                                  uint64_t *b)
{
    *a = *b = 0;
    if (len >= 8) {
        *a = sn_le64(p);
        *b = sn_le64(p + len - 8);
    } else if (len >= 4) {
        *a = sn_le32(p);
        *b = sn_le32(p + len - 4);
    } else if (len) {
        *a = p[0] | (uint64_t)p[len / 2] << 8 | (uint64_t)p[len - 1] << 16;
    }
}

/* Makes the hash from P without the length. */
static inline uint64_t sn_keyed_finish(const sn_keyed *s, uint64_t value, size_t len)
{
    uint64_t x = value ^ (uint64_t)len ^ s->mask;
    x = (x ^ x >> 32) * 0xbea225f9eb34556du;
    x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}
#endif
