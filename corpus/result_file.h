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

/* Both die if writing fails. */
void result_write(result_file *f, const bytes *b);
/* Puts F in its place. If nothing was written, the file is empty, packed by PACK if
 * that is not NULL. SYNC also waits for a file that is standard output. */
void result_commit(result_file *f, packer *pack, bool sync);
#endif
