/* backlog.h - a host's queue of positions in the log, mostly on disk.
 *
 * First in, first out. A queue keeps at most two blocks of 128 positions in memory, its
 * head and its tail; the rest is in one scratch file shared by all queues, 8 bytes per
 * address. The file is not part of the crawl: after a crash the queues are rebuilt from
 * the log. */
#ifndef CRAWL_BACKLOG_H
#define CRAWL_BACKLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct spill spill; /* the scratch file */

/* Makes a nameless file in DIR; dies if it cannot. */
spill *spill_new(const char *dir);
void spill_free(spill *s);
uint64_t spill_bytes(const spill *s);

/* Zero is an empty queue. */
typedef struct backlog {
    uint64_t *head, *tail; /* no tail while the head is enough */
    uint32_t head_at, head_len, head_room, tail_len;
    uint64_t first_block, last_block; /* chain in the file, 1-based; 0: none */
    uint64_t count;
} backlog;

void backlog_push(backlog *q, spill *s, uint64_t place);
bool backlog_pop(backlog *q, spill *s, uint64_t *place);
void backlog_free(backlog *q, spill *s);

#endif
