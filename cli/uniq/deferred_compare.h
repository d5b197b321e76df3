/* deferred_compare.h - comparisons with lines all over a file, gathered and made in
 * the order of the file. */
#ifndef CLI_DEFERRED_COMPARE_H
#define CLI_DEFERRED_COMPARE_H

#include "seen.h"

typedef struct deferred deferred;

/* What the owner does: compare the line at FIRST with KEY; say where that line is in
 * memory, to be prefetched; note that LINE occurred before; deal with a line whose
 * comparison failed (called in the order of lines); and tidy up after a round. */
typedef struct deferred_calls {
    bool (*equal)(void *ctx, uint64_t first, seen_key key);
    const void *(*where)(void *ctx, uint64_t first);
    void (*note)(void *ctx, uint64_t line);
    void (*differs)(void *ctx, uint64_t line, uint64_t offset, seen_key key);
    void (*done)(void *ctx);
} deferred_calls;

/* For offsets below TOTAL, in about MEMORY bytes. */
deferred *deferred_new(uint64_t total, uint64_t memory, const deferred_calls *calls,
                       void *ctx);
void deferred_free(deferred *d);
uint64_t deferred_bytes(const deferred *d);

/* Will compare KEY, which is line LINE at OFFSET, with the line at FIRST. */
void deferred_add(deferred *d, uint64_t first, uint64_t line, uint64_t offset,
                  seen_key key);
void deferred_flush(deferred *d);
#endif
