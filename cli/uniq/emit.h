/* emit.h - the chosen lines of a batch, written as they came. */
#ifndef CLI_EMIT_H
#define CLI_EMIT_H

#include "feed.h"
#include "output.h"

typedef struct sink {
    kit_output *out;
    int term;
    bool owed; /* the last line written had no terminator: one comes before the next */
    uint64_t lines;
} sink;

/* Opens PATH (NULL: standard output) or tells why not and ends the program. */
sink sink_open(const char *path, int term);

/* Writes lines whose dup[i] is WANT. EATS: the batch's bytes may be moved, which saves
 * a copy. Ends the program if it fails. */
void sink_lines(sink *s, batch *b, bool want, bool eats);

/* The same in two steps, of which the first needs no order: the lines whose dup[i] is
 * WANT are put together inside the batch, then written. */
void sink_pack(batch *b, bool want);
void sink_packed(sink *s, const batch *b);

/* LEN bytes of whole lines, the last without its terminator if OPEN_END. */
void sink_bytes(sink *s, const void *p, size_t len, bool open_end);

/* All written and, with SYNC, safe on disk; then the file is put in its place. */
void sink_finish(sink *s, bool sync);
void sink_commit(sink *s);
void sink_close(sink *s);
#endif
