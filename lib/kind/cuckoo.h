/* cuckoo.h - where a key may be in a cuckoo filter; shared by the variants of cuckoo.c.
 */
#ifndef SN_CUCKOO_H
#define SN_CUCKOO_H
#include "hash/hash.h"
#include "kind/cuckoo_bucket.h"
#include "kind/kind.h"

enum { SN_CUCKOO_KMIN = 4, SN_CUCKOO_KMAX = 32, SN_CUCKOO_STASH = 16 };

/* Offsets in the body. */
enum {
    SN_CUCKOO_STORED = 0,   /* u64: copies, those in the stash included */
    SN_CUCKOO_STASHED = 8,  /* u32: entries in the stash */
    SN_CUCKOO_ENTRIES = 64, /* of the stash: u64 bucket, u64 fingerprint */
    SN_CUCKOO_BUCKETS = SN_CUCKOO_ENTRIES + 16 * SN_CUCKOO_STASH,
};

/* In shape.own; see below. */
enum {
    SN_CUCKOO_DOUBLED = 0, /* units = units of the first layer << this */
    SN_CUCKOO_FIRST = 1,   /* k of the first layer */
    SN_CUCKOO_ONCE = SN_ONCE,
};

/* A layer knows only the class of a key: the fingerprint and the pair of buckets. Keys
 * of one class are the same to it, so it does not matter whose copy a remove takes. In
 * a filter of several layers it would matter: if X is in an old layer and a new one
 * holds a Y of X's class there, removing X would take Y's copy and make Y a false "no".
 * So the classes of later layers refine those of earlier ones: their buckets are halves
 * of the first layer's buckets, and their fingerprints begin with its bits. Then Y is
 * of X's class in the old layer too, and the copy that stays there answers for Y.
 *
 * With n buckets in the first layer and n 2^j in this one, b_j = mulhi(h, n 2^j)
 * becomes b_0 after j halvings. With H_j = H_0 2^j + 2^j - 1, computed from the bits of
 * the fingerprint that the first layer has, H_j - b_j becomes H_0 - b_0 as well. */
typedef struct sn_family {
    uint8_t *buckets;
    uint64_t units, first;    /* buckets here, in the first layer */
    unsigned doubled, shared; /* shared: k less that of the first layer */
    sn_slots slots;
} sn_family;

typedef struct sn_place {
    uint64_t v, b, alt;
} sn_place;

SN_CUCKOO_INLINE sn_family sn_family_of(const sn_layer *l)
{
    const sn_shape *s = &l->shape;
    unsigned doubled = (unsigned)s->own[SN_CUCKOO_DOUBLED];
    return (sn_family){l->body + SN_CUCKOO_BUCKETS,
                       s->units,
                       s->units >> doubled,
                       doubled,
                       s->k - (unsigned)s->own[SN_CUCKOO_FIRST],
                       sn_slots_of(s->k)};
}

SN_CUCKOO_INLINE uint64_t sn_other_bucket(const sn_family *f, uint64_t v, uint64_t b)
{
    uint64_t first = v >> f->shared;
    uint64_t sum = sn_mulhi(sn_remix(sn_remix(first + !first)), f->first);
    sum = (sum << f->doubled) + ((uint64_t)1 << f->doubled) - 1;
    return sum >= b ? sum - b : sum + f->units - b;
}

SN_CUCKOO_INLINE sn_place sn_place_of(const sn_family *f, uint64_t h)
{
    uint64_t v = sn_remix(h) >> (63 - f->slots.k);
    uint64_t b = sn_mulhi(h, f->units);
    v += !v;
    return (sn_place){v, b, sn_other_bucket(f, v, b)};
}

/* Asks for bucket B, and for a second line only where it lies in two. Always inlined:
 * gcc takes a function that only prefetches for one without effect. */
SN_CUCKOO_INLINE void sn_fetch_bucket(const sn_family *f, uint64_t b)
{
    uint64_t bit = b * 4 * f->slots.k;
    const uint8_t *p = f->buckets + (bit >> 3);
    SN_FETCH(p);
    if (__builtin_expect((bit & 511) + 4 * f->slots.k > 512, 0))
        SN_FETCH(p + 64);
}

SN_CUCKOO_INLINE sn_place sn_place_fetched(const sn_family *f, uint64_t h)
{
    sn_place p = sn_place_of(f, h);
    sn_fetch_bucket(f, p.b);
    sn_fetch_bucket(f, p.alt);
    return p;
}

/* Whether one of the buckets of P holds it. */
SN_CUCKOO_INLINE bool sn_cuckoo_match(const sn_family *f, const sn_place *p)
{
    const sn_slots *s = &f->slots;
    if (!(sn_bucket_hint(f->buckets, s, p->b, p->v) |
          sn_bucket_hint(f->buckets, s, p->alt, p->v)))
        return false;
    sn_bucket here = sn_bucket_load(f->buckets, s, p->b);
    sn_bucket there = sn_bucket_load(f->buckets, s, p->alt);
    return (sn_bucket_count(&here, p->v) | sn_bucket_count(&there, p->v)) != 0;
}

/* How many entries of the stash hold P, and the last of them in *AT. */
unsigned sn_cuckoo_stashed(const sn_layer *l, const sn_place *p, unsigned *at);

/* found[i] = MATCH(family, place of h[i]) or in the stash; the places are found and
 * fetched AHEAD keys before they are looked at. Whether a key is in cannot be foreseen,
 * so nothing branches on it. A macro, because MATCH must be compiled into it with the
 * instructions of its caller. */
#define SN_CUCKOO_AHEAD 32
#define SN_CUCKOO_ASK(l, h, n, found, MATCH)                                           \
    do {                                                                               \
        bool stash_ = sn_le32((l)->body + SN_CUCKOO_STASHED) != 0;                     \
        sn_family f_ = sn_family_of(l);                                                \
        sn_place ring_[SN_CUCKOO_AHEAD];                                               \
        unsigned at_;                                                                  \
        for (size_t i_ = 0; i_ < (n) && i_ < SN_CUCKOO_AHEAD; i_++)                    \
            ring_[i_] = sn_place_fetched(&f_, (h)[i_]);                                \
        for (size_t i_ = 0; i_ < (n); i_++) {                                          \
            sn_place *p_ = ring_ + i_ % SN_CUCKOO_AHEAD;                               \
            bool hit_ = MATCH(&f_, p_);                                                \
            if (stash_)                                                                \
                hit_ |= sn_cuckoo_stashed(l, p_, &at_) != 0;                           \
            (found)[i_] = hit_;                                                        \
            if (i_ + SN_CUCKOO_AHEAD < (n))                                            \
                *p_ = sn_place_fetched(&f_, (h)[i_ + SN_CUCKOO_AHEAD]);                \
        }                                                                              \
    } while (0)

#define SN_CUCKOO_ONE(l, h, MATCH)                                                     \
    do {                                                                               \
        sn_family f_ = sn_family_of(l);                                                \
        sn_place p_ = sn_place_of(&f_, h);                                             \
        bool hit_ = MATCH(&f_, &p_);                                                   \
        unsigned at_;                                                                  \
        if (sn_le32((l)->body + SN_CUCKOO_STASHED) != 0)                               \
            hit_ |= sn_cuckoo_stashed(l, &p_, &at_) != 0;                              \
        return hit_;                                                                   \
    } while (0)

void sn_cuckoo_prefetch(const sn_layer *l, const uint64_t *h, size_t n);
size_t sn_cuckoo_add(sn_layer *l, const uint64_t *h, size_t n, bool *dup);
extern const sn_variant sn_cuckoo_avx2;
#endif
