/* keyed.c - the keyed hash in plain C, the reference for its variants, and the choice
 * between them. */
#include "hash/keyed.h"
#include "base/cpu.h"
#include "hash/keyed_products.h"

/* Modulo x^64 + x^4 + x^3 + x + 1. */
static uint64_t reduced(sn_wide w)
{
    uint64_t over = w.hi >> 63 ^ w.hi >> 61 ^ w.hi >> 60, h = w.hi ^ over;
    return w.lo ^ h ^ h << 1 ^ h << 3 ^ h << 4;
}

/* (A + power[0]) * (B + power[1]). */
static uint64_t times_plus(const uint64_t *power, uint64_t a, uint64_t b)
{
    uint8_t words[16];
    sn_pair_put(words, a, b);
    return reduced(sn_products(power, words, 1, words));
}

static uint64_t times(uint64_t x, uint64_t y)
{
    static const uint64_t nothing[2];
    return times_plus(nothing, x, y);
}

/* P of a key, without its length. */
static uint64_t value_of(const sn_keyed *s, const uint8_t *p, size_t len)
{
    if (len < 16) {
        uint64_t a, b;
        sn_keyed_short(p, len, &a, &b);
        return times_plus(s->power, a, b);
    }
    const uint8_t *last = p + len - 16;
    uint64_t value = 0;
    size_t left = len;
    for (; left > SN_KEYED_BLOCK; left -= SN_KEYED_BLOCK, p += SN_KEYED_BLOCK)
        value = times(value ^ reduced(sn_products(s->power, p, SN_KEYED_PAIRS,
                                                  p + SN_KEYED_BLOCK - 16)),
                      s->step);
    return value ^ reduced(sn_products(s->power, p, (left + 15) / 16, last));
}

static uint64_t one(const sn_keyed *s, const void *key, size_t len)
{
    return sn_keyed_finish(s, value_of(s, key, len), len);
}

static void many(const sn_keyed *s, const seen_key *keys, size_t n, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = one(s, keys[i].data, keys[i].len);
}

const sn_keyed_variant sn_keyed_portable = {many, one};

/* ---- choosing -------------------------------------------------------------------- */

/* Threads that race here write the same value. */
static const sn_keyed_variant *chosen(void)
{
    const sn_keyed_variant *t = sn_keyed_clmul();
    t = t ? t : &sn_keyed_portable;
    __atomic_store_n(&sn_keyed_best, t, __ATOMIC_RELAXED);
    return t;
}

static void choose_many(const sn_keyed *s, const seen_key *keys, size_t n,
                        uint64_t *out)
{
    chosen()->many(s, keys, n, out);
}

static uint64_t choose_one(const sn_keyed *s, const void *key, size_t len)
{
    return chosen()->one(s, key, len);
}

static const sn_keyed_variant choosing = {choose_many, choose_one};
const sn_keyed_variant *sn_keyed_best = &choosing;

/* ---- the secret ------------------------------------------------------------------ */

static uint64_t stir(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void sn_keyed_init(sn_keyed *out, uint64_t seed, uint64_t seed_high)
{
    /* Four steps of a Feistel network: each can be undone. */
    uint64_t k = seed, s = seed_high;
    for (uint64_t step = 1; step <= 2; step++) {
        k ^= stir(s + step * 0x9e3779b97f4a7c15u);
        s ^= stir(k + step * 0xd1b54a32d192ed03u);
    }
    uint64_t power = 1;
    for (int i = 0; i < 4 * SN_KEYED_PAIRS; i++) {
        power = times(power, k);
        if (i < 2 * SN_KEYED_PAIRS)
            out->power[i ^ 1] = power;
    }
    out->step = power;
    out->mask = s;
}
