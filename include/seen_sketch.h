/* seen_sketch.h - summaries of a stream in a fixed amount of memory.
 *
 * A sketch answers one question about everything that was added to it:
 *
 *     seen_cms       how often did this key occur?       count-min
 *     seen_top       which keys occur most often?        filtered Space-Saving
 *     seen_tdigest   which value is at the quantile q?   t-digest
 *     seen_distinct  how many different keys?            HyperLogLog
 *
 * Each states its error below. Conventions are those of filters: a negative code leaves
 * the sketch unchanged, memory comes from .alloc, and a sketch needs its caller alone
 * unless the call takes it as const.
 *
 * seen_X_write puts a sketch into BUF if SIZE is enough and returns the length it
 * needs, as snprintf does. seen_X_read takes such bytes from anywhere: SEEN_EFORMAT or
 * SEEN_EDAMAGED if they are wrong, SEEN_EVERSION if a newer version wrote them,
 * SEEN_ETOOBIG if the sketch would take more than MAX_BYTES (0: no limit), SEEN_ENOMEM.
 * A of NULL is the system's allocator. Bytes are the same on every machine.
 *
 * Stability. Not yet frozen: calls and bytes may change between minor versions,
 * whatever seen.h promises. libseen.so exports them in a version node of their own. */
#ifndef SEEN_SKETCH_H
#define SEEN_SKETCH_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- count-min ---------------------------------------------------------------- */

/* Count-min: counts in DEPTH rows of WIDTH cells; one cell of each row counts a key,
 * and the smallest of them is the answer. It is never too small. It is too large by
 * more than error * total with a probability of at most CHANCE, for width = e / error
 * and depth = ln(1 / chance). */
typedef struct seen_cms seen_cms;

enum {                       /* how a key finds its cells */
       SEEN_CMS_NATIVE = 0,  /* XXH3 with .seed */
       SEEN_CMS_REDISBLOOM = 1 /* as RedisBloom: MurmurHash2, no seed */
};

/* Give .width and .depth, or .error and .chance. */
typedef struct seen_cms_spec {
    uint64_t width;  /* cells in a row */
    uint64_t depth;  /* rows */
    double error;    /* over the sum of all counts */
    double chance;   /* that the answer for a key exceeds it */
    uint64_t seed;   /* of the hash; random (seen_random_bytes) for hostile keys */
    unsigned hash;   /* SEEN_CMS_NATIVE, ... */
    unsigned reserved0; /* 0 */
    seen_allocator alloc;
    uint64_t reserved[4]; /* 0 */
} seen_cms_spec;

typedef struct seen_cms_info {
    uint64_t width, depth;
    uint64_t total; /* of all counts added, modulo 2^64 */
    uint64_t bytes; /* of memory */
    uint64_t seed;
    unsigned hash;
    unsigned reserved0;
} seen_cms_info;

/* SEEN_EINVAL names the field, SEEN_ETOOBIG: width * depth cells cannot be addressed,
 * SEEN_ENOMEM. */
SEEN_API int seen_cms_new(const seen_cms_spec *spec, seen_cms **out);
SEEN_API void seen_cms_free(seen_cms *c); /* NULL is fine */
SEEN_API int seen_cms_copy(const seen_cms *c, seen_cms **out); /* SEEN_ENOMEM */

/* Counts N more of KEY and returns its new count. Cells stop at UINT32_MAX: an answer
 * of UINT32_MAX means "at least". Cannot fail. */
SEEN_API uint32_t seen_cms_add(seen_cms *c, const void *key, size_t len, uint64_t n);
SEEN_API uint32_t seen_cms_count(const seen_cms *c, const void *key, size_t len);

/* DST becomes the sum of N sketches, each multiplied by its weight (NULL: 1); DST may
 * be among them. SEEN_EMISMATCH: width, depth or hash differ; SEEN_ERANGE: a cell of
 * the sum is outside 0 .. UINT32_MAX; SEEN_ENOMEM. */
SEEN_API int seen_cms_merge(seen_cms *dst, const seen_cms *const *src,
                            const int64_t *weights, size_t n);

SEEN_API void seen_cms_get_info(const seen_cms *c, seen_cms_info *out);
SEEN_API size_t seen_cms_write(const seen_cms *c, void *buf, size_t size);
SEEN_API int seen_cms_read(const void *bytes, size_t len, uint64_t max_bytes,
                           const seen_allocator *a, seen_cms **out);

/* ---- heavy hitters ------------------------------------------------------------ */

/* Heavy hitters: keeps the bytes of at most .counters keys with their counts. For every
 * key it lists, the true count is between count - error and count. With n counters and
 * a stream of N, error is at most N / n, and every key that occurs more than N / n
 * times is listed. These are bounds, not chances. Cells that count the keys not listed
 * make the error much smaller on real streams. */
typedef struct seen_top seen_top;

