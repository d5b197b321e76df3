/* cuckoo.c - small fingerprints, four to a bucket: the kind that removes.
 *
 * A key may be in two buckets, b and H(v) - b (mod buckets), where v is its
 * fingerprint: each bucket gives the other without the key, for any number of
 * buckets, and a lookup reads two lines.
 *
 * Every add stores one copy and every remove removes one. Two buckets have room
 * for eight copies of one key; a key that has that many is permanent: further adds of
 * it change nothing, and removes are refused, so that there is never a false "no". A
 * key that finds no place after many moves goes to a small stash; the layer is full
 * only when the stash is full. Removing a key that was never added may remove another
 * one, unless no fingerprint matches.
 *
 * A layer made with SEEN_ONCE stores no second copy and cannot remove: the smallest
 * kind for keys that are only added, however often.
 *
 * Slots have any width from 4 to 32 bits. Body: 64 bytes of counts, the stash, the
 * buckets (cuckoo_bucket.h), padding. */
#include "kind/cuckoo.h"
#include "base/fail.h"
#include <math.h>
#include <pthread.h>

#define LOAD 0.94 /* share of the slots used with the promised number of keys */
#define KICKS 500

uint16_t sn_cuckoo_nibbles[4096];

static void fill_nibbles(void)
{
    unsigned rank = 0;
    for (unsigned d = 0; d < 16; d++)
        for (unsigned c = 0; c <= d; c++)
            for (unsigned b = 0; b <= c; b++)
                for (unsigned a = 0; a <= b; a++)
                    sn_cuckoo_nibbles[rank++] =
                        (uint16_t)(a | b << 4 | c << 8 | d << 12);
}

/* ---- sizes ------------------------------------------------------------------- */

static bool known(uint64_t k)
{
    return k >= SN_CUCKOO_KMIN && k <= SN_CUCKOO_KMAX;
}

static uint64_t body_len(const sn_shape *s)
{
    uint64_t doubled = s->own[SN_CUCKOO_DOUBLED], first = s->own[SN_CUCKOO_FIRST];
    if (!known(s->k) || s->units < 1 || s->units > SN_MAX_BYTES / 16)
        return 0;
    if (doubled > 40 || s->units >> doubled << doubled != s->units || first > s->k ||
        !known(first) || s->own[SN_CUCKOO_ONCE] > 1)
        return 0;
    return (SN_CUCKOO_BUCKETS + (s->units * s->k + 1) / 2 + SN_BUCKET_PAD + 7) / 8 * 8;
}

/* A lookup errs if the filter holds a key of its class. A class is a fingerprint, one
 * of 2^(k+1) (1 also stands for 0), and a pair of buckets, or one bucket that is its
 * own pair. So the number of keys in a class is Poisson with mean n 2^-(k+1) 2 /
 * buckets, twice that if the fingerprint is 1, half if both buckets are the same. */
static double error_with(double mean, double q)
{
    double z = -expm1(-mean);
    return z * (1 + q * (1 - z)); /* q: probability of the fingerprint 1 */
}

static double error_of(uint32_t k, double units, double n)
{
    double most = 4 * units + SN_CUCKOO_STASH, q = ldexp(2, -(int)k - 1);
    double mean = (n < most ? n : most) * q / units;
    return error_with(mean, q) * (1 - 1 / units) + error_with(mean / 2, q) / units;
}

static double error_at(const sn_shape *s, double n)
{
    return n <= 0 ? 0 : sn_with_hash(error_of(s->k, (double)s->units, n), n);
}

/* Of N keys no two of which are in one class. */
static double error_apart(const sn_shape *s, double n)
{
    double q = ldexp(2, -(int)s->k - 1);
    return sn_with_hash(n * q / (double)s->units * (1 + q), n);
}

/* Where each key is kept once, no two of those added are in one class. Otherwise so
 * many classes are empty as cells into which n balls are thrown. */
