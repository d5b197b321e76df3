/* cuckoo.c - small fingerprints, four to a bucket: the kind that removes.
 *
 * A key may lie in two buckets, b and H(v) - b (mod buckets), where v is its
 * fingerprint: either one leads to the other without the key, for any number of
 * buckets, and two lines answer a lookup.
 *
 * Every add stores one copy and every remove takes one away. Two buckets have room
 * for eight copies of one key; a key that has that many is kept for good: further
 * adds and removes of it say "there" and change nothing, so that there is never a
 * false "no". A key that finds no place after many moves goes to a small stash;
 * only when that is full is the layer full. Removing a key that was never added may
 * take away another one, unless nothing fits.
 *
 * Body: 64 bytes of counts, the stash, the buckets (cuckoo_bucket.h), padding. */
#include "kind/kind.h"
#include "kind/cuckoo_bucket.h"
#include "base/fail.h"
#include "hash/hash.h"
#include <math.h>
#include <pthread.h>

#define LOAD 0.94 /* of the slots, with the promised keys in */
#define KICKS 500
#define STASH 16

/* Offsets in the body. */
#define AT_STORED 0  /* u64: copies, those in the stash included */
#define AT_STASHED 8 /* u32: entries in the stash */
#define AT_STASH 64  /* STASH times: u64 bucket, u64 fingerprint */
#define AT_BUCKETS (AT_STASH + 16 * STASH)
#define PAD 8

/* Numbers of the shape; see "a family of layers". */
#define OWN_DOUBLED 0 /* units = units of the first layer << this */
#define OWN_FIRST 1   /* k of the first layer */

static const unsigned widths[] = {8, 12, 16, 24, 32};
#define WIDTHS (sizeof widths / sizeof *widths)

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

static bool known(uint32_t k)
{
    for (size_t i = 0; i < WIDTHS; i++)
        if (widths[i] == k)
            return true;
    return false;
}

static uint64_t body_len(const sn_shape *s)
{
    uint64_t doubled = s->own[OWN_DOUBLED], first = s->own[OWN_FIRST];
    if (!known(s->k) || s->units < 1 || s->units > SN_MAX_BYTES / 16)
        return 0;
    if (doubled > 40 || s->units >> doubled << doubled != s->units || first > s->k ||
        !known((uint32_t)first))
        return 0;
    return (AT_BUCKETS + s->units * (s->k / 2) + PAD + 7) / 8 * 8;
}

/* A query compares with the copies in eight slots, the expected share of which is
 * taken; each agrees with chance 1 / (2^(k+1) - 1). */
static double error_of(uint32_t k, double slots, double n)
{
    double taken = n < slots ? n / slots : 1;
    return -expm1(8 * taken * log1p(-1 / (ldexp(1, (int)k + 1) - 1)));
}

static double error_at(const sn_shape *s, double n)
{
    return n <= 0 ? 0 : error_of(s->k, 4 * (double)s->units, n);
}

static double buckets_for(uint32_t k, double n, double p)
{
    double taken = log1p(-p) / log1p(-1 / (ldexp(1, (int)k + 1) - 1)) / 8;
    return ceil(n / (4 * (taken < LOAD ? taken : LOAD)));
}

static int shape_for(sn_shape *s, double n, double p)
{
    double best = 0;
    uint32_t k = 0;
    for (size_t i = 0; i < WIDTHS; i++) {
        if (s->k && s->k != widths[i])
            continue;
        double units = buckets_for(widths[i], n, p), size = units * widths[i];
        if (!k || size < best)
            best = size, k = widths[i], s->units = units < 1e15 ? (uint64_t)units : 0;
    }
    if (!k)
        return sn_fail(SEEN_EINVAL,
                       "cuckoo fingerprints have 8, 12, 16, 24 or 32 bits, not %u",
                       s->k);
    s->k = k;
    s->own[OWN_FIRST] = k;
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
    for (size_t i = 0; i < WIDTHS; i++) {
        uint32_t k = widths[i];
        if (k < first->k)
            continue;
        uint64_t doubled = 0;
        while ((double)(first->units << doubled) * 4 * LOAD < n && doubled < 40)
            doubled++;
        s->k = k;
        s->units = first->units << doubled;
        s->own[OWN_DOUBLED] = first->own[OWN_DOUBLED] + doubled;
        s->own[OWN_FIRST] = first->own[OWN_FIRST];
        if (error_of(k, 4 * (double)s->units, n) <= p)
            break;
    }
    return body_len(s) ? 0
                       : sn_fail(SEEN_ETOOBIG, "%.3g keys are too many for cuckoo", n);
}

