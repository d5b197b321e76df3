/* deferred_compare.h - comparisons with lines all over a file, gathered and made in its order. */
#ifndef CLI_PUTOFF_H
#define CLI_PUTOFF_H

#include "seen.h"

typedef struct putoff putoff;

/* What the owner does: compare the line at FIRST with KEY; say where it is in memory,
 * to be fetched ahead; note that LINE occurred before; deal with one whose comparison
 * failed (called in the order of lines); and tidy up after a round. */
typedef struct putoff_calls {
    bool (*equal)(void *ctx, uint64_t first, seen_key key);
    const void *(*where)(void *ctx, uint64_t first);
    void (*note)(void *ctx, uint64_t line);
    void (*stranger)(void *ctx, uint64_t line, uint64_t offset, seen_key key);
    void (*done)(void *ctx);
} putoff_calls;

/* For offsets below TOTAL, in at most some MEMORY bytes. */
putoff *putoff_new(uint64_t total, uint64_t memory, const putoff_calls *calls,
                   void *ctx);
void putoff_free(putoff *p);
uint64_t putoff_bytes(const putoff *p);

/* Shall compare KEY, which is line LINE at OFFSET, with the line at FIRST. */
void putoff_add(putoff *p, uint64_t first, uint64_t line, uint64_t offset,
                seen_key key);
void putoff_flush(putoff *p);
#endif
