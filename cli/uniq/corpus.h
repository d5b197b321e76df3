/* corpus.h - the inputs of an exact run: read twice, then reached at any byte. */
#ifndef CLI_CORPUS_H
#define CLI_CORPUS_H

#include <sys/stat.h>

#include "uniq.h"

/* One input: what to open, and where its bytes are in the order of all bytes. */
typedef struct corpus_file {
    const char *name; /* as given, for messages */
    char spooled[32]; /* path of the copy, if there is one */
    int spool;        /* its descriptor, or -1 */
    bool list;        /* of --against: never printed */
    bool regular;
    struct stat before;
    uint64_t start, len; /* unpacked; LEN is counted by the first pass */
    const char *map;
} corpus_file;

typedef struct corpus {
    corpus_file *file;
    size_t n;
    char **path;    /* what to open: the files, and once mapped their copies */
    uint64_t *most; /* once mapped, how many bytes of each the first reading saw */
    uint64_t bytes; /* of all, once mapped */
} corpus;

/* The lists of --against, then the files; none of them is read yet. */
void corpus_open(corpus *x, const uniq *u);

/* Counts block B of the first reading in, and copies it if its file cannot be read
 * again. */
void corpus_take(corpus *x, const kit_block *b);

/* Makes all bytes reachable, when every .len is known. Later readings open the paths
 * as they are now, and read the bytes of the first reading only, however much a file
 * has grown since. */
void corpus_map(corpus *x);

/* Where the byte at OFFSET of all inputs is, and in which of them; OFFSET is below
 * x->bytes. */
const char *corpus_at(const corpus *x, uint64_t offset, const corpus_file **which);

/* Gives the pages that were touched back to the system. */
void corpus_give_back(const corpus *x);

/* Reports a file that has changed since corpus_open and ends the program. */
void corpus_check(const corpus *x);
void corpus_close(corpus *x);
#endif
