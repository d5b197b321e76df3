/* table_filter_promises.c - the small filters by themselves: sizes, errors, damage. */
#include "table_filter.h"
#include "tap.h"

#include <math.h>
#include <seen.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(uint64_t i)
{
    return seen_hash_seeded(1, &i, sizeof i);
}

/* The builtin's length for N keys at B bits a key. */
static size_t builtin_len(size_t n, size_t b)
{
    size_t bits = n * b < 64 ? 64 : n * b;
    return (bits + 7) / 8 + 1;
}

int main(void)
{
    static const unsigned bits[] = {0, 2, 3, 5, 8, 10, 12, 16, 24, 40, 1000};
    static const size_t counts[] = {1,  2,  3,  7,   8,   20,   31,   35,
                                    36, 37, 48, 55,  60,  61,   62,   63,
                                    64, 65, 66, 100, 300, 1000, 5000, 30000};
    uint64_t *h = malloc(30000 * sizeof *h);
    bool all_in = true, fits = true;
    unsigned salts = 0;
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t n = counts[c], room = sn_table_filter_size(n, bits[b]);
            for (size_t i = 0; i < n; i++)
                h[i] = hash_of(c * 100000 + i);
            uint8_t *f = malloc(room);
            size_t len = sn_table_filter_build(h, n, bits[b], f);
            uint8_t *exact = malloc(len); /* so that ASan sees a read behind it */
            memcpy(exact, f, len);
            for (size_t i = 0; i < n; i++)
                all_in &= sn_table_filter_has(exact, len, h[i]);
            fits &= len <= room && exact[0] >= 1 &&
                    (bits[b] < 2 || bits[b] > 40 || len <= builtin_len(n, bits[b]));
            salts += exact[1] > salts ? exact[1] - salts : 0;
            free(exact);
            free(f);
        }
    ok(all_in, "every key is in its filter, 1 to 30000 keys, 2 to 40 bits a key");
    ok(fits, "no filter is larger than the builtin's, and each holds real columns");
    note("largest salt needed: %u of 255", salts);

    /* 1000 blocks of 36 keys, 100 absent keys each. The expectation is the mean of
     * 2^-r; six sigma of 100,000 tries. */
    for (unsigned b = 6; b <= 14; b += 4) {
        double expect = 0, hits = 0;
        for (unsigned block = 0; block < 1000; block++) {
            uint8_t f[256];
            for (size_t i = 0; i < 36; i++)
                h[i] = hash_of(block * 1000 + i);
            size_t len = sn_table_filter_build(h, 36, b, f);
            expect += 100 * pow(0.5, f[0]);
            for (size_t i = 0; i < 100; i++)
                hits += sn_table_filter_has(f, len, hash_of(block * 1000 + 500 + i));
        }
        ok(fabs(hits - expect) <= 6 * sqrt(expect),
           "36 keys at %u bits: %.0f of 100,000 absent keys pass, %.0f expected", b,
           hits, expect);
        ok(expect <= 100000 * pow(0.5, b - 1) * 1.01, "which is 2^-%u or less", b - 1);
    }

    for (size_t i = 0; i < 40; i++)
        h[i] = hash_of(i / 4);
    uint8_t f[256];
    size_t len = sn_table_filter_build(h, 40, 10, f);
    ok(f[0] == 8 || f[0] == 9, "equal hashes are one equation, not a contradiction");
    bool in = true;
    for (size_t i = 0; i < 40; i++)
        in &= sn_table_filter_has(f, len, h[i]);
    ok(in, "and all of them are found");

    /* Damage: every single bit of many filters, and a few bytes of others. */
    unsigned hidden = 0, asked = 0;
    for (unsigned b = 2; b <= 20; b += 6)
        for (size_t c = 1; c <= 41; c += 8) {
            uint8_t g[256];
            for (size_t i = 0; i < c; i++)
                h[i] = hash_of(b * 1000 + c * 100 + i);
            len = sn_table_filter_build(h, c, b, g);
            for (size_t bit = 0; bit < 8 * len; bit++) {
                g[bit / 8] ^= (uint8_t)(1 << bit % 8);
                for (size_t i = 0; i < c; i++, asked++)
                    hidden += !sn_table_filter_has(g, len, h[i]);
                g[bit / 8] ^= (uint8_t)(1 << bit % 8);
            }
        }
    ok(hidden == 0 && asked > 100000,
       "no single flipped bit hides a key (%u questions)", asked);
    /* Eight random bytes over a filter: the check misses one in 256. Of 20,000 tries
     * 78 are expected, six sigma are 53. */
    unsigned missed = 0;
    uint64_t y = 99;
    for (unsigned t = 0; t < 20000; t++) {
        uint8_t g[256];
        for (size_t i = 0; i < 36; i++)
            h[i] = hash_of(t * 100 + i);
        len = sn_table_filter_build(h, 36, 10, g);
        y = hash_of(y);
        memcpy(g + 3 + y % (len - 11), &y, 8);
        bool lost = false;
        for (size_t i = 0; i < 36; i++)
            lost |= !sn_table_filter_has(g, len, h[i]);
        missed += lost;
    }
    ok(missed <= 78 + 53, "of 20000 filters with eight bytes overwritten %u hide keys",
       missed);

    uint8_t empty[1] = {0};
    ok(sn_table_filter_has(empty, 0, 1) && sn_table_filter_has(empty, 1, 1),
       "bytes too short to be a filter match");
    uint64_t x = 1;
    unsigned yes = 0;
    for (unsigned t = 0; t < 20000; t++) {
        size_t n = (x = hash_of(x)) % 40;
        uint8_t *junk = malloc(n ? n : 1);
        for (size_t i = 0; i < n; i++)
            junk[i] = (uint8_t)((x = hash_of(x)) >> 24);
        if (n)
            junk[0] &= x & 1 ? 0x3f : 0xff;
        yes += sn_table_filter_has(junk, n, x);
        free(junk);
    }
    ok(yes > 0, "20000 random byte strings are asked without harm");
    uint8_t newer[20] = {33};
    ok(sn_table_filter_has(newer, sizeof newer, 5),
       "a filter of a later version matches");
    free(h);
    return done();
}
