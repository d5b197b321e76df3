/* sst_filter_promises.c - the bytes of a table's filter: every key is in, few others
 * are, and damage hides none. */
#include "sst_filter.h"
#include "tap.h"

#include <math.h>
#include <seen.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(uint64_t i)
{
    return sn_sst_hash(&i, sizeof i);
}

static unsigned denied(const uint8_t *p, size_t len, size_t n)
{
    sst_reader *r = sn_sst_reader_open(p, len);
    unsigned no = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t h = hash_of(i);
        bool may;
        sn_sst_reader_ask(r, &h, 1, &may);
        no += !may;
    }
    sn_sst_reader_close(r);
    return no;
}

static uint8_t *build(size_t n, double bits, size_t *len)
{
    uint64_t *h = malloc((2 * n + 1) * sizeof *h);
    for (uint64_t i = 0; i < n; i++)
        h[i] = h[n + i] = hash_of(i); /* each comes twice, far apart */
    uint8_t *p = sn_sst_filter_build(h, 2 * n, bits, len);
    free(h);
    return p;
}

int main(void)
{
    static const size_t counts[] = {1, 2, 100, 65535, 65536, 200000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t len, n = counts[c], absent = 200000;
        uint8_t *p = build(n, 10, &len);
        ok(denied(p, len, n) == 0, "%zu keys in %zu bytes: all are found", n, len);
        /* 2^-9 for tables, less for ribbons; six sigma. */
        sst_reader *r = sn_sst_reader_open(p, len);
        uint64_t hash[64];
        unsigned pass = 0;
        for (uint64_t i = 0; i < absent; i += 64) {
            bool may[64];
            for (uint64_t j = 0; j < 64; j++)
                hash[j] = hash_of((uint64_t)1 << 40 | (i + j));
            sn_sst_reader_ask(r, hash, 64, may);
            for (uint64_t j = 0; j < 64; j++)
                pass += may[j];
        }
        sn_sst_reader_close(r);
        double expect = (double)absent / 512;
        ok(pass <= expect + 6 * sqrt(expect),
           "%u of %zu absent keys pass, %.0f at most", pass, absent, expect);
        if (n >= 100) {
            unsigned hidden = 0;
            uint64_t x = n;
            for (int t = 0; t < 40; t++) {
                x = hash_of(x);
                p[x % len] ^= (uint8_t)(1 << (x >> 32) % 8);
                hidden += denied(p, len, n < 2000 ? n : 2000);
                p[x % len] ^= (uint8_t)(1 << (x >> 32) % 8);
            }
            ok(hidden == 0, "%zu keys: forty flipped bits, one at a time, hide none",
               n);
            if (n >= 65536)
                ok(denied(p, len / 2, n) == 0, "nor does a file that was cut");
        }
        free(p);
    }
    uint8_t later[100] = {9}, none[1] = {0};
    ok(denied(later, sizeof later, 100) == 0 && denied(none, 1, 100) == 0 &&
           denied(none, 0, 100) == 0,
       "a later version, \"matches all\" and no bytes at all match");
    return done();
}
