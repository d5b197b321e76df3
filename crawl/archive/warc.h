/* warc.h - a request and its answer as WARC records, each a gzip member of its own. */
#ifndef CRAWL_WARC_H
#define CRAWL_WARC_H

#include "net/fetch.h"
#include "output_file.h"
#include "sha1.h"

typedef struct archive archive;

archive *warc_new(const config *c);
void warc_free(archive *a); /* NULL is allowed */

/* Begins the file PATH with a record that describes it. */
void warc_begin(archive *a, output_file *g, const char *path);

/* Adds the answer F and its request. BEFORE is when the page was last fetched, in
 * seconds since 1970 (0: unknown), for an answer 304. Returns the bytes of the answer's
 * record, which comes first, and sets DIGEST to the SHA-1 of its payload, or to "". */
uint64_t warc_add(archive *a, output_file *g, const fetch *f, uint64_t before,
                  char digest[SHA1_TEXT]);

/* The archive's file number N: FILE, then FILE-00001 and so on before its suffix. The
 * name is valid until the next call. */
const char *warc_path(const config *c, uint64_t n);

#endif