typedef struct seen_top_spec {
    uint32_t counters; /* keys to keep; 1 .. 2^26. 0: 1024 */
    uint32_t reserved0; /* 0 */
    uint64_t seed;      /* of the hash; it decides only which keys share a cell */
    seen_allocator alloc;
    uint64_t reserved[4]; /* 0 */
} seen_top_spec;

typedef struct seen_top_item {
    const void *data; /* valid until the next call that is not const */
    size_t len;
    uint64_t count; /* at least the true count */
    uint64_t error; /* count - error is at most the true count */
} seen_top_item;

/* SEEN_EINVAL, SEEN_ENOMEM. */
SEEN_API int seen_top_new(const seen_top_spec *spec, seen_top **out);
SEEN_API void seen_top_free(seen_top *t); /* NULL is fine */

/* Counts N more of KEY. SEEN_EINVAL: KEY is longer than UINT32_MAX; SEEN_ERANGE: the
 * total would exceed 2^63; SEEN_ENOMEM. */
SEEN_API int seen_top_add(seen_top *t, const void *key, size_t len, uint64_t n);
/* Fills OUT with at most N keys, largest count first, equal counts in the order of
 * their bytes; returns how many. SEEN_ENOMEM is not possible. */
SEEN_API size_t seen_top_list(seen_top *t, seen_top_item *out, size_t n);
/* An upper bound of KEY's count, listed or not; *ERROR as in seen_top_item. */
SEEN_API uint64_t seen_top_count(const seen_top *t, const void *key, size_t len,
                                 uint64_t *error);
/* No key that is not listed occurred more often than this. */
SEEN_API uint64_t seen_top_floor(const seen_top *t);
SEEN_API uint64_t seen_top_total(const seen_top *t); /* of all counts added */
SEEN_API uint64_t seen_top_bytes(const seen_top *t); /* of memory, keys included */

SEEN_API size_t seen_top_write(const seen_top *t, void *buf, size_t size);
SEEN_API int seen_top_read(const void *bytes, size_t len, uint64_t max_bytes,
                           const seen_allocator *a, seen_top **out);

/* ---- quantiles ---------------------------------------------------------------- */

/* t-digest: a distribution as at most 6 * compression + 10 weighted means, small ones
 * at both ends. At the quantile q a mean stands for at most a share of q (1 - q) 2 pi
 * ln(n) / compression of all n values. The rank of an answer is off by at most twice
 * that for values that come in no hostile order; it interpolates between means, so for
 * smooth distributions it is far better. The ends are exact. The arithmetic is
 * RedisBloom's, bit for bit. */
typedef struct seen_tdigest seen_tdigest;

typedef struct seen_tdigest_info {
    uint64_t compression;
    uint64_t capacity;        /* nodes there is room for */
    uint64_t merged, unmerged; /* nodes in use: compressed, and values since then */
    int64_t merged_weight, unmerged_weight;
    int64_t compressions;
    double min, max; /* DBL_MAX and -DBL_MAX while it is empty */
    uint64_t bytes;  /* of memory */
} seen_tdigest_info;

/* With SEEN_TDIGEST_REDISBLOOM an answer is NAN where RedisBloom divides 0 by 0: in a
 * first or last node of weight 2, which equal values and merges can make. */
enum { SEEN_TDIGEST_REDISBLOOM = 1 };

/* COMPRESSION 1 .. 357913939; 0: 100. SEEN_EINVAL, SEEN_ENOMEM. A may be NULL. */
SEEN_API int seen_tdigest_new(uint64_t compression, unsigned flags,
                              const seen_allocator *a, seen_tdigest **out);
SEEN_API void seen_tdigest_free(seen_tdigest *t); /* NULL is fine */
SEEN_API int seen_tdigest_copy(const seen_tdigest *t, seen_tdigest **out);
SEEN_API void seen_tdigest_reset(seen_tdigest *t); /* forgets every value */

/* SEEN_EINVAL: VALUE is not finite or WEIGHT is below 1; SEEN_ERANGE: the weights of
 * all values would exceed INT64_MAX; SEEN_ENOMEM. */
SEEN_API int seen_tdigest_add(seen_tdigest *t, double value, int64_t weight);
/* Adds what SRC holds to DST. SRC is compressed, its answers stay. SEEN_EINVAL if both
 * are one; SEEN_ERANGE as above; SEEN_ENOMEM. */
SEEN_API int seen_tdigest_merge(seen_tdigest *dst, seen_tdigest *src);
/* Merges the values since the last time into the means; adding does that when it must,
 * and the questions below do. */
SEEN_API void seen_tdigest_compress(seen_tdigest *t);

/* Questions; NAN if T is empty. OUT[i] answers Q[i]; quantiles in rising order are
 * answered in one walk. */
SEEN_API void seen_tdigest_quantiles(seen_tdigest *t, const double *q, size_t n,
                                     double *out);