static double error_most(const sn_shape *s, double n)
{
    double apart = error_apart(s, n), e = error_at(s, n);
    return s->own[SN_CUCKOO_ONCE]
               ? apart
               : fmin(apart, e * (1 + SN_HIGH_SIGMAS * sqrt(e / (2 * n))));
}

/* error_with() solved for the mean; the bucket that is its own pair errs less. */
static double buckets_for(uint32_t k, double n, double p)
{
    double q = ldexp(2, -(int)k - 1);
    double z = 2 * p / (1 + q + sqrt((1 + q) * (1 + q) - 4 * q * p));
    double taken = -log1p(-z) / q / 4;
    return ceil(n / (4 * (taken < LOAD ? taken : LOAD)));
}

static int shape_for(sn_shape *s, double n, double p)
{
    double best = 0;
    uint32_t k = 0;
    for (uint32_t w = SN_CUCKOO_KMIN; w <= SN_CUCKOO_KMAX; w++) {
        if (s->k && s->k != w)
            continue;
        double units = buckets_for(w, n, p), size = units * w;
        if (!k || size < best)
            best = size, k = w, s->units = units < 1e15 ? (uint64_t)units : 0;
    }
    if (!k)
        return sn_fail(SEEN_EINVAL, "cuckoo fingerprints have %d to %d bits, not %u",
                       SN_CUCKOO_KMIN, SN_CUCKOO_KMAX, s->k);
    s->k = k;
    s->own[SN_CUCKOO_FIRST] = k;
    if (s->units < 1)
        s->units = n < 1e14;
    if (!body_len(s))
        return sn_fail(SEEN_ETOOBIG, "%.3g keys at error %g are too many for cuckoo", n,
                       p);
    return 0;
}

/* A further layer of the family that FIRST began. */
static int shape_next(sn_shape *s, const sn_shape *first, double n, double p)
{
    uint64_t doubled = 0;
    while ((double)(first->units << doubled) * 4 * LOAD < n && doubled < 40)
        doubled++;
    s->units = first->units << doubled;
    s->own[SN_CUCKOO_DOUBLED] = first->own[SN_CUCKOO_DOUBLED] + doubled;
    s->own[SN_CUCKOO_FIRST] = first->own[SN_CUCKOO_FIRST];
    for (s->k = first->k; s->k < SN_CUCKOO_KMAX; s->k++)
        if (error_of(s->k, (double)s->units, n) <= p)
            break;
    return body_len(s) ? 0
                       : sn_fail(SEEN_ETOOBIG, "%.3g keys are too many for cuckoo", n);
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    const uint64_t head = SN_CUCKOO_BUCKETS + SN_BUCKET_PAD;
    double best = 2;
    uint32_t k = 0;
    for (uint32_t w = SN_CUCKOO_KMIN; w <= SN_CUCKOO_KMAX; w++) {
        if ((s->k && s->k != w) || bytes < head + w)
            continue;
        uint64_t units = 2 * ((bytes & ~(uint64_t)7) - head) / w;
        double e = error_of(w, (double)units, n);
        if (n <= LOAD * 4 * (double)units && e < best)
            best = e, k = w, s->units = units;
    }
    if (!k)
        return sn_fail(SEEN_EINVAL, "%.3g keys need more than %llu bytes of cuckoo", n,
                       (unsigned long long)bytes);
    s->k = k;
    s->own[SN_CUCKOO_FIRST] = k;
    return body_len(s) ? 0
                       : sn_fail(SEEN_ETOOBIG, "cuckoo cannot have %llu bytes",
                                 (unsigned long long)bytes);
}

/* ---- the stash ------------------------------------------------------------------- */

unsigned sn_cuckoo_stashed(const sn_layer *l, const sn_place *p, unsigned *at)
{
    unsigned n = sn_le32(l->body + SN_CUCKOO_STASHED), copies = 0;
    for (unsigned i = 0; i < n && i < SN_CUCKOO_STASH; i++) {
        const uint8_t *e = l->body + SN_CUCKOO_ENTRIES + 16 * i;
        if (sn_le64(e + 8) == p->v && (sn_le64(e) == p->b || sn_le64(e) == p->alt))
            copies++, *at = i;
    }
    return copies;
}

