/* output_file.h - a file that only grows, and is written in large pieces. */
#ifndef CRAWL_OUTPUT_FILE_H
#define CRAWL_OUTPUT_FILE_H

#include "buf.h"

typedef struct output_file {
    int fd; /* -1: not wanted */
    const char *name;
    bool regular;
    bool held;      /* b keeps what was written until outputs_confirm */
    uint64_t size;  /* with what is not yet written */
    size_t written; /* of b */
    buf b;
} output_file;

/* Opens PATH, which must stay: empty, or cut to *SIZE when a crawl is resumed. "-" is
 * standard output; NULL is no file. Dies on failure. */
void output_file_open(output_file *f, const char *path, const uint64_t *size);

void output_file_add(output_file *f, const void *p, size_t n);
void output_file_text(output_file *f, const char *s);

/* Writes what is buffered; dies on failure. */
void output_file_flush(output_file *f);

#endif