/* The share of values below V, half of those equal to V included. */
SEEN_API double seen_tdigest_cdf(seen_tdigest *t, double v);
/* The mean of the values between the quantiles LOW and HIGH. */
SEEN_API double seen_tdigest_trimmed_mean(seen_tdigest *t, double low, double high);
/* Ranks count from 0 at the smallest value, reverse ranks from 0 at the largest. Of a
 * value: -2 if T is empty, -1 below the smallest (largest), n above the largest
 * (smallest). */
SEEN_API int64_t seen_tdigest_rank(seen_tdigest *t, double v);
SEEN_API int64_t seen_tdigest_revrank(seen_tdigest *t, double v);
/* The value at a rank; INFINITY (-INFINITY) beyond the last. */
SEEN_API double seen_tdigest_by_rank(seen_tdigest *t, int64_t rank);
SEEN_API double seen_tdigest_by_revrank(seen_tdigest *t, int64_t rank);

SEEN_API void seen_tdigest_get_info(const seen_tdigest *t, seen_tdigest_info *out);
SEEN_API size_t seen_tdigest_write(seen_tdigest *t, void *buf, size_t size);
SEEN_API int seen_tdigest_read(const void *bytes, size_t len, uint64_t max_bytes,
                               const seen_allocator *a, seen_tdigest **out);

/* ---- distinct keys ------------------------------------------------------------ */

/* HyperLogLog: 2^precision one-byte registers. The standard error of the estimate is
 * 1.04 / sqrt(registers), at every number of keys up to 10^18: 0.8% in 16 KiB. Below
 * some two keys in five registers it counts almost exactly. */
typedef struct seen_distinct seen_distinct;

/* PRECISION 4 .. 24; 0: 14. SEEN_EINVAL, SEEN_ENOMEM. A may be NULL. */
SEEN_API int seen_distinct_new(unsigned precision, uint64_t seed,
                               const seen_allocator *a, seen_distinct **out);
SEEN_API void seen_distinct_free(seen_distinct *d); /* NULL is fine */

SEEN_API void seen_distinct_add(seen_distinct *d, const void *key, size_t len);
/* The same for hashes that seen_hash_seeded made with the sketch's seed, or for any
 * other good 64-bit hash if every add, and every sketch merged with this one, uses it.
 */
SEEN_API void seen_distinct_add_hashes(seen_distinct *d, const uint64_t *h, size_t n);
SEEN_API double seen_distinct_count(const seen_distinct *d);
/* The standard error of seen_distinct_count, relative: 0.008 is 0.8%. */
SEEN_API double seen_distinct_error(const seen_distinct *d);
SEEN_API uint64_t seen_distinct_bytes(const seen_distinct *d); /* of memory */
/* DST becomes the union. SEEN_EMISMATCH: precision or seed differ. */
SEEN_API int seen_distinct_merge(seen_distinct *dst, const seen_distinct *src);

SEEN_API size_t seen_distinct_write(const seen_distinct *d, void *buf, size_t size);
SEEN_API int seen_distinct_read(const void *bytes, size_t len, uint64_t max_bytes,
                                const seen_allocator *a, seen_distinct **out);

/* ---- not stable: what the Redis module and the command keep of a sketch
 * --------------- */

#ifdef SEEN_UNSTABLE

/* The cells, row after row, each four bytes little-endian; *LEN is their length. */
SEEN_API const void *seen_cms_cells(const seen_cms *c, size_t *len);
/* Replaces all cells and the total. SEEN_EINVAL if LEN is not that of seen_cms_cells.
 */
SEEN_API int seen_cms_set_cells(seen_cms *c, uint64_t total, const void *cells,
                                size_t len);

/* As seen_top_add of 1, with seen_hash_seeded(seed, KEY, LEN) already computed. Another
 * good 64-bit hash will do if every add brings it and T is only listed: seen_top_count
 * and seen_top_read compute their own. */
SEEN_API int seen_top_add_hash(seen_top *t, const void *key, size_t len, uint64_t hash);

typedef struct seen_tdigest_node {
    double mean;
    int64_t weight;
} seen_tdigest_node;

/* The compressed nodes; *N is their number. Valid until the next call. */
SEEN_API const seen_tdigest_node *seen_tdigest_nodes(seen_tdigest *t, size_t *n);
/* A digest from its nodes, for callers that keep the fields themselves: of INFO
 * compression, capacity, merged, merged_weight, compressions, min and max are read.
 * Nodes in the wrong order are sorted. SEEN_EFORMAT names the contradiction,
 * SEEN_ENOMEM. */
SEEN_API int seen_tdigest_make(const seen_tdigest_info *info,
                               const seen_tdigest_node *nodes, unsigned flags,
                               const seen_allocator *a, seen_tdigest **out);

#endif /* SEEN_UNSTABLE */

#ifdef __cplusplus
}
#endif
#endif