static void stash_put(sn_layer *l, uint64_t v, uint64_t b)
{
    unsigned n = sn_le32(l->body + SN_CUCKOO_STASHED);
    uint8_t *e = l->body + SN_CUCKOO_ENTRIES + 16 * n;
    sn_put64(e, b);
    sn_put64(e + 8, v);
    sn_put32(l->body + SN_CUCKOO_STASHED, n + 1);
}

static void stash_drop(sn_layer *l, unsigned i)
{
    unsigned n = sn_le32(l->body + SN_CUCKOO_STASHED) - 1;
    uint8_t *last = l->body + SN_CUCKOO_ENTRIES + 16 * n;
    memmove(l->body + SN_CUCKOO_ENTRIES + 16 * i, last, 16);
    memset(last, 0, 16);
    sn_put32(l->body + SN_CUCKOO_STASHED, n);
}

/* The number that a file claims may be wrong: it stays one that check() takes. */
static void count(sn_layer *l, int64_t by)
{
    uint8_t *stored = l->body + SN_CUCKOO_STORED;
    uint64_t most = 4 * l->shape.units + SN_CUCKOO_STASH, n = sn_le64(stored);
    n = by < 0 && n < (uint64_t)-by ? 0 : n + (uint64_t)by;
    sn_put64(stored, n < most ? n : most);
}

/* ---- asking ---------------------------------------------------------------------- */

void sn_cuckoo_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    sn_family f = sn_family_of(l);
    for (size_t i = 0; i < n; i++)
        sn_place_fetched(&f, h[i]);
}

static bool has_one(const sn_layer *l, uint64_t h)
{
    SN_CUCKOO_ONE(l, h, sn_cuckoo_match);
}

static void has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    SN_CUCKOO_ASK(l, h, n, found, sn_cuckoo_match);
}

/* ---- adding ---------------------------------------------------------------------- */

/* The contents of a key's buckets. Moves keep the total of its copies, so a key is
 * permanent from the add that filled its buckets on, wherever its copies move. */
typedef struct view {
    sn_bucket four[2]; /* of b, of alt */
    unsigned copies[2], stash, at;
    bool found, for_good;
} view;

static view look(const sn_layer *l, const sn_family *f, const sn_place *p)
{
    view w = {.four = {sn_bucket_load(f->buckets, &f->slots, p->b),
                       sn_bucket_load(f->buckets, &f->slots, p->alt)}};
    w.copies[0] = sn_bucket_count(w.four, p->v);
    if (p->alt != p->b)
        w.copies[1] = sn_bucket_count(w.four + 1, p->v);
    w.stash = sn_cuckoo_stashed(l, p, &w.at);
    unsigned all = w.copies[0] + w.copies[1] + w.stash;
    w.found = all != 0;
    w.for_good = all >= (l->shape.own[SN_CUCKOO_ONCE] ? 1 : p->alt != p->b ? 8 : 4);
    return w;
}

/* Stores one more copy of P. The stash has room before the first move, so the copy that
 * the last move evicts always has a place and nothing is undone. */
static bool insert(sn_layer *l, const sn_family *f, const sn_place *p, view *w,
                   uint64_t dice)
{
    const sn_slots *s = &f->slots;
    /* Use the emptier of the two: even filling delays moves. An empty slot sorts
     * first. */
    unsigned room = sn_bucket_count(w->four, 0), more = sn_bucket_count(w->four + 1, 0);
    if (room || more) {
        sn_bucket *to = w->four + (more > room);
        to->v[0] = p->v;
        sn_bucket_store(f->buckets, s, more > room ? p->alt : p->b, *to);
        return true;
    }
    if (sn_le32(l->body + SN_CUCKOO_STASHED) >= SN_CUCKOO_STASH)
        return false;
    uint64_t v = p->v, b = p->alt;
    sn_bucket four = w->four[1];
    for (int i = 0; i < KICKS; i++) {
        dice = sn_remix(dice);
        unsigned slot = (unsigned)(dice >> 62);
        uint64_t out = four.v[slot];
        four.v[slot] = v;
        sn_bucket_store(f->buckets, s, b, four);
        v = out;
        b = sn_other_bucket(f, v, b);
        four = sn_bucket_load(f->buckets, s, b);
        if (!four.v[0]) {
            four.v[0] = v;
            sn_bucket_store(f->buckets, s, b, four);
            return true;
        }
    }
    stash_put(l, v, b);
    return true;
}

