/* kind.h - the kinds of filters, as the rest of the library sees them.
 *
 * A kind maps hashes to bits in a flat body. It is a const table of functions over
 * *batches* of hashes, so that the indirect call is paid once for many keys. Kinds
 * know nothing of keys, files, growth or each other: the handle (lib/filter) hashes,
 * prefetches, grows and saves. */
#ifndef SN_KIND_H
#define SN_KIND_H
#include "base/cpu.h"
#include "base/memory.h"
#include "seen.h"

/* The numbers that decide where bits go. Shape and body are the whole layer; a file
 * stores both. */
typedef struct sn_shape {
    seen_kind kind;
    uint32_t k;        /* probes, or bits of a fingerprint */
    uint64_t units;    /* bits (classic), lines, blocks, slots, buckets ... */
    uint64_t capacity; /* keys for which `error` is promised; 0: no promise */
    double error;      /* promised with `capacity` keys in; 0: no promise */
    uint64_t own[4];   /* numbers private to the kind */
} sn_shape;

typedef struct sn_layer sn_layer;
typedef struct sn_kind sn_kind;

/* A variant sets the same bits with other instructions. */
typedef struct sn_variant {
    /* Prefetches the memory of n keys; changes no bits. NULL: nothing to gain. */
    void (*prefetch)(const sn_layer *l, const uint64_t *h, size_t n);
    /* found[i] is set if the layer has h[i]. */
    void (*has)(const sn_layer *l, const uint64_t *h, size_t n, bool *found);
    /* Adds in order; dup[i] is set if h[i] was there before, also by an equal key of
     * the same batch. Counts the new ones into l->added. Returns how many were added,
     * fewer than n only if the layer can hold no more. NULL: a static kind. */
    size_t (*add)(sn_layer *l, const uint64_t *h, size_t n, bool *dup);

    /* The same, but prefetch the memory of h[i + SN_AHEAD] while h[i] is worked on, so
     * that memory is never idle: h must continue for SN_AHEAD hashes after n. NULL: the
     * caller uses prefetch(), has() and add(). add_ahead adds all n. */
    void (*has_ahead)(const sn_layer *l, const uint64_t *h, size_t n, bool *found);
    void (*add_ahead)(sn_layer *l, const uint64_t *h, size_t n, bool *dup);
    /* has() for one hash, short enough for several calls to overlap. May be NULL. */
    bool (*has_one)(const sn_layer *l, uint64_t h);
    /* found[i] is set if any of LAYERS layers of this variant has h[i]: the work common
     * to all of them is done once. May be NULL. */
    void (*has_any)(const sn_layer *l, uint32_t layers, const uint64_t *h, size_t n,
                    bool *found);
} sn_variant;

/* SN_FETCH prefetches lines into the second-level cache, which can have more misses in
 * flight than the first. Measured: 64 ahead is 1.7 times as fast as 32 ahead into the
 * first level. */
#define SN_AHEAD 64
#define SN_FETCH(p) __builtin_prefetch(p, 0, 2)

struct sn_layer {
    const sn_kind *kind;
    const sn_variant *variant;
    sn_shape shape;
    uint64_t added; /* keys in this layer that were new when added */
    uint64_t len;   /* of the body, = kind->body_len(&shape) */
    uint8_t *body;  /* aligned to 64 */
    /* The result of measure() when ADDED was measured_at - 1 (0: never measured). Any
     * reading thread may set it: the result first, then measured_at. */
    double measured;
    uint64_t measured_at;
    bool refused; /* the last add, and not for want of room: grow() says why */
};

/* What can be computed from the bits alone. */
typedef struct sn_measure {
    uint64_t bits, bits_set; /* bits_set is scaled up if only a sample was read */
    double error;            /* for a random absent key, now */
    double keys;             /* distinct keys, estimated */
} sn_measure;

struct sn_kind {
    const char *name;
    seen_kind id;
    unsigned can; /* SEEN_CAN_* */

    /* Bytes of the body for this shape, a multiple of 8; 0 if the shape is
     * impossible. Shapes may be hostile: it must check every number it uses. */
    uint64_t (*body_len)(const sn_shape *s);

