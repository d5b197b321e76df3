/* growth.h - how filters grow: the only place that decides when and how much.
 *
 * A policy is one of the const tables in growth.c. It follows from the kind of a
 * filter, from whether the number of keys was given, and from whether somebody keeps
 * the hashes (seen_grow_from). There are three modes:
 *
 *   layers     a full layer is left as it is, and another one is appended whose error
 * is a further share of the whole in place   the kind rewrites its body; there is one
 * layer for ever rebuilt    the filter is made again, larger, from the hashes of its
 * keys */
#ifndef SN_GROWTH_H
#define SN_GROWTH_H
#include "filter/filter.h"

enum sn_growth_mode { SN_BY_LAYERS, SN_IN_PLACE, SN_REBUILT };

typedef struct sn_growth {
    enum sn_growth_mode mode;
    uint64_t first; /* keys that the first layer is made for, if nobody said how many */
    uint64_t whole;     /* bytes of whole hashes that come before it; 0: none */
    seen_growth series; /* the layers after it, and their shares of the error */
} sn_growth;

/* The policy for layers of KIND (NULL: one that is not chosen yet), which keep keys
 * ONCE or not. */
const sn_growth *sn_growth_for(const sn_kind *kind, bool once);
/* The policy of F now. */
const sn_growth *sn_growth_of(const seen_filter *f);

/* What layer number I (0 is the first) of F promises: keys and error. */
void sn_layer_goal(const seen_filter *f, uint32_t i, uint64_t *capacity, double *error);
/* Whether a filter of KIND may begin as whole hashes. */
bool sn_begins_whole(const sn_kind *kind, bool once);
/* How many keys F had as whole hashes, of which none was lost; 0: it did not begin so.
 */
uint64_t sn_whole_keys(const seen_filter *f);
/* A first layer of whole hashes. */
int sn_append_hashes(seen_filter *f);
/* From whole hashes to the first layer of the filter's own kind. */
int sn_unfold(seen_filter *f);
/* Makes room for at least one more key. */
int sn_grow(seen_filter *f);

/* ---- rebuilt.c: a filter made again from the hashes that somebody keeps ---- */

/* Gives N hashes (of KEYS, or H) to the source of F, and adds them with ADD. Returns
 * how many were taken, fewer than N with the code in *WHY. */
size_t sn_add_kept(seen_filter *f, const seen_key *keys, const uint64_t *h, size_t n,
                   bool *dup, int *why);
/* SEEN_EKIND if F has a source, which would not know of WHAT. */
int sn_refuse_kept(const seen_filter *f, const char *what);
#endif
