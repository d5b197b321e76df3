/* result_file.h - a file that a run makes: opened with its folders when something is
 * written, put in its place when it is whole. */
#ifndef DEDUP_RESULT_FILE_H
#define DEDUP_RESULT_FILE_H

#include "dedup.h"
#include "output.h"

typedef struct result_file {
    const char *target; /* NULL: standard output */
    kit_output *to;
    bool wrote;
} result_file;

/* Both die of what cannot be written. */
void result_write(result_file *f, const bytes *b);
/* Puts F in its place, as a file without content if nothing was written: PACK, if not
 * NULL, makes that. SYNC also waits for a file that is standard output. */
void result_commit(result_file *f, packer *pack, bool sync);
#endif
