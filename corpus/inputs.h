/* inputs.h - the files of a run and the names of their results. */
#ifndef DEDUP_INPUTS_H
#define DEDUP_INPUTS_H

#include "packing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct input {
    char *path;   /* "-" is standard input */
    char *name;   /* under the folder of results */
    char *target; /* where the result goes; NULL: standard output */
    char *gone;   /* where what was removed goes; NULL: nowhere of its own */
    enum packing packing, packed; /* of the file, and of the result */
    uint64_t size;                /* 0 if unknown */
    bool piped;                   /* its size is unknown */
    int64_t changed;              /* when, in ns */
    bool done;                    /* by an earlier run */
} input;

typedef struct inputs {
    input *of;
    size_t n;
    uint64_t size;  /* of all; 0 if unknown */
    uint64_t bytes; /* a guess of their size unpacked */
} inputs;

/* The files of OPERANDS, folders searched in the order of names, hidden files left out;
 * none is standard input. PACK says how results are packed. With FOLDER each has a
 * target there, made with its folders when needed; ATTRIBUTE, if not NULL, puts them in
 * Dolma's places. Dies if a file cannot be read, if two results would be one, or if a
 * result would replace an input. */
inputs inputs_find(char *const *operands, size_t n, const char *folder,
                   enum packing pack, const char *attribute);
void inputs_free(inputs *in);

/* Gives each input a file of its own under FOLDER for what is removed from it, named
 * and packed as its result. Dies if one would replace an input or a result. */
void inputs_keep_removed(inputs *in, const char *folder);

/* Makes the folders that PATH is in. */
void inputs_make_folders(const char *path);
#endif
