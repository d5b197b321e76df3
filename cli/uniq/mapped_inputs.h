/* mapped_inputs.h - the inputs of an exact run: read twice, then reached at any byte.
 */
#ifndef CLI_MAPPED_INPUTS_H
#define CLI_MAPPED_INPUTS_H

#include <sys/stat.h>

#include "uniq.h"

/* One input: what to open, and where its bytes are in the order of all bytes. */
typedef struct mapped_input {
    const char *name; /* as given, for messages */
    char spooled[32]; /* path of the copy, if there is one */
    int spool;        /* its descriptor, or -1 */
    bool list;        /* of --against: never printed */
    bool regular;
    struct stat before;
    uint64_t start, len; /* unpacked; LEN is counted by the first pass */
    const char *map;
} mapped_input;

typedef struct mapped_inputs {
    mapped_input *file;
    size_t n;
    char **path;    /* what to open: the files, and once mapped their copies */
    uint64_t *most; /* once mapped, how many bytes of each the first reading saw */
    uint64_t bytes; /* of all, once mapped */
} mapped_inputs;

/* The lists of --against, then the files; none of them is read yet. */
void mapped_inputs_open(mapped_inputs *x, const uniq *u);

/* Counts block B of the first reading, and copies it if its file cannot be read again.
 */
void mapped_inputs_take(mapped_inputs *x, const kit_block *b);

/* Makes all bytes reachable, when every .len is known. Later readings open the paths
 * as they are now, and read the bytes of the first reading only, however much a file
 * has grown since. */
void mapped_inputs_map(mapped_inputs *x);

/* Where the byte at OFFSET of all inputs is, and in which of them; OFFSET is below
 * x->bytes. */
const char *mapped_inputs_at(const mapped_inputs *x, uint64_t offset,
                             const mapped_input **which);

/* Returns the pages that were touched to the system. */
void mapped_inputs_give_back(const mapped_inputs *x);

/* Reports a file that has changed since mapped_inputs_open and ends the program. */
void mapped_inputs_check(const mapped_inputs *x);
void mapped_inputs_close(mapped_inputs *x);
#endif
