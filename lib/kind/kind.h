/* kind.h - what a kind of filter is to the rest of the library.
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

/* The numbers that decide where bits go; together with the body they are the whole
 * layer, and they are what a file stores of it. */
typedef struct sn_shape {
    seen_kind kind;
    uint32_t k;        /* probes, or bits of a fingerprint */
    uint64_t units;    /* bits (classic), lines, blocks, slots, buckets ... */
    uint64_t capacity; /* keys for which `error` is promised; 0: no promise */
    double error;      /* promised with `capacity` keys in; 0: no promise */
    uint64_t own[4];   /* the kind's own numbers */
} sn_shape;

typedef struct sn_layer sn_layer;
typedef struct sn_kind sn_kind;

/* One variant: the same bits by other instructions. */
typedef struct sn_variant {
    /* Asks the memory of n keys to come; moves no bits. NULL: nothing to gain. */
    void (*prefetch)(const sn_layer *l, const uint64_t *h, size_t n);
    /* found[i] = whether h[i] is in. */
    void (*has)(const sn_layer *l, const uint64_t *h, size_t n, bool *found);
    /* Adds in order; dup[i] = whether h[i] was in before, equal keys of one batch
     * included. Counts the new ones into l->added. Returns how many were taken:
     * fewer than n only if the layer can hold no more. NULL: a static kind. */
    size_t (*add)(sn_layer *l, const uint64_t *h, size_t n, bool *dup);

    /* The same, asking for the memory of h[i + SN_AHEAD] while h[i] is worked on, so
     * that the memory is never idle: h must go on for SN_AHEAD hashes after n. NULL:
     * prefetch() and the plain ones are used. add_ahead takes all n. */
    void (*has_ahead)(const sn_layer *l, const uint64_t *h, size_t n, bool *found);
    void (*add_ahead)(sn_layer *l, const uint64_t *h, size_t n, bool *dup);
    /* has() for one hash, short enough for several calls to overlap. May be NULL. */
    bool (*has_one)(const sn_layer *l, uint64_t h);
    /* Whether any of LAYERS layers of this same variant has h[i]: what is common to all
     * of them is computed once. May be NULL. */
    void (*has_any)(const sn_layer *l, uint32_t layers, const uint64_t *h, size_t n,
                    bool *found);
} sn_variant;

/* Lines wait in the second-level cache (SN_FETCH), which has more misses under way at
 * once than the first: measured, 64 ahead, 1.7 times the speed of 32 ahead into the
 * first. */
#define SN_AHEAD 64
/* A build for WebAssembly has one thread, no files, no instruction to fetch memory, and is
 * sent to everybody who asks: there, what serves any of them is left out. */
#ifdef SN_SMALL
#define SN_FETCHES false
#define SN_THREADS false
#define SN_FILES false
#define SN_QUOTIENT_TOO false /* the kind */
#define SN_FETCH(p) ((void)(p))
#else
#define SN_FETCHES true
#define SN_THREADS true
#define SN_FILES true
#define SN_QUOTIENT_TOO true
#define SN_FETCH(p) __builtin_prefetch(p, 0, 2)
#endif

struct sn_layer {
    const sn_kind *kind;
    const sn_variant *variant;
    sn_shape shape;
    uint64_t added; /* keys in this layer that were new when added */
    uint64_t len;   /* of the body, = kind->body_len(&shape) */
    uint8_t *body;  /* aligned to 64 */
    /* What measure() said when ADDED was measured_at - 1 (0: never). Any thread that
     * asks may set it: the word first, then measured_at. */
    double measured;
    uint64_t measured_at;
    bool refused; /* the last add, and not for want of room: grow() says why */
};

