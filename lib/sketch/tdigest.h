/* tdigest.h - a t-digest in memory: tdigest.c fills it, tdigest_ask.c queries it. */
#ifndef SN_TDIGEST_H
#define SN_TDIGEST_H
#include "seen_sketch.h"

struct seen_tdigest {
    seen_allocator alloc;
    unsigned flags; /* SEEN_TDIGEST_... */
    uint64_t compression, capacity;
    uint64_t merged, unmerged; /* nodes; the merged ones come first, sorted */
    int64_t merged_weight, unmerged_weight;
    int64_t compressions;
    double min, max;
    uint64_t room; /* grows with the nodes, to capacity */
    seen_tdigest_node *nodes;
};

#endif