static int shape_in(sn_shape *s, double n, uint64_t bytes)
{
    double best = 2;
    uint32_t k = 0;
    for (size_t i = 0; i < WIDTHS; i++) {
        uint64_t head = AT_BUCKETS + PAD;
        if ((s->k && s->k != widths[i]) || bytes < head + widths[i] / 2)
            continue;
        uint64_t units = ((bytes & ~(uint64_t)7) - head) / (widths[i] / 2);
        double e = error_of(widths[i], 4 * (double)units, n);
        if (n <= LOAD * 4 * (double)units && e < best)
            best = e, k = widths[i], s->units = units;
    }
    if (!k)
        return sn_fail(SEEN_EINVAL, "%.3g keys need more than %llu bytes of cuckoo", n,
                       (unsigned long long)bytes);
    s->k = k;
    s->own[OWN_FIRST] = k;
    return body_len(s) ? 0
                       : sn_fail(SEEN_ETOOBIG, "cuckoo cannot have %llu bytes",
                                 (unsigned long long)bytes);
}

/* ---- where a key may lie, and a family of layers ------------------------------- */

/* All that a layer knows of a key is its class: the fingerprint and the pair of
 * buckets. Keys of one class are the same to it, so it does not matter whose copy a
 * remove takes. In a filter of several layers it would: X lies in an old layer, a
 * new one holds a Y of X's class there, and removing X would take Y's copy and make
 * Y a false "no". So the classes of later layers are made to refine those of
 * earlier ones: their buckets are halves of the first layer's buckets, their
 * fingerprints begin with its bits. Then Y is of X's class in the old layer too, and
 * the copy that stays there speaks for Y.
 *
 * With n buckets in the first layer and n 2^j in this one: b_j = mulhi(h, n 2^j)
 * halves j times to b_0; H_j = H_0 2^j + 2^j - 1, from the bits of the fingerprint
 * that the first layer has, makes H_j - b_j halve to H_0 - b_0 as well. */
typedef struct family {
    uint64_t units, first;       /* buckets here, in the first layer */
    unsigned doubled, k, shared; /* shared: k less that of the first layer */
} family;

typedef struct place {
    uint64_t v, b, alt;
} place;

SN_CUCKOO_INLINE family family_of(const sn_layer *l, unsigned k)
{
    const sn_shape *s = &l->shape;
    unsigned doubled = (unsigned)s->own[OWN_DOUBLED];
    return (family){s->units, s->units >> doubled, doubled, k,
                    k - (unsigned)s->own[OWN_FIRST]};
}

SN_CUCKOO_INLINE uint64_t other(const family *f, uint64_t v, uint64_t b)
{
    uint64_t first = v >> f->shared;
    uint64_t sum = sn_mulhi(sn_remix(sn_remix(first + !first)), f->first);
    sum = (sum << f->doubled) + ((uint64_t)1 << f->doubled) - 1;
    return sum >= b ? sum - b : sum + f->units - b;
}

SN_CUCKOO_INLINE place place_of(const family *f, uint64_t h)
{
    uint64_t v = sn_remix(h) >> (63 - f->k);
    uint64_t b = sn_mulhi(h, f->units);
    v += !v;
    return (place){v, b, other(f, v, b)};
}

SN_CUCKOO_INLINE uint8_t *bucket(const sn_layer *l, uint64_t b, unsigned k)
{
    return l->body + AT_BUCKETS + b * (k / 2);
}

/* ---- the stash ------------------------------------------------------------------- */