/* What the bits themselves say. */
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
     * impossible. Called on hostile shapes: must check every number it uses. */
    uint64_t (*body_len)(const sn_shape *s);

    /* The fewest units with error at most P with N keys in; S->k is kept if given,
     * otherwise chosen. Sets units, k, and own numbers. SEEN_E... if it cannot. */
    int (*shape_for)(sn_shape *s, double n, double p);
    /* The best shape for N keys in at most BYTES. */
    int (*shape_in)(sn_shape *s, double n, uint64_t bytes);
    /* Expected error with N distinct keys in: exact for random hashes. */
    double (*error_at)(const sn_shape *s, double n);
    /* Reads the body (at most some 64 MiB of it). */
    void (*measure)(const sn_layer *l, sn_measure *out);

    /* The variant for these instructions; atomic adds if asked (NULL if it cannot). */
    const sn_variant *(*variant)(const sn_shape *s, enum sn_simd simd, bool atomic);

    /* Below: NULL where the kind cannot. */

    /* dst |= src for equal shapes; NULL with SEEN_CAN_MERGE: OR of the bytes. SEEN_EFULL
     * if not all of it has room: then some of it may be in. */
    int (*merge)(sn_layer *dst, const sn_layer *src);
    /* The keys of SRC, of whatever size, go to DST too, which may get a larger body from
     * A. On failure DST is as it was. */
    int (*absorb)(sn_layer *dst, const sn_layer *src, const seen_allocator *a);
    /* How many slots merge() would fill; NULL: it needs no room. */
    uint64_t (*merge_needs)(const sn_layer *dst, const sn_layer *src);
    /* Removes one h: 1, 0 if it is not in, or a code. */
    int (*remove)(sn_layer *l, uint64_t h);
    /* Makes room in place (a larger body from A, the old one freed); the handle
     * calls it instead of appending a layer. */
    int (*grow)(sn_layer *l, const seen_allocator *a);
    /* Calls fn for every hash held, in batches; for seen_rebuild. */
    int (*each_hash)(const sn_layer *l, int (*fn)(void *, const uint64_t *, size_t),
                     void *ctx);
    /* As shape_for, for a further layer of the filter whose first layer is FIRST;
     * NULL: shape_for. */
    int (*shape_next)(sn_shape *s, const sn_shape *first, double n, double p);
    /* Every add stores a copy of its own, also of a key that is in: what a remove
     * takes away must not have stood for two. Adds always go to a layer, and
     * `added` counts copies. Unless shape.own[SN_ONCE] is 1: see SEEN_ONCE. */
    bool multiset;
    /* Whether a body from a file fits its shape (offsets inside, counts sane). */
    int (*check)(const sn_layer *l);
    /* Places equal hash prefixes in equal regions, so that adding in the order of
     * the hash is adding in the order of memory. */
    bool ordered;
    /* has() fetches memory ahead by itself, having more to carry from the fetch to
     * the test than a hash: it wants many keys at once, and no prefetch(). */
    bool prefetches_itself;
};

/* In shape.own of a multiset kind. */
#define SN_ONCE 2

static inline bool sn_keeps_copies(const sn_layer *l)
{
    return l->kind->multiset && !l->shape.own[SN_ONCE];
}

/* Sets the bits of MASK in *WORD, with ATOMIC while other threads do the same. Returns
 * those that were not set. A macro, for words of any width. */
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

/* Counts FRESH keys into L. */
static inline void sn_count_added(sn_layer *l, uint64_t fresh, bool atomic)
{
    if (atomic)
        __atomic_fetch_add(&l->added, fresh, __ATOMIC_RELAXED);
    else
        l->added += fresh;
}

/* The plain and the atomic add of a kind, from one body ADD_TO(l, h, n, dup, atomic). */
#define SN_BOTH_ADDS(add, add_atomic, add_to)                                          \
    static size_t add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)             \
    {                                                                                  \
        add_to(l, h, n, dup, false);                                                   \
        return n;                                                                      \
    }                                                                                  \
    static size_t add_atomic(sn_layer *l, const uint64_t *h, size_t n, bool *dup)      \
    {                                                                                  \
        add_to(l, h, n, dup, SN_THREADS);                                              \
        return n;                                                                      \
    }

extern const sn_kind sn_classic, sn_blocked, sn_split, sn_set;
extern const sn_kind sn_cuckoo, sn_ribbon, sn_quotient_kind;

/* The table by id; NULL if this build has no such kind. */
const sn_kind *sn_kind_of(seen_kind id);

/* Smallest and largest sizes anyone may ask for. */
#define SN_MAX_BYTES ((uint64_t)1 << 46)
#endif
