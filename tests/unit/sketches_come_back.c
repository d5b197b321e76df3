/* sketches_come_back.c - a sketch that was written is read back equal; one that was
 * cut, changed or made too large is refused. */
#include "hash/hash.h"
#include "base/bytes.h"
#include "test_keys.h"
#include "seen_sketch.h"
#include "tap.h"
#include <stdlib.h>

typedef struct family_of_calls {
    const char *name;
    void *(*make)(void);
    size_t (*write)(void *, void *, size_t);
    int (*read)(const void *, size_t, uint64_t, const seen_allocator *, void **);
    void (*free)(void *);
} kind;

static void *make_cms(void)
{
    seen_cms *c;
    seen_cms_new(&(seen_cms_spec){.width = 61, .depth = 3, .seed = 5}, &c);
    for (uint64_t k = 0; k < 1000; k++)
        seen_cms_add(c, &k, 8, k);
    return c;
}
static void *make_top(void)
{
    seen_top *t;
    seen_top_new(&(seen_top_spec){.counters = 20, .seed = 5}, &t);
    for (uint64_t k = 0; k < 3000; k++) {
        uint64_t x = mix(k) % (1 + k % 100);
        seen_top_add(t, &x, x % 9, 1 + k % 3);
    }
    return t;
}
static void *make_tdigest(void)
{
    seen_tdigest *t;
    seen_tdigest_new(50, 0, NULL, &t);
    for (uint64_t k = 0; k < 3000; k++)
        seen_tdigest_add(t, (double)mix(k) * 0x1p-64, 1);
    return t;
}
static void *make_distinct(void)
{
    seen_distinct *d;
    seen_distinct_new(8, 5, NULL, &d);
    for (uint64_t k = 0; k < 3000; k++)
        seen_distinct_add(d, &k, 8);
    return d;
}

static const kind kinds[] = {
    {"count-min", make_cms, (void *)seen_cms_write, (void *)seen_cms_read,
     (void *)seen_cms_free},
    {"top", make_top, (void *)seen_top_write, (void *)seen_top_read,
     (void *)seen_top_free},
    {"t-digest", make_tdigest, (void *)seen_tdigest_write, (void *)seen_tdigest_read,
     (void *)seen_tdigest_free},
    {"distinct", make_distinct, (void *)seen_distinct_write, (void *)seen_distinct_read,
     (void *)seen_distinct_free},
};

static void comes_back(const kind *k)
{
    void *a = k->make(), *b = NULL;
    size_t len = k->write(a, NULL, 0);
    uint8_t *bytes = malloc(len), *again = malloc(len);
    memset(bytes, 0xee, len);
    k->write(a, bytes, len - 1);
    ok(bytes[0] == 0xee, "%s: nothing is written where it does not fit", k->name);
    k->write(a, bytes, len);
    ok(k->read(bytes, len, 0, NULL, &b) == SEEN_OK && k->write(b, again, len) == len &&
           !memcmp(bytes, again, len),
       "%zu bytes are read and written again as they were", len);
    k->free(b);
    ok(k->read(bytes, len, 200, NULL, &b) == SEEN_ETOOBIG && !b,
       "more memory than allowed is refused");
    size_t wrong = 0;
    for (size_t n = 0; n < len; n++)
        wrong += k->read(bytes, n, 0, NULL, &b) >= 0;
    ok(wrong == 0, "no shorter piece is taken");
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 0x10;
        wrong += k->read(bytes, len, 0, NULL, &b) >= 0;
        bytes[i] ^= 0x10;
    }
    ok(wrong == 0, "nor is one with a bit turned");
    bytes[6]++;
    ok(k->read(bytes, len, 0, NULL, &b) == SEEN_EVERSION, "a newer version is named");
    bytes[6]--;
    /* With the checksum made to fit, whatever is taken can be written and freed. */
    size_t taken = 0;
    for (uint64_t i = 0; i < 4000; i++) {
        memcpy(again, bytes, len);
        again[8 + mix(i) % (len - 16)] ^= (uint8_t)(1 << i % 8);
        if (i % 3 == 0)
            sn_put64(again + 16 + 8 * (mix(~i) % 5), mix(i * i) >> i % 64);
        sn_put64(again + len - 8, sn_checksum(again, len - 8));
        if (k->read(again, len, 1 << 22, NULL, &b) == SEEN_OK) {
            taken++;
            k->write(b, NULL, 0);
            k->free(b);
        }
    }
    ok(taken < 4000, "of 4000 forged ones %zu are consistent and taken", taken);
    k->free(a);
    free(bytes);
    free(again);
}

int main(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        comes_back(&kinds[i]);
    return done();
}
