/* outputs.h - what leaves the crawler: pages, links, bodies, archive.
 *
 * Files only grow. Each commit writes their sizes to the log, so that after a crash
 * they are cut back to what the log knows and no line is written twice. A shared crawl
 * has no log: there the pages of the latest flush stay in memory until the server has
 * confirmed which of them are this worker's, and the others are withdrawn. Pipes cannot
 * be cut: there, pages that were in flight may appear twice. */
#ifndef CRAWL_OUTPUTS_H
#define CRAWL_OUTPUTS_H

#include "archive/warc.h"
#include "config.h"
#include "queue/schedule.h"

enum { FILE_PAGES, FILE_LINKS, FILE_WARC, FILE_CDX, OUTPUT_FILES };
enum { WARC_NUMBER = OUTPUT_FILES }; /* among the numbers in the log: of the archive */

/* The length of each file's buffer after a page. */
typedef struct page_end {
    size_t at[OUTPUT_FILES];
} page_end;

typedef struct outputs {
    const config *conf;
    output_file file[OUTPUT_FILES];
    archive *warc;
    uint64_t warc_number; /* of the archive's file, from 0 on */
    char *warc_name, *cdx_name;
    int bodies;     /* their folder; -1: not wanted */
    page_end begin; /* before the first page that is held */
    buf ends;       /* page_end of each */
    buf lines;      /* of the index, for pages that are held: held_line and its text */
} outputs;

/* Opens the outputs: new, or cut to SIZES when a crawl is resumed. Dies on failure. */
void outputs_open(outputs *r, const config *c, const uint64_t *sizes);

/* One page that is done; REFERRER may be empty. */
void outputs_page(outputs *r, const job *j, const char *referrer, int outcome);
void outputs_link(outputs *r, const url *from, const url *to, unsigned kind);

/* Writes what is buffered and sets the sizes for the log; SYNC waits for the disk. */
void outputs_flush(outputs *r, uint64_t sizes[FRONTIER_OUTPUTS], bool sync);

/* For a shared crawl: the number of the page written last; and the end of a batch of
 * pages, which withdraws the N pages REFUSED. */
uint32_t outputs_number(const outputs *r);
void outputs_confirm(outputs *r, const uint32_t *refused, size_t n);
void outputs_close(outputs *r);

/* What the store of a crawl needs of them. */
output_hooks outputs_hooks(outputs *r);

#endif
