/* scratch_hashes.c - a source of hashes for a filter: a buffer, and a file behind it.
 */
#include "scratch_hashes.h"
#include "messages.h"
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BUFFER = 4096,   /* hashes written at once */
    MORE = 1024,     /* that may come before they are */
    BLOCK = 1 << 15, /* hashes read at once */
    RECENT = 4096    /* a power of two */
};

struct kit_scratch {
    int fd;        /* -1: none yet, or it has ended */
    int why;       /* errno that ended it */
    uint64_t kept; /* hashes on disk */
    size_t n;      /* in the buffer */
    uint64_t buffer[BUFFER + MORE];
    uint64_t
        recent[RECENT]; /* some of the last hashes: repeats of these are left out */
};

/* Puts the buffer behind what is on disk. */
static int write_buffer(kit_scratch *s)
{
    const char *p = (const char *)s->buffer;
    size_t len = s->n * sizeof *s->buffer;
    if (s->fd < 0)
        s->fd = kit_temp_nameless();
    while (len && s->fd >= 0) {
        ssize_t n = write(s->fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        p += n;
        len -= (size_t)n;
    }
    if (len) {
        s->why = errno;
        return SEEN_EIO;
    }
    s->kept += s->n;
    s->n = 0;
    return SEEN_OK;
}

/* All of them, because a key that was taken for an old one by mistake must be in the
 * next filter too. */
static int keep(void *ctx, const uint64_t *h, size_t n)
{
    kit_scratch *s = ctx;
    if (s->n >= BUFFER && write_buffer(s) < 0)
        return SEEN_EIO;
    for (size_t i = 0; i < n; i++) {
        uint64_t *recent = s->recent + (h[i] & (RECENT - 1));
        if (*recent == h[i] && h[i])
            continue;
        *recent = h[i];
        s->buffer[s->n++] = h[i];
    }
    return SEEN_OK;
}

static size_t read_block(const kit_scratch *s, uint64_t *block, uint64_t at,
                         size_t want)
{
    size_t have = 0;
    while (have < want * 8) {
        ssize_t n = pread(s->fd, (char *)block + have, want * 8 - have,
                          (off_t)(at * 8 + have));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            kit_die("cannot read the scratch file in TMPDIR: %s",
                    n < 0 ? strerror(errno) : "it was truncated");
        have += (size_t)n;
    }
    return want;
}

static int again(void *ctx, int (*give)(void *to, const uint64_t *h, size_t n),
                 void *to)
{
    kit_scratch *s = ctx;
    uint64_t *block = s->kept ? kit_alloc(BLOCK * sizeof *block) : NULL;
    int rc = SEEN_OK;
    for (uint64_t at = 0; rc == 0 && at < s->kept;) {
        uint64_t left = s->kept - at;
        size_t n = read_block(s, block, at, left < BLOCK ? (size_t)left : BLOCK);
        rc = give(to, block, n);
        at += n;
    }
    free(block);
    return rc < 0 ? rc : give(to, s->buffer, s->n);
}

kit_scratch *kit_scratch_for(seen_filter *f)
{
    kit_scratch *s = kit_alloc(sizeof *s);
    s->fd = -1;
    if (seen_grow_from(f, &(seen_hash_source){keep, again, s}) == 0)
        return s;
    free(s);
    return NULL;
}

uint64_t kit_scratch_bytes(const kit_scratch *s)
{
    return sizeof *s;
}

int kit_scratch_ended(kit_scratch *s)
{
    int why = s->why;
    s->why = 0;
    return why;
}

void kit_scratch_free(kit_scratch *s)
{
    if (s && s->fd >= 0)
        close(s->fd);
    free(s);
}
