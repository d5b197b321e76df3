/* table_filter.c - builds and asks the filter of one block: a linear system over bits.
 *
 * Each hash becomes an equation: a run of up to 64 words starting at some word, a
 * mask that selects the words to sum, and the sum. With 64 words or fewer the run is
 * all of them (a dense system); above, it is a band and this is a ribbon filter.
 * Building costs about 50 ns a key. A lookup of an absent key reads two words on
 * average: it stops at the first column that disagrees. */
#include "table_filter.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 64, MAX_R = 32, SALTS = 256, MIN_BITS = 2, MAX_BITS = 40 };
enum { AT_R, AT_SALT, AT_CHECK, HEAD };

typedef struct equation {
    size_t start;  /* first word of the run */
    uint64_t mask; /* bit i: word start + i is in the sum */
    uint32_t sum;  /* only the low r bits count */
} equation;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

static equation equation_of(uint64_t h, unsigned salt, size_t m)
{
    uint64_t a = mix(h + (salt + 1) * 0x9e3779b97f4a7c15u);
    uint64_t b = mix(a ^ 0xa0761d6478bd642fu);
    equation e = {0, a, (uint32_t)b};
    if (m > RUN)
        e.start = (size_t)((b >> 32) * (m - RUN + 1) >> 32);
    else if (m < RUN)
        e.mask &= ((uint64_t)1 << m) - 1;
    return e;
}

static uint64_t le64(const uint8_t *p, size_t have)
{
    uint64_t x = 0;
    if (have >= 8) {
        memcpy(&x, p, 8);
        return le64toh(x);
    }
    for (size_t i = 0; i < have; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

/* The check byte of a filter: the sum (xor) of its words, each rotated by 9 bits more
 * than the next, and of r, salt and length, folded to 8 bits. It is linear, so it
 * always reveals a single flipped bit; it misses other damage one time in 256. */
static uint8_t check_of(const uint8_t *p, size_t len)
{
    uint64_t x = (uint64_t)len * 0x9e3779b97f4a7c15u;
    x ^= (uint64_t)p[AT_R] << 8 | (uint64_t)p[AT_SALT];
    for (size_t i = HEAD; i < len; i += 8)
        x = (x << 9 | x >> 55) ^ le64(p + i, len - i);
    x ^= x >> 32;
    x ^= x >> 16;
    return (uint8_t)(x ^ x >> 8);
}

size_t sn_table_filter_size(size_t n, unsigned bits)
{
    bits = bits < MIN_BITS ? MIN_BITS : bits > MAX_BITS ? MAX_BITS : bits;
    size_t all = n > SIZE_MAX / 64 ? SIZE_MAX / 64 * bits : n * bits;
    return (all < 64 ? 8 : (all + 7) / 8) + 1;
}

/* Gaussian elimination, one equation at a time: mask[i] is the equation whose first
 * selected word is i, shifted so that this is its bit 0; 0 if there is none yet.
 * If an equation is reduced to an empty mask, its sum must be 0. */
static bool eliminate(const uint64_t *hashes, size_t n, unsigned salt, size_t m,
                      uint32_t low, uint64_t *mask, uint32_t *sum)
{
    memset(mask, 0, m * sizeof *mask);
    for (size_t i = 0; i < n; i++) {
        equation e = equation_of(hashes[i], salt, m);
        e.sum &= low;
        while (e.mask) {
            unsigned skip = (unsigned)__builtin_ctzll(e.mask);
            e.start += skip;
            e.mask >>= skip;
            if (!mask[e.start]) {
                mask[e.start] = e.mask;
                sum[e.start] = e.sum;
                break;
            }
            e.mask ^= mask[e.start];
            e.sum ^= sum[e.start];
        }
        if (!e.mask && e.sum)
            return false;
    }
    return true;
}

/* Solves from the last word to the first (words that start no equation are 0) and
 * stores the words as columns. */
static void write_columns(const uint64_t *mask, uint32_t *sum, size_t m, unsigned r,
                          uint8_t *out)
{
    for (size_t i = m; i-- > 0;) {
        uint32_t word = 0;
        if (mask[i]) {
            word = sum[i];
            for (uint64_t rest = mask[i] & (mask[i] - 1); rest; rest &= rest - 1)
                word ^= sum[i + (unsigned)__builtin_ctzll(rest)];
        }
        sum[i] = word;
        for (unsigned j = 0; j < r; j++) {
            size_t bit = j * m + i;
            out[bit / 8] |= (uint8_t)((word >> j & 1) << bit % 8);
        }
    }
}

size_t sn_table_filter_build(const uint64_t *hashes, size_t n, unsigned bits,
                             uint8_t *out)
{
    size_t body = sn_table_filter_size(n, bits) - HEAD, r = body * 8 / (n + 1);
    if (r > MAX_R) { /* more than 32 bits a word are useless: use fewer bytes */
        r = MAX_R;
        size_t enough = (n + 2 + n / 8) * MAX_R / 8;
        body = enough < body ? enough : body;
    }
    uint64_t *mask = malloc((body * 8 + RUN) * sizeof *mask);
    uint32_t *sum = malloc((body * 8 + RUN) * sizeof *sum);
    size_t len = 1;
    out[0] = 0;
    /* With one spare word, two of three salts give a solvable system. A long band needs
     * a few percent more words, so its words become shorter. */
    for (unsigned salt = 0; mask && sum && r > 0; r--) {
        size_t m = body * 8 / r;
        uint32_t low = r < 32 ? ((uint32_t)1 << r) - 1 : UINT32_MAX;
        unsigned tries = r == 1 ? SALTS : m > RUN ? 4 : 16;
        for (; tries > 0 && salt < SALTS; tries--, salt++) {
            if (!eliminate(hashes, n, salt, m, low, mask, sum))
                continue;
            memset(out, 0, HEAD + body);
            out[AT_R] = (uint8_t)r;
            out[AT_SALT] = (uint8_t)salt;
            write_columns(mask, sum, m, (unsigned)r, out + HEAD);
            len = HEAD + body;
            out[AT_CHECK] = check_of(out, len);
            goto out;
        }
    }
out:
    free(sum);
    free(mask);
    return len;
}

/* 64 bits from bit AT on, or as many as there are. */
static uint64_t bits_at(const uint8_t *p, size_t len, size_t at)
{
    size_t byte = at / 8, have = len - byte;
    unsigned shift = at % 8;
    uint64_t x = le64(p + byte, have) >> shift;
    return have > 8 && shift ? x | (uint64_t)p[byte + 8] << (64 - shift) : x;
}

bool sn_table_filter_sound(const uint8_t *p, size_t len)
{
    return len > HEAD && p[AT_R] >= 1 && p[AT_R] <= MAX_R &&
           (len - HEAD) * 8 >= p[AT_R] && p[AT_CHECK] == check_of(p, len);
}

bool sn_table_filter_ask(const uint8_t *p, size_t len, uint64_t h)
{
    unsigned r = p[AT_R];
    size_t body = len - HEAD, m = body * 8 / r;
    equation e = equation_of(h, p[AT_SALT], m);
    for (unsigned j = 0; j < r; j++) {
        uint64_t run = bits_at(p + HEAD, body, j * m + e.start);
        if (((unsigned)__builtin_popcountll(run & e.mask) & 1) != (e.sum >> j & 1))
            return false;
    }
    return true;
}

bool sn_table_filter_has(const uint8_t *p, size_t len, uint64_t h)
{
    return !sn_table_filter_sound(p, len) || sn_table_filter_ask(p, len, h);
}