/* How many entries hold P, and the last of them in *AT. */
static unsigned stashed(const sn_layer *l, const place *p, unsigned *at)
{
    unsigned n = sn_le32(l->body + AT_STASHED), copies = 0;
    for (unsigned i = 0; i < n && i < STASH; i++) {
        const uint8_t *e = l->body + AT_STASH + 16 * i;
        if (sn_le64(e + 8) == p->v && (sn_le64(e) == p->b || sn_le64(e) == p->alt))
            copies++, *at = i;
    }
    return copies;
}

static void stash_put(sn_layer *l, uint64_t v, uint64_t b)
{
    unsigned n = sn_le32(l->body + AT_STASHED);
    uint8_t *e = l->body + AT_STASH + 16 * n;
    sn_put64(e, b);
    sn_put64(e + 8, v);
    sn_put32(l->body + AT_STASHED, n + 1);
}

static void stash_drop(sn_layer *l, unsigned i)
{
    unsigned n = sn_le32(l->body + AT_STASHED) - 1;
    memmove(l->body + AT_STASH + 16 * i, l->body + AT_STASH + 16 * n, 16);
    memset(l->body + AT_STASH + 16 * n, 0, 16);
    sn_put32(l->body + AT_STASHED, n);
}

static void count(sn_layer *l, int64_t by)
{
    sn_put64(l->body + AT_STORED, sn_le64(l->body + AT_STORED) + (uint64_t)by);
}

/* ---- the work, for a constant k ------------------------------------------------- */

/* A bucket of 6 or 12 bytes may lie in two lines. */
SN_CUCKOO_INLINE void fetch(const sn_layer *l, const place *p, unsigned k)
{
    SN_FETCH(bucket(l, p->b, k));
    SN_FETCH(bucket(l, p->alt, k));
    if (k == 12 || k == 24) {
        SN_FETCH(bucket(l, p->b, k) + k / 2 - 1);
        SN_FETCH(bucket(l, p->alt, k) + k / 2 - 1);
    }
}

SN_CUCKOO_INLINE void touch_k(const sn_layer *l, const uint64_t *h, size_t n,
                              unsigned k)
{
    family f = family_of(l, k);
    for (size_t i = 0; i < n; i++) {
        place p = place_of(&f, h[i]);
        fetch(l, &p, k);
    }
}

SN_CUCKOO_INLINE void has_k(const sn_layer *l, const uint64_t *h, size_t n, bool *found,
                            unsigned k)
{
    enum { AHEAD = 32 };
    bool stash = sn_le32(l->body + AT_STASHED) != 0;
    family f = family_of(l, k);
    place ring[AHEAD]; /* found and fetched so many keys before they are looked at */
    unsigned at;
    for (size_t i = 0; i < n + AHEAD; i++) {
        place *p = ring + i % AHEAD;
        if (i >= AHEAD && i - AHEAD < n) {
            unsigned copies = sn_bucket_count(bucket(l, p->b, k), k, p->v) |
                              sn_bucket_count(bucket(l, p->alt, k), k, p->v);
            found[i - AHEAD] = copies || (stash && stashed(l, p, &at));
        }
        if (i < n) {
            *p = place_of(&f, h[i]);
            fetch(l, p, k);
        }
    }
}

SN_CUCKOO_INLINE bool has_one_k(const sn_layer *l, uint64_t h, unsigned k)
{
    family f = family_of(l, k);
    place p = place_of(&f, h);
    unsigned at, copies = sn_bucket_count(bucket(l, p.b, k), k, p.v) |
                          sn_bucket_count(bucket(l, p.alt, k), k, p.v);
    return copies || (sn_le32(l->body + AT_STASHED) && stashed(l, &p, &at));
}

/* Where the copies of a key are. Moves keep their sum, so that a key is "for good"
 * from the add that filled its buckets on, wherever its copies were moved since. */
typedef struct copies {
    unsigned b, alt, stash, at;
    bool for_good;
} copies;

SN_CUCKOO_INLINE copies copies_of(const sn_layer *l, const place *p, unsigned k)
{
    copies c = {.b = sn_bucket_count(bucket(l, p->b, k), k, p->v)};
    if (p->alt != p->b)
        c.alt = sn_bucket_count(bucket(l, p->alt, k), k, p->v);
    c.stash = stashed(l, p, &c.at);
    c.for_good = c.b + c.alt + c.stash >= (p->alt != p->b ? 8 : 4);
    return c;
}

