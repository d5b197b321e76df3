/* bloom.h - the fast filter behind BF.*: a growing chain of library layers, oldest
 * first. (Filters in RedisBloom's layout are sn_bf of redisbloom.h.)
 *
 * New keys go to the newest layer, a question goes to all of them, and a key is hashed
 * once. Each layer has exactly the bits and probes of its description, so the bytes
 * mean the same in every version.
 *
 * With a window, the chain is cut into generations, each a quarter of the window long.
 * A key added, or added again, less than a window ago is certainly found. A key that is
 * not added again is forgotten after one window and a quarter at the latest, when its
 * generation is dropped. The caller gives the time, and the bits depend on the calls
 * alone: that keeps replicas equal. */
#ifndef SEEN_REDIS_BLOOM_H
#define SEEN_REDIS_BLOOM_H
#include "server/filter_secret.h"
#include "seen.h"

typedef struct bloom_layer {
    seen_filter *filter;
    uint8_t *body; /* of the filter */
    uint64_t bytes, bits;
    uint64_t capacity, count;
    double error;
    uint32_t probes;
    uint32_t kind; /* seen_kind: blocked, split or classic */
    int64_t born;  /* window: when its generation began, in ms */
} bloom_layer;

typedef struct bloom_spec {
    bool fixed;         /* NONSCALING */
    double error;       /* of the whole chain */
    uint64_t capacity;  /* of the first layer; with a window: keys in one window */
    uint32_t expansion; /* capacity of the next layer over the newest one's */
    double tightening;  /* error of the next layer over the newest one's; 0: layer
                           i has 6/pi^2/i^2 of the error, which is cheaper */
    bool automatic;     /* neither of the two was chosen: bloom.c decides */
    bool known;         /* automatic, but the capacity was chosen */
    filter_secret secret;
    uint64_t window; /* ms; 0: never forget */
} bloom_spec;

typedef struct bloom {
    bloom_spec spec;
    uint64_t items; /* keys that were new when added */
    uint64_t owner; /* the filter that it is a piece of: bf_pieces.h; 0: none */
    uint32_t nlayers;
    bloom_layer *layers;
} bloom;

enum {
    BLOOM_OK = 0,
    BLOOM_FULL = -1, /* fixed, and its capacity is reached */
    BLOOM_NOMEM = -2,
    BLOOM_TOOBIG = -3, /* would exceed the limit given */
    BLOOM_DIFFER = -4, /* filters that cannot be merged */
    BLOOM_LAYERS = -5  /* their union would have too many layers */
};

/* A union has at most this many layers, or as many as its larger part. Each layer is
 * one more place to look, and growing by doubling needs no more than 40. */
enum { BLOOM_MERGE_LAYERS = 64 };

/* The bytes one filter may take; called only when it is about to grow. */
typedef struct bloom_limit {
    uint64_t (*max_bytes)(void *ctx);
    void *ctx;
} bloom_limit;

/* A filter with one empty layer. BLOOM_OK, or a code and no filter. */
int bloom_new(const bloom_spec *spec, int64_t now, const bloom_limit *lim, bloom **out);
/* One without layers, for loaders. */
bloom *bloom_shell(const bloom_spec *spec);
void bloom_free(bloom *b);
/* A copy that is a piece of nothing; NULL if memory is out. */
bloom *bloom_copy(const bloom *b);

/* Appends a layer of L's shape, empty, from memory of its own; L->body is not looked
 * at. BLOOM_OK, BLOOM_NOMEM, or BLOOM_DIFFER if the shape contradicts itself. */
int bloom_append(bloom *b, const bloom_layer *l);

/* The shape of the first layer, and of layer number I, which follows one of CAPACITY;
 * false if there is none. */
bool bloom_shape_first(const bloom_spec *spec, bloom_layer *out);
bool bloom_shape_after(const bloom_spec *spec, uint32_t i, uint64_t capacity,
                       bloom_layer *out);

uint64_t bloom_bytes(const bloom *b);    /* of all layers */
uint64_t bloom_memory(const bloom *b);   /* all of it */
uint64_t bloom_capacity(const bloom *b); /* of all layers */

/* Adds keys in order and sets fresh[i] to whether key i was new. Returns how many were
 * added or found; if fewer than N, *why is the code for the next one. *CHANGED is set
 * if anything in the filter changed. */
size_t bloom_add_many(bloom *b, const seen_key *keys, size_t n, int64_t now,
                      const bloom_limit *lim, bool *fresh, bool *changed, int *why);
void bloom_has_many(const bloom *b, const seen_key *keys, size_t n, int64_t now,
                    bool *found);

/* Whether a write at NOW must begin a new generation; and doing so, which forgets the
 * generations that ended a window ago. Only masters decide; replicas receive BF.ROTATE.
 */
bool bloom_due(const bloom *b, int64_t now);
int bloom_rotate(bloom *b, int64_t now);

/* Adds all keys of SRC to DST, as merge_layers.h says. The error of the result is at
 * most the sum of both. After any code but BLOOM_OK, DST may hold part of SRC. */
int bloom_merge(bloom *dst, const bloom *src, const bloom_limit *lim);

#endif