size_t sn_cuckoo_add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    sn_family f = sn_family_of(l);
    uint64_t stored = 0;
    size_t i = 0;
    for (; i < n; i++) {
        sn_place p = sn_place_of(&f, h[i]);
        view w = look(l, &f, &p);
        if (!w.for_good) {
            if (!insert(l, &f, &p, &w, h[i]))
                break;
            stored++;
        }
        dup[i] = w.found;
    }
    count(l, (int64_t)stored);
    l->added += stored;
    return i;
}

/* Removes V from bucket B, which is FOUR and holds it, and moves a stashed copy into
 * the free slot if one belongs there. */
static void take(sn_layer *l, const sn_family *f, uint64_t v, uint64_t b,
                 sn_bucket four)
{
    unsigned slot = 0;
    while (four.v[slot] != v)
        slot++;
    four.v[slot] = 0;
    unsigned n = sn_le32(l->body + SN_CUCKOO_STASHED);
    for (unsigned i = 0; i < n && i < SN_CUCKOO_STASH; i++) {
        const uint8_t *e = l->body + SN_CUCKOO_ENTRIES + 16 * i;
        uint64_t home = sn_le64(e), w = sn_le64(e + 8);
        if (home == b || sn_other_bucket(f, w, home) == b) {
            four.v[slot] = w;
            stash_drop(l, i);
            break;
        }
    }
    sn_bucket_store(f->buckets, &f->slots, b, four);
}

static int remove_one(sn_layer *l, uint64_t h)
{
    sn_family f = sn_family_of(l);
    sn_place p = sn_place_of(&f, h);
    view w = look(l, &f, &p);
    if (w.for_good) /* there may have been more adds than copies */
        return sn_fail(SEEN_EFOREVER,
                       "the key cannot be removed: it, or several that look like it, "
                       "were added %d times or more, and nobody counts further",
                       p.alt != p.b ? 8 : 4);
    if (w.stash)
        stash_drop(l, w.at);
    else if (w.copies[0])
        take(l, &f, p.v, p.b, w.four[0]);
    else if (w.copies[1])
        take(l, &f, p.v, p.alt, w.four[1]);
    else
        return 0;
    count(l, -1);
    l->added -= l->added > 0;
    return 1;
}

/* ---- merging --------------------------------------------------------------------- */

/* Calls DEAL for every copy in L until it returns something other than 0. A bucket and
 * a fingerprint suffice to store a copy elsewhere. */
static int each_copy(const sn_layer *l, int (*deal)(void *, const sn_place *),
                     void *ctx)
{
    sn_family f = sn_family_of(l);
    unsigned stashed = sn_le32(l->body + SN_CUCKOO_STASHED);
    int rc = 0;
    for (uint64_t b = 0; b < f.units && rc == 0; b++) {
        sn_bucket four = sn_bucket_load(f.buckets, &f.slots, b);
        for (unsigned i = 0; i < 4 && rc == 0; i++) {
            sn_place p = {four.v[i], b, sn_other_bucket(&f, four.v[i], b)};
            if (p.v)
                rc = deal(ctx, &p);
        }
    }
    for (unsigned i = 0; i < stashed && i < SN_CUCKOO_STASH && rc == 0; i++) {
        const uint8_t *e = l->body + SN_CUCKOO_ENTRIES + 16 * i;
        sn_place p = {sn_le64(e + 8), sn_le64(e), 0};
        p.alt = sn_other_bucket(&f, p.v, p.b);
        rc = deal(ctx, &p);
    }
    return rc;
}