/* Puts V into bucket B if it has room: an empty slot sorts first. */
SN_CUCKOO_INLINE bool put(sn_layer *l, uint64_t v, uint64_t b, unsigned k)
{
    uint8_t *p = bucket(l, b, k);
    sn_bucket four = sn_bucket_load(p, k);
    if (four.v[0])
        return false;
    four.v[0] = v;
    sn_bucket_store(p, k, four);
    return true;
}

SN_CUCKOO_INLINE unsigned empty(const sn_layer *l, uint64_t b, unsigned k)
{
    sn_bucket four = sn_bucket_load(bucket(l, b, k), k);
    return !four.v[0] + !four.v[1] + !four.v[2] + !four.v[3];
}

/* Stores one more copy of V. The stash has room before the first move, so the one
 * that is homeless after the last always has a place and nothing is undone. */
SN_CUCKOO_INLINE bool insert(sn_layer *l, const family *f, place q, uint64_t dice,
                             unsigned k)
{
    /* The emptier of the two: even filling puts off the moves. */
    uint64_t v = q.v, alt = q.alt;
    bool more = empty(l, alt, k) > empty(l, q.b, k);
    if (put(l, v, more ? alt : q.b, k) || put(l, v, more ? q.b : alt, k))
        return true;
    if (sn_le32(l->body + AT_STASHED) >= STASH)
        return false;
    for (int i = 0; i < KICKS; i++) {
        dice = sn_remix(dice);
        uint8_t *p = bucket(l, alt, k);
        sn_bucket four = sn_bucket_load(p, k);
        unsigned slot = (unsigned)(dice >> 62);
        uint64_t out = four.v[slot];
        four.v[slot] = v;
        sn_bucket_store(p, k, four);
        v = out;
        alt = other(f, v, alt);
        if (put(l, v, alt, k))
            return true;
    }
    stash_put(l, v, alt);
    return true;
}

SN_CUCKOO_INLINE size_t add_k(sn_layer *l, const uint64_t *h, size_t n, bool *dup,
                              unsigned k)
{
    family f = family_of(l, k);
    uint64_t stored = 0;
    size_t i = 0;
    for (; i < n; i++) {
        place p = place_of(&f, h[i]);
        copies c = copies_of(l, &p, k);
        if (!c.for_good) {
            if (!insert(l, &f, p, h[i], k))
                break;
            stored++;
        }
        dup[i] = c.b || c.alt || c.stash;
    }
    count(l, (int64_t)stored);
    l->added += stored;
    return i;
}

/* Takes V out of bucket B, and lets a stashed copy have the place. */
SN_CUCKOO_INLINE bool take(sn_layer *l, const family *f, uint64_t v, uint64_t b,
                           unsigned k)
{
    uint8_t *p = bucket(l, b, k);
    sn_bucket four = sn_bucket_load(p, k);
    unsigned slot = 0;
    while (slot < 4 && four.v[slot] != v)
        slot++;
    if (slot == 4)
        return false;
    four.v[slot] = 0;
    unsigned n = sn_le32(l->body + AT_STASHED);
    for (unsigned i = 0; i < n && i < STASH; i++) {
        const uint8_t *e = l->body + AT_STASH + 16 * i;
        uint64_t home = sn_le64(e), w = sn_le64(e + 8);
        if (home == b || other(f, w, home) == b) {
            four.v[slot] = w;
            stash_drop(l, i);
            break;
        }
    }
    sn_bucket_store(p, k, four);
    return true;
}

SN_CUCKOO_INLINE int remove_k(sn_layer *l, uint64_t h, unsigned k)
{
    family f = family_of(l, k);
    place p = place_of(&f, h);
    copies c = copies_of(l, &p, k);
    if (c.for_good)
        return 1; /* more adds may have come than were kept */
    if (c.stash)
        stash_drop(l, c.at);
    else if (!take(l, &f, p.v, c.b ? p.b : p.alt, k))
        return 0;
    count(l, -1);
    l->added -= l->added > 0;
    return 1;
}