    /* The fewest units for an error of at most P with N keys; keeps S->k if given,
     * otherwise chooses it. Sets units, k, and own numbers. SEEN_E... if it cannot. */
    int (*shape_for)(sn_shape *s, double n, double p);
    /* The best shape for N keys in at most BYTES. */
    int (*shape_in)(sn_shape *s, double n, uint64_t bytes);
    /* Expected error with N distinct keys, exact for random hashes. */
    double (*error_at)(const sn_shape *s, double n);
    /* The error that one filter in some 30,000 exceeds, of those to which N keys were
     * added, and so the one to promise. NULL: error_at, which is the same in all. */
    double (*error_most)(const sn_shape *s, double n);
    /* Reads the body (at most about 64 MiB of it). */
    void (*measure)(const sn_layer *l, sn_measure *out);

    /* The variant for these instructions; atomic adds if asked (NULL if it cannot). */
    const sn_variant *(*variant)(const sn_shape *s, enum sn_simd simd, bool atomic);

    /* The rest is NULL if the kind cannot do it. */

    /* dst |= src for equal shapes; NULL with SEEN_CAN_MERGE: OR of the bytes.
     * SEEN_EFULL if src does not fit; then a part of it may have been added. */
    int (*merge)(sn_layer *dst, const sn_layer *src);
    /* Adds the keys of SRC, of any size, to DST, which may get a larger body from A,
     * and in its shape a larger error if it can no longer promise the one before. On
     * failure DST is unchanged. */
    int (*absorb)(sn_layer *dst, const sn_layer *src, const seen_allocator *a);
    /* How many slots merge() would fill; NULL: none. */
    uint64_t (*merge_needs)(const sn_layer *dst, const sn_layer *src);
    /* Removes one h: 1, 0 if it is not in, or a code. */
    int (*remove)(sn_layer *l, uint64_t h);
    /* Makes room in place (a larger body from A, the old one freed); the handle
     * calls it instead of appending a layer. */
    int (*grow)(sn_layer *l, const seen_allocator *a);
    /* Calls fn for every hash held, in batches; for seen_rebuild. */
    int (*each_hash)(const sn_layer *l, int (*fn)(void *, const uint64_t *, size_t),
                     void *ctx);
    /* Like shape_for, for a later layer of the filter whose first layer is FIRST;
     * NULL: shape_for. */
    int (*shape_next)(sn_shape *s, const sn_shape *first, double n, double p);
    /* Every add stores a copy, even of a key that is present, because a remove must
     * not take a copy that belongs to two adds. Every add goes to a layer, and `added`
     * counts copies; except if shape.own[SN_ONCE] is 1: see SEEN_ONCE. */
    bool multiset;
    /* SEEN_OK if a body from a file fits its shape (offsets inside, counts
     * possible). */
    int (*check)(const sn_layer *l);
    /* The same for what only a look at all of the body shows: seen_verify() asks, so
     * that later calls can rely on it. */
    int (*check_body)(const sn_layer *l);
    /* Hashes with equal prefixes go to the same region, so that adding in hash order
     * is adding in memory order. */
    bool ordered;
    /* has() prefetches by itself, because it carries more than a hash from the prefetch
     * to the test: give it many keys at once, and do not call prefetch(). */
    bool prefetches_itself;
    /* A kind that can be made from bits and probes: the bits of a unit; and its probes,
     * if it can have one number of them only. */
    uint32_t unit_bits, only_probes;
    /* Keys that a body of this shape holds before it should grow; of kinds with grow().
     */
    uint64_t (*holds)(const sn_shape *s);
};

/* In shape.own of a multiset kind. */
#define SN_ONCE 2

static inline bool sn_keeps_copies(const sn_layer *l)
{
    return l->kind->multiset && !l->shape.own[SN_ONCE];
}

/* Sets the bits of MASK in *WORD, with ATOMIC safe against other threads that do the
 * same. Returns the bits that were not set. A macro, for words of any width. */
