/* report.h - what leaves the crawler: pages, links, bodies, archive.
 *
 * Files only grow. Each commit writes their sizes to the log, so that after a crash they
 * are cut back to what the log knows and no line is written twice. A shared crawl has no
 * log: there the pages of the latest flush stay in memory until the server has confirmed
 * which of them are this worker's, and the others are withdrawn. Pipes cannot be cut:
 * there, pages that were in flight may appear twice. */
#ifndef CRAWL_REPORT_H
#define CRAWL_REPORT_H

#include "config.h"
#include "queue/host.h"
#include "sha1.h"

#include <time.h>

enum { FILE_PAGES, FILE_LINKS, FILE_WARC, FILE_CDX, REPORT_FILES };
enum { WARC_NUMBER = REPORT_FILES }; /* among the numbers in the log: of the archive */

/* A file that is written in large pieces. */
typedef struct growing {
    int fd; /* -1: not wanted */
    const char *name;
    bool regular;
    bool held;      /* b keeps what was written until report_confirm */
    uint64_t size;  /* with what is not yet written */
    size_t written; /* of b */
    buf b;
} growing;

/* How much of each file there was after a page, counted in its b. */
typedef struct page_end {
    size_t at[REPORT_FILES];
} page_end;

typedef struct report {
    const config *conf;
    growing file[REPORT_FILES];
    void *warc;
    uint64_t warc_number; /* of the archive's file, from 0 on */
    char *warc_name, *cdx_name;
    page_end begin; /* before the first page that is held */
    buf ends;       /* page_end of each */
    buf lines;      /* of the index, for pages that are held: held_line and its text */
} report;

/* Opens the outputs: new, or cut to SIZES when a crawl is resumed. Dies on failure. */
void report_open(report *r, const config *c, const uint64_t *sizes);

/* One page that is done; REFERRER may be empty. */
void report_page(report *r, const job *j, const char *referrer, int outcome);
void report_link(report *r, const url *from, const url *to, unsigned kind);

/* Writes what is buffered and sets the sizes for the log; SYNC waits for the disk. */
void report_flush(report *r, uint64_t sizes[FRONTIER_OUTPUTS], bool sync);

/* For a shared crawl: the number of the page reported last; and the end of a batch of
 * pages, of which the N pages REFUSED are withdrawn. */
uint32_t report_number(const report *r);
void report_confirm(report *r, const uint32_t *refused, size_t n);
void report_close(report *r);

/* Appends ,"NAME":"S" to a line of JSON. */
void json_field(buf *b, const char *name, const char *s);

void growing_add(growing *g, const void *p, size_t n);

/* cdxj.c: appends the index line of the answer F, whose record of LENGTH bytes is at AT in
 * FILE; DIGEST may be empty. */
void cdxj_line(buf *line, const fetch *f, const char *file, uint64_t at, uint64_t length,
               const char *digest);

/* Puts AT - LESS for the place AT in such a line, which ends with a NUL. */
void cdxj_move(buf *line, uint64_t less);

/* Sorts the lines of the index PATH by their bytes, as programs that search it expect: the
 * file is replaced whole. One too large to be sorted in memory is left, and a message says
 * how to sort it. */
void cdxj_sort(const char *path);

/* The archive's file number N: FILE, then FILE-00001 and so on before its suffix. The
 * name is valid until the next call. */
const char *warc_path(const config *c, uint64_t n);

/* warc.c: a request and its answer as two records, each a gzip member of its own. */
void *warc_new(const config *c);
void warc_begin(void *warc, growing *g, const char *path); /* describes the file */
/* Returns the bytes of the answer's record, which comes first; DIGEST is of its payload. */
uint64_t warc_add(void *warc, growing *g, const job *j, char digest[SHA1_TEXT]);
void warc_free(void *warc);

#endif
