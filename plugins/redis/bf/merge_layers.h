/* merge_layers.h - how one layer of bits joins the layers of another filter.
 *
 * Keys cannot be read out of bits, so a layer either disappears in one of the same
 * shape or stays a layer of its own. Merging the same filter twice changes nothing, and
 * a filter that has grown since the last merge replaces what it was then. */
#ifndef SEEN_REDIS_MERGE_LAYERS_H
#define SEEN_REDIS_MERGE_LAYERS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct layer_view {
    const uint8_t *body;
    uint64_t bits, keys, capacity; /* keys it holds, and is made for */
    uint32_t probes, kind;         /* layers of another kind have another shape */
} layer_view;

typedef struct merge_step {
    enum { MERGE_NOTHING, MERGE_REPLACE, MERGE_UNITE, MERGE_APPEND } how;
    uint32_t at;   /* the layer that is replaced or united with */
    uint64_t keys; /* it holds then */
} merge_step;

/* What to do with ADD, given the N layers that are there: nothing if one of them has
 * all its bits; replace one whose bits ADD has; unite it with one if the union holds no
 * more keys than that one is made for, so its error is kept; otherwise append it. */
merge_step merge_step_for(const layer_view *have, uint32_t n, const layer_view *add);

/* TO |= FROM. */
void bits_unite(uint8_t *to, const uint8_t *from, uint64_t bytes);

#endif