#define WIDTH(k)                                                                       \
    static void touch##k(const sn_layer *l, const uint64_t *h, size_t n)               \
    {                                                                                  \
        touch_k(l, h, n, k);                                                           \
    }                                                                                  \
    static void has##k(const sn_layer *l, const uint64_t *h, size_t n, bool *found)    \
    {                                                                                  \
        has_k(l, h, n, found, k);                                                      \
    }                                                                                  \
    static bool has_one##k(const sn_layer *l, uint64_t h)                              \
    {                                                                                  \
        return has_one_k(l, h, k);                                                     \
    }                                                                                  \
    static size_t add##k(sn_layer *l, const uint64_t *h, size_t n, bool *dup)          \
    {                                                                                  \
        return add_k(l, h, n, dup, k);                                                 \
    }                                                                                  \
    static int remove##k(sn_layer *l, uint64_t h)                                      \
    {                                                                                  \
        return remove_k(l, h, k);                                                      \
    }

WIDTH(8)
WIDTH(12)
WIDTH(16)
WIDTH(24)
WIDTH(32)

/* ---- the table ------------------------------------------------------------------- */

static const sn_twin *twin(const sn_shape *s, enum sn_simd simd, bool atomic)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
#define TWIN(k)                                                                        \
    {                                                                                  \
        .touch = touch##k, .has = has##k, .add = add##k, .has_one = has_one##k         \
    }
    static const sn_twin twins[WIDTHS] = {TWIN(8), TWIN(12), TWIN(16), TWIN(24),
                                          TWIN(32)};
    (void)simd;
    if (atomic)
        return NULL;
    pthread_once(&once, fill_nibbles);
    for (size_t i = 0; i < WIDTHS; i++)
        if (widths[i] == s->k)
            return &twins[i];
    return NULL;
}

static int remove_one(sn_layer *l, uint64_t h)
{
    switch (l->shape.k) {
    case 8:
        return remove8(l, h);
    case 12:
        return remove12(l, h);
    case 16:
        return remove16(l, h);
    case 24:
        return remove24(l, h);
    default:
        return remove32(l, h);
    }
}

static void measure(const sn_layer *l, sn_measure *out)
{
    uint64_t units = l->shape.units, step = 1 + units / (4 << 20), read = 0, taken = 0;
    for (uint64_t i = 0; i < units; i += step, read++) {
        sn_bucket four = sn_bucket_load(bucket(l, i, l->shape.k), l->shape.k);
        for (int j = 0; j < 4; j++)
            taken += four.v[j] != 0;
    }
    double slots = 4 * (double)units, load = (double)taken / (4 * (double)read);
    out->bits = units * 4 * l->shape.k;
    out->bits_set = (uint64_t)(load * (double)out->bits + 0.5);
    out->keys = load * slots + sn_le32(l->body + AT_STASHED);
    out->error = out->keys > 0 ? error_of(l->shape.k, slots, out->keys) : 0;
}

static int check(const sn_layer *l)
{
    uint32_t n = sn_le32(l->body + AT_STASHED);
    if (n > STASH)
        return sn_fail(SEEN_EFORMAT, "the cuckoo stash claims %u entries, it has %d", n,
                       STASH);
    for (uint32_t i = 0; i < n; i++)
        if (sn_le64(l->body + AT_STASH + 16 * i) >= l->shape.units)
            return sn_fail(SEEN_EFORMAT, "a stashed key lies outside the buckets");
    if (sn_le64(l->body + AT_STORED) > 4 * l->shape.units + STASH)
        return sn_fail(SEEN_EFORMAT, "more keys than slots are claimed");
    return 0;
}

const sn_kind sn_cuckoo = {
    .name = "cuckoo",
    .id = SEEN_CUCKOO,
    .can = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_GROW,
    .body_len = body_len,
    .shape_for = shape_for,
    .shape_in = shape_in,
    .shape_next = shape_next,
    .error_at = error_at,
    .measure = measure,
    .twin = twin,
    .remove = remove_one,
    .check = check,
    .multiset = true,
    .paced = true,
};
