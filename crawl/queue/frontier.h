/* frontier.h - the crawl on disk: an append-only log of what was found and done.
 *
 * The log is the truth: after a crash the seen-set, the queues and the statistics are
 * rebuilt from it. It is a sequence of batches, each written by one call and protected
 * by a checksum. A batch holds groups; a group says that one page is done, how, and
 * which new addresses it brought. Because both are in one group, a crash loses both or
 * neither. A torn last batch is cut off.
 *
 * log_batch.h has the header and the frames. The payload of a batch:
 *
 *   batch  FRONTIER_OUTPUTS numbers of ten bytes (sizes of the output files), groups
 *   group  varints: kind, done (id + 1; 0: none), at (where the done entry lies),
 *          status, outcome, type, size, depth, hops, first id, links, origin length;
 *          then the origin, the entries, and the record of the page (page_record.h)
 *   entry  varints: distance back to its group, index in it, length * 2 + whole;
 *          then the address: whole, or without the group's origin
 *
 * A hole is what --repair leaves of a damaged batch: its entries are unknown, and the
 * pages that were done in it count as not done. All fixed-width numbers are
 * little-endian. */
#ifndef CRAWL_FRONTIER_H
#define CRAWL_FRONTIER_H

#include "buf.h"
#include "page_record.h"
#include "url.h"

#include <stdio.h>

#define FRONTIER_OUTPUTS 6

enum group_kind {
    GROUP_SEEDS = 1,    /* from the command line; nothing done */
    GROUP_PAGE = 2,     /* a page done, and its new links */
    GROUP_REDIRECT = 3, /* a page done, and where it led */
    GROUP_SITEMAP = 4,  /* a sitemap done (or none), and the pages in it */
    GROUP_ROUND = 5     /* --again: from here on, no page is done */
};
enum { GROUP_SITEMAPS = 16 }; /* flag: the entries are sitemaps, not pages */

typedef struct group {
    int kind; /* with GROUP_SITEMAPS */
    bool has_done;
    uint64_t done_id, done_at;
    int status, outcome;
    char type[64];
    uint64_t size;
    unsigned depth, hops; /* of the entries */
    uint64_t first_id;
    size_t links;
    char origin[300];   /* of the page done: "https://example.org" */
    page_record record; /* of the page done */
    uint64_t record_at; /* where it is in the log, when it is walked */
} group;

/* An address to fetch: what the log says about it. */
typedef struct entry {
    uint64_t id, at;
    uint64_t parent_at; /* 0: a seed */
    unsigned depth, hops;
    int kind; /* of its group */
    char text[URL_ROOM];
    size_t len;
} entry;

typedef struct frontier frontier;

/* Creates or opens DIR/frontier.log for this process alone; dies with a message if it
 * cannot. Opening checks every batch and cuts a torn end; a bad batch with good ones
 * after it is damage, which only --repair may touch. SEED is for a log that was not
 * begun yet. */
frontier *frontier_create(const char *dir, uint64_t seed);
frontier *frontier_open(const char *dir, bool read_only, uint64_t seed);
void frontier_close(frontier *f);

uint64_t frontier_seed(const frontier *f);
uint64_t frontier_count(const frontier *f); /* entries */
uint64_t frontier_bytes(const frontier *f);
uint64_t frontier_cut(const frontier *f);    /* bytes of a torn end */
bool frontier_repaired(const frontier *f);   /* there is a hole */
unsigned frontier_rounds(const frontier *f); /* how often --again was begun */

/* Sizes of the output files at the last commit. */
const uint64_t *frontier_outputs(const frontier *f);

/* Begins a group (and sets its first_id and links), adds entries, ends it. Adding
 * returns the entry's position in the log, where frontier_read finds it. */
void frontier_begin(frontier *f, group *g);
uint64_t frontier_add(frontier *f, const char *text, size_t len, uint64_t *id);
void frontier_end(frontier *f);

/* How many bytes are not yet committed; and commits them as one batch. Dies if the disk
 * is full, and then loses nothing that was committed. SYNC waits for the disk. */
size_t frontier_pending(const frontier *f);
void frontier_commit(frontier *f, const uint64_t outputs[FRONTIER_OUTPUTS], bool sync);

/* Reads the entry at AT; false if it was in a hole. Dies if there is none. */
bool frontier_read(frontier *f, uint64_t at, entry *e);

/* Reads the page record at AT, as a walk gave it; dies if there is none. */
void frontier_record(frontier *f, uint64_t at, page_record *out);

/* Walks through everything committed: calls ENTRY_SEEN for each entry of a group, then
 * GROUP_SEEN for the group; either may be NULL. */
typedef struct walker {
    void (*group_seen)(void *ctx, const group *g);
    void (*entry_seen)(void *ctx, const group *g, uint64_t id, uint64_t at,
                       const char *text, size_t len);
    void *ctx;
} walker;
void frontier_walk(frontier *f, const walker *w);

/* Where the record of each page is, by the id of the page; 0: it is not done. Of
 * several rounds the latest counts. The caller frees it. */
uint64_t *frontier_latest(frontier *f);

/* Puts holes over the damaged parts of DIR/frontier.log and keeps the damaged file
 * beside it (log_repair.c). SEED is the log's seed, for the case that its header is
 * damaged; 0: not known. Says on standard error what it did; dies if it cannot. */
void frontier_repair(const char *dir, uint64_t seed);

#endif
