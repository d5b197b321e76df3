/* ribbon.c - static, within one percent of the theoretical minimum.
 *
 * It takes 1.003 log2(1/p) bits a key at eight bits and 1.009 at two. Errors between
 * whole bits take up to 0.04 bits more, because keys then have prints of two lengths. A
 * lookup reads two neighbouring segments (two lines at eight bits) and two bits of
 * metadata that stay in the caches. This file has the sizes, the checks and the scalar
 * reference; ribbon_x86.c has the variants, ribbon_solve.c the construction, ribbon.h
 * the layout. */
#include "kind/ribbon.h"
#include "base/fail.h"
#include <math.h>

/* ---- sizes ------------------------------------------------------------------- */

/* With a larger error it would not be a filter. */
#define USELESS 0.99

/* Share of the keys that a full level bumps. */
#define BUMPED 0.0392

uint64_t sn_ribbon_shards(double n, double most)
{
    uint64_t shards = 1;
    while (n > most * (double)shards && shards < (uint64_t)1 << 32)
        shards *= 2;
    return shards;
}

/* The expected words of a ribbon for N keys. */
static double words_for(double n, unsigned r, uint64_t share)
{
    unsigned e = (unsigned)(share >> 32);
    uint64_t shards = sn_ribbon_shards(n, SN_RIBBON_SHARD);
    double keys = n / (double)shards, words = 8;
    if (n < 1)
        return 8;
    for (int level = 1; level <= SN_RIBBON_LEVELS; level++) {
        bool last = level == SN_RIBBON_LEVELS || keys < SN_RIBBON_FEW;
        uint64_t segments = sn_ribbon_segments((uint64_t)ceil(keys), last);
        uint64_t wide = sn_ribbon_wide(segments, share);
        words += (double)sn_ribbon_slots(segments, wide, r, e);
        if (last)
            break;
        words += (double)sn_ribbon_meta(segments) + (level == 1 ? 4 : 0);
        keys = keys > 64 * (double)segments ? keys * BUMPED : 1;
    }
    return (double)shards * (words + 4);
}

static uint64_t body_len(const sn_shape *s)
{
    uint64_t words = s->own[SN_RIBBON_WORDS];
    if (s->k > SN_RIBBON_RMAX || !s->units || s->units & (s->units - 1) ||
        s->units > (uint64_t)1 << 32 || words > SN_MAX_BYTES / 8 || words % 8 ||
        words < s->units * (SN_RIBBON_ENTRY / 8) || s->own[SN_RIBBON_SHARE] >> 32 > 2 ||
        s->k + sn_ribbon_extra(s) > SN_RIBBON_RMAX)
        return 0;
    return words * 8;
}

static int settle(sn_shape *s, double n, unsigned r, uint64_t share)
{
    double words = words_for(n, r, share);
    s->k = r;
    s->units = sn_ribbon_shards(n, SN_RIBBON_SHARD);
    s->own[SN_RIBBON_SHARE] = share;
    s->own[SN_RIBBON_WORDS] =
        words < (double)SN_MAX_BYTES / 8 ? (uint64_t)(words + 7) / 8 * 8 : 0;
    return body_len(s) ? 0
                       : sn_fail(SEEN_ETOOBIG, "%.3g keys are too many for ribbon", n);
}

/* Above this, a mix of r and r + 1 bits would take more than 1.01 log2(1/p) bits:
 * besides its prints a level costs 0.017 bits a key and 0.13% of the prints. */
#define MIX_FITS(least) (1.0087 * (least)-0.017)
#define TRIT_BITS 1.6 /* stored */

/* Chooses the bits of a print and the share of rich keys for an error P: bits alone if
 * that is small enough, otherwise the smallest mix. */
