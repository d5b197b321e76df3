/* backlog.c - blocks of a queue, chained in a file whose free blocks are reused. */
#include "backlog.h"
#include "buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 128
}; /* positions; on disk one word more, the number of the next block */

struct spill {
    int fd;
    uint64_t blocks; /* in the file */
    uint64_t *free_list;
    size_t free_count, free_room;
};

spill *spill_new(const char *dir)
{
    spill *s = kit_alloc(sizeof *s);
    s->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd < 0) {
        /* Not every file system supports nameless files. */
        char path[4096];
        snprintf(path, sizeof path, "%s/backlog.XXXXXX", dir);
        s->fd = mkostemp(path, O_CLOEXEC);
        if (s->fd < 0)
            kit_die("%s: %s", path, strerror(errno));
        unlink(path);
    }
    return s;
}

void spill_free(spill *s)
{
    if (!s)
        return;
    close(s->fd);
    free(s->free_list);
    free(s);
}

uint64_t spill_bytes(const spill *s)
{
    return s->blocks * (BLOCK + 1) * 8;
}

static uint64_t claim_block(spill *s)
{
    return s->free_count ? s->free_list[--s->free_count] : ++s->blocks;
}

static void free_block(spill *s, uint64_t block)
{
    if (s->free_count == s->free_room) {
        s->free_room = s->free_room ? 2 * s->free_room : 64;
        s->free_list = kit_grow(s->free_list, s->free_room, sizeof *s->free_list);
    }
    s->free_list[s->free_count++] = block;
}

static void copy_block(spill *s, uint64_t block, uint64_t *words, bool out)
{
    size_t bytes = (BLOCK + 1) * 8;
    off_t at = (off_t)((block - 1) * bytes);
    ssize_t n = out ? pwrite(s->fd, words, bytes, at) : pread(s->fd, words, bytes, at);
    if (n != (ssize_t)bytes)
        kit_die("scratch file of the queues: %s",
                n < 0 ? strerror(errno) : "disk full");
}

/* Writes the full tail to disk. The block before it already holds its number; it holds
 * the number of the block after it. */
static void flush_tail(backlog *q, spill *s)
{
    uint64_t words[BLOCK + 1];
    if (!q->first_block)
        q->first_block = q->last_block = claim_block(s);
    uint64_t here = q->last_block;
    memcpy(words, q->tail, BLOCK * 8);
    q->last_block = claim_block(s);
    words[BLOCK] = q->last_block;
    copy_block(s, here, words, true);
    q->tail_len = 0;
}

void backlog_push(backlog *q, spill *s, uint64_t place)
{
    q->count++;
    if (!q->tail) {
        if (q->head_len == q->head_room && q->head_at > 0) {
            memmove(q->head, q->head + q->head_at, (q->head_len - q->head_at) * 8);
            q->head_len -= q->head_at;
            q->head_at = 0;
        }
        if (q->head_len < BLOCK) {
            if (q->head_len == q->head_room) {
                q->head_room = q->head_room ? 2 * q->head_room : 4;
                q->head = kit_grow(q->head, q->head_room, 8);
            }
            q->head[q->head_len++] = place;
            return;
        }
        q->tail = kit_alloc(BLOCK * 8);
    }
    if (q->tail_len == BLOCK)
        flush_tail(q, s);
    q->tail[q->tail_len++] = place;
}

/* Fills an empty head from the oldest block of the file, or from the tail. */
static void refill_head(backlog *q, spill *s)
{
    q->head_at = q->head_len = 0;
    if (!q->tail)
        return;
    if (q->first_block && q->first_block != q->last_block) {
        uint64_t words[BLOCK + 1];
        copy_block(s, q->first_block, words, false);
        memcpy(q->head, words, BLOCK * 8);
        q->head_len = BLOCK;
        free_block(s, q->first_block);
        q->first_block = words[BLOCK];
        return;
    }
    if (q->first_block)
        free_block(s, q->first_block); /* numbered, never written */
    q->first_block = q->last_block = 0;
    memcpy(q->head, q->tail, q->tail_len * 8);
    q->head_len = q->tail_len;
    q->tail_len = 0;
    free(q->tail);
    q->tail = NULL;
}

bool backlog_pop(backlog *q, spill *s, uint64_t *place)
{
    if (q->head_at == q->head_len)
        refill_head(q, s);
    if (q->head_at == q->head_len)
        return false;
    *place = q->head[q->head_at++];
    q->count--;
    return true;
}

void backlog_free(backlog *q, spill *s)
{
    uint64_t place;
    if (s)
        while (q->first_block && backlog_pop(q, s, &place))
            ;
    free(q->head);
    free(q->tail);
    memset(q, 0, sizeof *q);
}