typedef struct merging {
    sn_layer *into;
    sn_family family;
    uint64_t copies;
    bool only_count;
} merging;

static int merge_copy(void *ctx, const sn_place *p)
{
    merging *m = ctx;
    view w = look(m->into, &m->family, p);
    if (w.for_good)
        return 0;
    if (!m->only_count && !insert(m->into, &m->family, p, &w, p->b + p->v))
        return sn_fail(SEEN_EFULL,
                       "the filter is full: make the filters for all keys of "
                       "the union");
    m->copies++;
    return 0;
}

static int merge(sn_layer *dst, const sn_layer *src)
{
    merging m = {dst, sn_family_of(dst), 0, false};
    int rc = each_copy(src, merge_copy, &m);
    count(dst, (int64_t)m.copies);
    dst->added += m.copies;
    return rc;
}

static uint64_t merge_needs(const sn_layer *dst, const sn_layer *src)
{
    sn_layer read = *dst;
    merging m = {&read, sn_family_of(dst), 0, true};
    each_copy(src, merge_copy, &m);
    return m.copies;
}

/* ---- the table ------------------------------------------------------------------- */

static const sn_variant *variant(const sn_shape *s, enum sn_simd simd, bool atomic)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const sn_variant scalar = {
        .prefetch = sn_cuckoo_prefetch,
        .has = has,
        .add = sn_cuckoo_add,
        .has_one = has_one,
    };
    (void)s;
    if (atomic)
        return NULL;
    pthread_once(&once, fill_nibbles);
#if defined(__x86_64__)
    if (simd >= SN_AVX2)
        return &sn_cuckoo_avx2;
#else
    (void)simd;
#endif
    return &scalar;
}

static void measure(const sn_layer *l, sn_measure *out)
{
    sn_family f = sn_family_of(l);
    uint64_t step = 1 + f.units / (4 << 20), read = 0, empty = 0;
    for (uint64_t i = 0; i < f.units; i += step, read++) {
        sn_bucket four = sn_bucket_load(f.buckets, &f.slots, i);
        empty += sn_bucket_count(&four, 0);
    }
    double used = (double)(4 * read - empty) * ((double)f.units / (double)read);
    out->bits = f.units * 4 * l->shape.k;
    out->bits_set = (uint64_t)(used * l->shape.k + 0.5);
    out->keys = used + sn_le32(l->body + SN_CUCKOO_STASHED);
    out->error = l->shape.own[SN_CUCKOO_ONCE] ? error_apart(&l->shape, out->keys)
                                              : error_at(&l->shape, out->keys);
}

static int check(const sn_layer *l)
{
    uint32_t n = sn_le32(l->body + SN_CUCKOO_STASHED);
    if (n > SN_CUCKOO_STASH)
        return sn_fail(SEEN_EFORMAT, "the cuckoo stash claims %u entries, it has %d", n,
                       SN_CUCKOO_STASH);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *e = l->body + SN_CUCKOO_ENTRIES + 16 * i;
        if (sn_le64(e) >= l->shape.units)
            return sn_fail(SEEN_EFORMAT, "a stashed key lies outside the buckets");
        if (sn_le64(e + 8) >> (l->shape.k + 1))
            return sn_fail(SEEN_EFORMAT, "a stashed fingerprint has too many bits");
    }
    if (sn_le64(l->body + SN_CUCKOO_STORED) > 4 * l->shape.units + SN_CUCKOO_STASH)
        return sn_fail(SEEN_EFORMAT, "more keys than slots are claimed");
    return 0;
}

const sn_kind sn_cuckoo = {
    .name = "cuckoo",
    .id = SEEN_CUCKOO,
    .can = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_MERGE | SEEN_CAN_GROW,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .shape_next = shape_next,
    .error_at = error_at,
    .error_most = error_most,
    .measure = measure,
    .variant = variant,
    .merge = merge,
    .merge_needs = merge_needs,
    .remove = remove_one,
    .check = check,
    .multiset = true,
    .prefetches_itself = true,
};