static uint64_t fraction(double p, unsigned *r)
{
    double least = -log2(p), best = 0;
    unsigned whole = (unsigned)(least + 1e-9);
    uint64_t found = 0;
    for (unsigned e = 0; e <= 2; e++) {
        unsigned low = whole - (e > 0);
        double rich = e ? 1. / 3 : 0.5, poor = 1. / (1 << e);
        double share = (ldexp(p, (int)low) - poor) / (rich - poor);
        double bits = low + share * (e ? TRIT_BITS : 1) + (1 - share) * e;
        share = e == 2 ? floor(share * 4294967296.0) : ceil(share * 4294967296.0);
        if (e && (bits >= best || share > 4294967295.0 || share < 1 || !whole))
            continue;
        best = bits > MIX_FITS(least) ? bits : 0;
        *r = low;
        share = share < 0 ? 0 : share < 4294967295.0 ? share : 4294967295.0;
        found = (uint64_t)e << 32 | (uint64_t)share;
    }
    return found;
}

static int shape_for(sn_shape *s, double n, double p)
{
    if (p < ldexp(1, -SN_RIBBON_RMAX) * 0.999999)
        return sn_fail(SEEN_EINVAL, "ribbon's smallest error is 2^-%d, not %g",
                       SN_RIBBON_RMAX, p);
    if (s->k)
        return settle(s, n, s->k <= SN_RIBBON_RMAX ? s->k : SN_RIBBON_RMAX, 0);
    unsigned r;
    uint64_t share = fraction(p, &r);
    return settle(s, n, r, share);
}

/* The smallest error whose words fit. The words grow as the error falls, except for
 * small steps where trits begin to pay. */
static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    double lo = 1. / ((uint64_t)1 << SN_RIBBON_RMAX), p = 1;
    unsigned r = 0;
    uint64_t share = 0;
    for (int i = 0; i < 40; i++) {
        unsigned longer;
        double mid = sqrt(lo * p);
        uint64_t part = fraction(mid, &longer);
        if (words_for(n, longer, part) > (double)(bytes / 64 * 8)) {
            lo = mid;
            continue;
        }
        p = mid;
        r = longer;
        share = part;
    }
    if (p > USELESS)
        return sn_fail(SEEN_EINVAL, "%.3g keys need more than %llu bytes of ribbon", n,
                       (unsigned long long)bytes);
    return settle(s, n, r, share);
}

static double error_at(const sn_shape *s, double n)
{
    double share = (double)(uint32_t)s->own[SN_RIBBON_SHARE] / 4294967296.0;
    unsigned e = sn_ribbon_extra(s);
    double rich = e ? 1. / 3 : 0.5, poor = ldexp(1, -(int)e);
    double prints = ldexp(share * rich + (1 - share) * poor, -(int)s->k);
    return n <= 0 ? 0 : sn_with_hash(prints, n);
}

/* The table has the number of keys; the error follows from the lengths of prints. */
static void measure(const sn_layer *l, sn_measure *out)
{
    const uint8_t *table = l->body + l->len - l->shape.units * SN_RIBBON_ENTRY;
    uint64_t step = 1 + l->len / ((uint64_t)64 << 20), read = 0, set = 0;
    double keys = 0;
    for (uint64_t i = 0; i < l->shape.units; i++)
        keys += (double)sn_le64(table + i * SN_RIBBON_ENTRY + 56);
    for (uint64_t i = 0; i < l->len / 8; i += step, read++)
        set += (uint64_t)__builtin_popcountll(sn_le64(l->body + 8 * i));
    out->bits = l->len * 8;
    out->bits_set = (uint64_t)((double)set / (double)read * (double)l->len / 8);
    out->keys = keys;
    out->error = error_at(&l->shape, keys);
}

