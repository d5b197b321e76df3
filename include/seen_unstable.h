/* seen_unstable.h - calls for the front ends of this project, which may change in any
 * version. seen.h includes it where SEEN_UNSTABLE is defined. */
#ifndef SEEN_UNSTABLE_H
#define SEEN_UNSTABLE_H

#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- growth ---------------------------------------------------------------------- */

/* Somebody who keeps the hashes of a filter's keys, so that the filter can be made
 * again from them when it is full: as small and as fast at every moment as one made to
 * measure. */
typedef struct seen_hash_source {
    /* Keeps N hashes, at most 1024: 0, or if it cannot, a negative code, and none of
     * them. It is then asked once more to give what it has, and the filter grows by
     * itself. */
    int (*keep)(void *ctx, const uint64_t *h, size_t n);
    /* Calls GIVE with all hashes kept, in any number of pieces. 0, the negative code
     * that GIVE returned, or one that says that they are lost: from then on, the filter
     * says yes to every key. */
    int (*again)(void *ctx, int (*give)(void *to, const uint64_t *h, size_t n),
                 void *to);
    void *ctx;
} seen_hash_source;

/* F, which is empty and was made without a number of keys, grows from SOURCE from now
 * on: 1.00 to 1.25 times the bytes of a filter made to measure. SEEN_EINVAL if it is
 * another filter; SEEN_EKIND if filters with its error are made too slowly. Adds return
 * what SOURCE returns; seen_merge, seen_clear and seen_remove refuse F with SEEN_EKIND.
 */
SEEN_API int seen_grow_from(seen_filter *f, const seen_hash_source *source);

/* How something grows: a capacity below .below is followed by keys / over * times keys,
 * by the first step that fits (.below is 0 in the last one). Layers below .small keys,
 * of which there are at most .small_most, have .small_share of the error each; a first
 * layer whose size was asked for has .asked, or .asked_small if it is small; the others
 * divide the rest, each .ratio times the one before, or 1/i^2 if .ratio is 0. */
typedef struct seen_growth_step {
    uint64_t below, times, over;
} seen_growth_step;
typedef struct seen_growth {
    seen_growth_step step[4];
    uint64_t small;
    uint32_t small_most;
    double small_share, asked, asked_small, ratio;
} seen_growth;

/* The capacity after KEYS; 0 if there is none. */
SEEN_API uint64_t seen_growth_next(const seen_growth *g, uint64_t keys);
/* The share of layer I (0 is the first) where the first has room for FIRST keys, ASKED
 * for or not. All shares together are at most 1. */
SEEN_API double seen_growth_share(const seen_growth *g, uint64_t first, bool asked,
                                  uint32_t i);

/* 64 random bits, 0 if the system has none: it cannot report that, so never use it for
 * a secret. Deprecated, for programs of 0.2.0: call seen_random_bytes. */
SEEN_API uint64_t seen_random_seed(void);

/* The bytes of a number as a key (docs/keys.md). Equal numbers have equal bytes: there
 * is no -0, and one NaN. */
SEEN_API void seen_integer_key(uint64_t x, unsigned char out[8]);
SEEN_API void seen_real_key(double x, unsigned char out[8]);

/* F loses its random id: it gets one that follows from its bytes when it is written, so
 * that the same keys make the same bytes. For values of a database. */
SEEN_API void seen_name_by_content(seen_filter *f);

/* The textbook formulas: m = ceil(-n ln p / ln^2 2), k = round(m/n ln 2) >= 1,
 * and p = (1 - (1 - 1/m)^(kn))^k. */
SEEN_API uint64_t seen_classic_bits(uint64_t keys, double error);
SEEN_API uint32_t seen_classic_probes(uint64_t bits, uint64_t keys);
SEEN_API double seen_classic_error(uint64_t bits, uint32_t probes, uint64_t keys);

/* For callers that cannot batch: asks for the memory of KEY and returns seen_hash of
 * it, for seen_has_hash or seen_add_hash 8 to 64 keys later. Foreign filters: 0. */
SEEN_API uint64_t seen_prefetch(const seen_filter *f, const void *key, size_t len);
SEEN_API void seen_prefetch_hash(const seen_filter *f, uint64_t hash);

/* The bytes of layer LAYER (0 is the oldest), for callers that keep shape and bytes
 * apart: with the same kind, bits, probes and seed they mean the same keys. *LEN is
 * their number; NULL and 0 beyond the last layer, and for foreign filters. Valid until
 * the next call that is not const. */
SEEN_API const void *seen_body(const seen_filter *f, uint32_t layer, size_t *len);
/* The same, to write to: this sets bits by hand, and no count follows. SEEN_EINVAL if
 * there is no such layer; SEEN_EKIND if F is foreign; SEEN_EREADONLY; SEEN_EIO. */
SEEN_API int seen_body_to_write(seen_filter *f, uint32_t layer, void **body,
                                size_t *len);

/* What LevelDB's reader answers for KEY on the LEN bytes of one builtin filter,
 * whatever they are: one question, without making a handle. Cannot fail. */
SEEN_API bool seen_leveldb_match(const void *filter, size_t len, const void *key,
                                 size_t klen);

#ifdef __cplusplus
}
#endif
#endif
