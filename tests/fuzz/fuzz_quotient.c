/* fuzz_quotient.c - a quotient filter told what to do by the input: adds, removes,
 * merges, growth and damage. While it is whole no key that is left is denied, and the
 * scalar twin has the same bytes; once it is damaged, any answer will do, but nothing
 * else happens. */
#include "filter/filter.h"
#include <stdlib.h>
#include <string.h>

enum { KEYS = 1 << 10 };

typedef struct pair {
    seen_filter *f[2]; /* the best twin and the scalar one */
    uint16_t count[KEYS];
    bool whole;
} pair;

static seen_filter *make(unsigned flags)
{
    seen_filter *f = NULL;
    seen_spec spec = {.kind = SEEN_QUOTIENT, .keys = 40, .error = 0.01, .flags = flags};
    return seen_new(&spec, &f) == 0 ? f : NULL;
}

/* Keys that begin alike, up to 50 bits of them. */
static uint64_t hash(unsigned key)
{
    uint64_t x = (key & 63) * 0x9e3779b97f4a7c15u;
    unsigned alike = key >> 6;
    return alike ? (x >> 8 << 8) ^ (uint64_t)alike << (2 + alike % 48) : x;
}

static void add(pair *p, unsigned key, unsigned times)
{
    uint64_t h[64];
    bool dup[2][64];
    for (unsigned i = 0; i < times; i++)
        h[i] = hash((key + i * 37) % KEYS);
    int rc[2];
    size_t taken[2];
    for (int w = 0; w < 2; w++)
        rc[w] = seen_add_hashes(p->f[w], h, times, dup[w], taken + w);
    if (!p->whole)
        return;
    if (rc[0] != rc[1] || taken[0] != taken[1] || memcmp(dup[0], dup[1], taken[0]))
        abort();
    for (unsigned i = 0; i < taken[0]; i++)
        p->count[(key + i * 37) % KEYS]++;
}

static void take_away(pair *p, unsigned key)
{
    if (!p->count[key] && p->whole)
        return;
    int a = seen_remove_hash(p->f[0], hash(key)),
        b = seen_remove_hash(p->f[1], hash(key));
    if (p->whole && a > 0)
        p->count[key]--;
    if (p->whole && (a != b || a == 0))
        abort();
}

static void merge(pair *p, unsigned key, unsigned flags)
{
    pair q = {.whole = p->whole};
    for (int w = 0; w < 2; w++)
        q.f[w] = make(w ? flags | SEEN_SCALAR : flags);
    for (unsigned i = 0; i < 2; i++)
        add(&q, key * 5 + i * 111, 64);
    int a = seen_merge(p->f[0], q.f[0]), b = seen_merge(p->f[1], q.f[1]);
    if (p->whole && a != b)
        abort();
    for (unsigned i = 0; a == 0 && i < KEYS; i++)
        p->count[i] = (uint16_t)(p->count[i] + q.count[i]);
    for (int w = 0; w < 2; w++)
        seen_free(q.f[w]);
}

static void compare(const pair *p, bool removes)
{
    size_t a, b;
    const void *x = seen_body(p->f[0], 0, &a), *y = seen_body(p->f[1], 0, &b);
    if (a != b || memcmp(x, y, a))
        abort();
    for (unsigned i = 0; i < KEYS; i++)
        if (p->count[i] && (!seen_has_hash(p->f[0], hash(i)) ||
                            (removes && !seen_has_hash(p->f[1], hash(i)))))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 240)
        return 0;
    unsigned flags = data[0] & 1 ? SEEN_REMOVES : 0;
    static pair p;
    memset(&p, 0, sizeof p);
    p.whole = true;
    for (int w = 0; w < 2; w++)
        p.f[w] = make(w ? flags | SEEN_SCALAR : flags);
    for (size_t i = 1; i + 3 <= size && p.f[0] && p.f[1]; i += 3) {
        unsigned key = (data[i + 1] | (unsigned)data[i + 2] << 8) % KEYS;
        switch (data[i] % 8) {
        case 0:
        case 1:
        case 2:
            add(&p, key, 1);
            break;
        case 3:
            add(&p, key, 1 + data[i] / 8);
            break;
        case 4:
        case 5:
            if (flags)
                take_away(&p, key);
            break;
        case 6:
            if (data[i] < 32)
                merge(&p, key, flags);
            break;
        default:
            if (data[i] > 200)
                for (int w = 0; w < 2; w++) {
                    void *body;
                    size_t len;
                    seen_body_to_write(p.f[w], 0, &body, &len);
                    ((uint8_t *)body)[key % len] ^= data[i + 1];
                    p.whole = false;
                }
        }
    }
    if (p.whole)
        compare(&p, flags != 0);
    for (int w = 0; w < 2; w++) {
        seen_stats st;
        seen_get_stats(p.f[w], &st);
        seen_free(p.f[w]);
    }
    return 0;
}
