/* cdxj.h - the archive's index: a line for each answer that says where it is. */
#ifndef CRAWL_CDXJ_H
#define CRAWL_CDXJ_H

#include "net/fetch.h"

/* Appends the line of the answer F, whose record of LENGTH bytes is at AT in FILE;
 * DIGEST may be empty. */
void cdxj_line(buf *line, const fetch *f, const char *file, uint64_t at,
               uint64_t length, const char *digest);

/* Replaces the place AT in such a line, which ends with a NUL, by AT - LESS. */
void cdxj_move(buf *line, uint64_t less);

/* Sorts the lines of the index PATH by their bytes, as programs that search it expect,
 * and replaces the file whole. An index too large to sort in memory is left as it is,
 * and a warning says how to sort it. */
void cdxj_sort(const char *path);

/* The index beside the archive c->warc; the caller frees the name. */
char *cdxj_path(const config *c);

#endif
