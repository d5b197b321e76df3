/* bf_options.h - how a filter is to be created: the options of BF.RESERVE and
 * BF.INSERT, the settings behind BF.ADD, and the same options spelled out for replicas.
 */
#ifndef SEEN_REDIS_BF_OPTIONS_H
#define SEEN_REDIS_BF_OPTIONS_H
#include "bf/bf_value.h"

typedef struct bf_options {
    bloom_spec spec;
    bool compat;
    bool no_create;
    bool saw_expansion, saw_layout, saw_seed, saw_tightening, saw_capacity;
    int64_t born;      /* of a window, in ms; 0: now */
    uint64_t scale_to; /* VALIDATESCALETO; 0: not asked */
    uint32_t pieces;   /* keys that hold it; 0: one */
    enum {
        GROWTH_AUTO = 1,
        GROWTH_KNOWN
    } growth;    /* as the master decided; 0: not said */
    uint64_t id; /* of a filter in pieces; 0: not chosen yet */
    int items;   /* argv index of the first item; 0: none given */
} bf_options;

/* How BF.ADD creates a missing key. */
bf_options bf_defaults(rm_ctx *ctx);

/* Parse argv of BF.RESERVE and BF.INSERT. Return NULL, or the error to reply. */
const char *bf_parse_reserve(rm_ctx *ctx, rm_str **argv, int argc, bf_options *o);
const char *bf_parse_insert(rm_ctx *ctx, rm_str **argv, int argc, bf_options *o);

/* Creates the filter of key NAME. Returns NULL, or the error to reply. */
const char *bf_create(rm_ctx *ctx, rm_str *name, bf_options *o, bf *out);

/* Replicates "create KEY as in O and add these items" in words that depend on no
 * setting; N may be 0. For the compat layout they are RedisBloom's own, so that its
 * append-only files and replicas can go back to it. */
void bf_replicate_new(rm_ctx *ctx, rm_str *key, const bf_options *o, rm_str **items,
                      size_t n);

/* Milliseconds since 1970. */
int64_t now_ms(void);

/* The memory limit of settings.h for bloom_*; CTX is an rm_ctx. */
bloom_limit limit_for(rm_ctx *ctx);

#endif