#define SN_SET_BITS(word, mask, atomic)                                                \
    ({                                                                                 \
        __typeof__(word) w_ = (word);                                                  \
        __typeof__(*w_) mask_ = (mask), was_;                                          \
        if (!(atomic)) {                                                               \
            was_ = *w_;                                                                \
            *w_ = (__typeof__(*w_))(was_ | mask_);                                     \
        } else {                                                                       \
            was_ = __atomic_load_n(w_, __ATOMIC_RELAXED);                              \
            if (~was_ & mask_)                                                         \
                was_ = __atomic_fetch_or(w_, mask_, __ATOMIC_RELAXED);                 \
        }                                                                              \
        (__typeof__(*w_))(~was_ & mask_);                                              \
    })

/* Adds FRESH to the count of keys in L. */
static inline void sn_count_added(sn_layer *l, uint64_t fresh, bool atomic)
{
    if (atomic)
        __atomic_fetch_add(&l->added, fresh, __ATOMIC_RELAXED);
    else
        l->added += fresh;
}

/* The count, which other threads may be adding to. */
static inline double sn_added_now(const sn_layer *l)
{
    return (double)__atomic_load_n(&l->added, __ATOMIC_RELAXED);
}

/* The plain and the atomic add of a kind, from one body ADD_TO(l, h, n, dup, atomic).
 */
#define SN_BOTH_ADDS(add, add_atomic, add_to)                                          \
    static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)             \
    {                                                                                  \
        add_to(l, h, n, dup, false);                                                   \
        return n;                                                                      \
    }                                                                                  \
    static size_t add_atomic(sn_layer *l, const uint64_t *h, size_t n, bool *dup)      \
    {                                                                                  \
        add_to(l, h, n, dup, true);                                                    \
        return n;                                                                      \
    }

extern const sn_kind sn_classic, sn_blocked, sn_split, sn_set;
extern const sn_kind sn_cuckoo, sn_ribbon, sn_quotient_kind;

/* What callers are told as the probes of S: k, or the bits of a fingerprint, rounded
 * up.
 */
uint32_t sn_probes(const sn_shape *s);

/* The table by id; NULL if this build has no such kind. */
const sn_kind *sn_kind_of(seen_kind id);

/* ---- choose.c: the kind that serves a wish best, where nobody named one ---- */

/* Keeps hashes whole, so that it can become any other kind. */
const sn_kind *sn_kind_whole(void);
/* Serves any number of keys in one layer; NULL if this build has none. */
const sn_kind *sn_kind_growing(void);
/* Removes any key that was added, however long ago. */
const sn_kind *sn_kind_removing(void);
/* Of which only the bits and probes are given. */
const sn_kind *sn_kind_textbook(void);
/* The best shape for N keys with error P or, if BYTES, within so many bytes: of kind
 * ID, or of the one that FLAGS (SEEN_REMOVES, SEEN_SMALLEST, SEEN_ATOMIC) make best.
 * S->k is kept if given. */
int sn_choose_shape(seen_kind id, sn_shape *s, double n, double p, uint64_t bytes,
                    unsigned flags);

/* ---- promise.c: the error that a single filter keeps ---- */

/* No kind tells keys apart that have one hash: an error E of the bits, with N keys. */
static inline double sn_with_hash(double e, double n)
{
    e += n * 0x1p-64;
    return e < 1 ? e : 1;
}

/* One of the normal distribution lies so many standard deviations above its mean in
 * 31,574. */
#define SN_HIGH_SIGMAS 4.0

/* Keys that came, distinct, until N of them were added. */
double sn_came(const sn_shape *s, double n);
/* The error that N keys in LINES of eight lanes of BITS, where a key sets K, seldom
 * exceed; MEAN is the expected one. */
double sn_lines_most(double mean, double lines, double n, unsigned k, unsigned bits);
/* The error to promise for N keys. */
double sn_error_most(const sn_shape *s, double n);
/* The fewest units of S->kind with which N keys keep the promise P; keeps S->k if
 * given. FIRST, unless NULL, is the first layer of its filter: see shape_next. */
int sn_shape_for(sn_shape *s, const sn_shape *first, double n, double p);

/* The smallest and largest sizes allowed. */
#define SN_MAX_BYTES ((uint64_t)1 << 46)
#endif
