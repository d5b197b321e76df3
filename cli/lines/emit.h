/* emit.h - the chosen lines of a batch, written as they came. */
#ifndef CLI_EMIT_H
#define CLI_EMIT_H

#include "feed.h"
#include "output.h"

typedef struct emitter {
    kit_output *out;
    int term;
    bool owed; /* the last line written had no terminator: one comes before the next */
    bool headed; /* the header is written */
    uint64_t lines;
} emitter;

/* Opens PATH (NULL: standard output), or reports why not and ends the program. */
emitter emit_open(const char *path, int term);

/* Writes the lines of B whose dup[i] is WANT. IN_PLACE: the bytes of the block may be
 * moved, which saves a copy. Ends the program if it fails. */
void emit_lines(emitter *e, batch *b, bool want, bool in_place);

/* The same in two steps, of which the first needs no order: the lines whose dup[i] is
 * WANT are moved together inside the block, then written. */
typedef struct packed_lines {
    const char *bytes;
    size_t len, lines;
    bool open_end; /* the last line has no terminator */
} packed_lines;
packed_lines emit_pack(batch *b, bool want);
void emit_packed(emitter *e, const packed_lines *p);

/* Writes the header of K's files, once, if there is one; before any line. */
void emit_header(emitter *e, const keyspec *k);

/* LEN bytes of whole lines, the last without its terminator if OPEN_END. */
void emit_bytes(emitter *e, const void *p, size_t len, bool open_end);

/* Writes what is buffered and, with SYNC, waits until it is safe on disk; then
 * emit_commit puts the file in its place. */
void emit_finish(emitter *e, bool sync);
void emit_commit(emitter *e);
void emit_close(emitter *e);
#endif