/* Checks that everything a lookup reads or prefetches is inside the body. */
static int check(const sn_layer *l)
{
    unsigned r = l->shape.k, extra = sn_ribbon_extra(&l->shape);
    uint64_t end = l->len / 8 - l->shape.units * (SN_RIBBON_ENTRY / 8);
    const uint8_t *e = l->body + 8 * end;
    for (uint64_t i = 0; i < l->shape.units; i++, e += SN_RIBBON_ENTRY) {
        uint64_t at = sn_le64(e), meta = sn_le64(e + 8);
        for (int level = 1; level <= SN_RIBBON_LEVELS; level++) {
            uint64_t size = sn_le64(e + 8 + 8 * level), segments = (uint32_t)size;
            uint64_t wide = size >> 32;
            uint64_t words = sn_ribbon_slots(segments, wide, r, extra);
            uint64_t thresholds =
                level < SN_RIBBON_LEVELS ? sn_ribbon_meta(segments) : 0;
            if (level > 1)
                meta = at, at += thresholds;
            if (wide > segments + (segments != 0) || meta > end ||
                thresholds > end - meta || at > end || words > end - at)
                return sn_fail(SEEN_EFORMAT,
                               "shard %llu of the ribbon lies outside its body",
                               (unsigned long long)i);
            at += words;
        }
    }
    return 0;
}

/* ---- the scalar reference ------------------------------------------------------- */

sn_ribbon_spot sn_ribbon_find(const sn_layer *l, const uint8_t *entry,
                              const sn_ribbon_key *k)
{
    unsigned r = l->shape.k, e = sn_ribbon_extra(&l->shape);
    uint64_t at = sn_le64(entry), meta = sn_le64(entry + 8);
    for (unsigned level = 1; level <= SN_RIBBON_LEVELS; level++) {
        uint64_t size = sn_le64(entry + 8 + 8 * level), segments = (uint32_t)size;
        if (!segments)
            continue;
        uint64_t pos = sn_mulhi(sn_ribbon_place(k, level), segments << 6);
        if (level > 1) {
            meta = at;
            at += level < SN_RIBBON_LEVELS ? sn_ribbon_meta(segments) : 0;
        }
        if (level == SN_RIBBON_LEVELS || !sn_ribbon_bumps(l->body + 8 * meta, pos))
            return sn_ribbon_look(k, l->body + 8 * at, pos, size >> 32, r, e);
        at += sn_ribbon_slots(segments, size >> 32, r, e);
    }
    return (sn_ribbon_spot){.at = NULL};
}

void sn_ribbon_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    sn_ribbon_view v = sn_ribbon_view_of(l, sn_ribbon_extra(&l->shape));
    for (size_t i = 0; i < n; i++) {
        sn_ribbon_spot s = sn_ribbon_spot_of(v, h[i]);
        if (s.at)
            sn_ribbon_fetch(&s, v.e);
    }
}

static inline bool match(const sn_ribbon_spot *s)
{
    uint64_t wrong = 0;
    for (unsigned j = 0; j < s->used; j++) {
        uint64_t x = (sn_le64(s->at + 8 * j) & s->lo) ^
                     (sn_le64(s->at + s->stride + 8 * j) & s->hi);
        wrong |= (uint64_t)__builtin_parityll(x) ^ (s->print >> j & 1);
    }
    return !wrong && sn_ribbon_trit_right(s);
}

static bool has_one(const sn_layer *l, uint64_t h)
{
    unsigned e = sn_ribbon_extra(&l->shape);
    SN_RIBBON_ONE(l, e, h, match);
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    unsigned e = sn_ribbon_extra(&l->shape);
    SN_RIBBON_ASK(l, e, h, n, found, match);
}

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool atomic)
{
    static const sn_variant plain = {
        .prefetch = sn_ribbon_prefetch, .has = has, .has_one = has_one};
    const sn_variant *t = sn_ribbon_x86(simd);
    (void)s;
    return atomic ? NULL : t ? t : &plain;
}

const sn_kind sn_ribbon = {
    .name = "ribbon",
    .id = SEEN_RIBBON,
    .can = 0,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .error_at = error_at,
    .measure = measure,
    .variant = variant,
    .check = check,
    .prefetches_itself = true,
};
