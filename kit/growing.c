/* growing.c - a filter made again from the hashes in a scratch file. */
#include "growing.h"
#include "output.h"
#include "messages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER = 4096, BLOCK = 1 << 15 }; /* hashes written, and read, at once */
enum { RECENT = 4096 };                  /* a power of two */

/* Up to so many keys whole hashes are the filter, without losses: in 64 KiB, or in as
 * many as the library spends on them before it makes a layer of them. */
enum { WHOLE_KEYS = 7000, WHOLE_KEYS_KEPT = 100000 };

struct kit_growing {
    seen_filter *filter;
    seen_spec spec;
    seen_hasher hasher;
    uint64_t keys;    /* what the filter was made for */
    uint64_t told;    /* keys that were called new */
    uint64_t entries; /* hashes on disk and in the buffer */
    uint64_t times;
    int fd;      /* -1: none yet */
    int why;     /* errno that ended the file */
    bool layers; /* the file has ended */
    size_t n;    /* in the buffer */
    uint64_t buffer[BUFFER];
    uint64_t recent[RECENT]; /* some of the last entries: repeats of these are left out */
};

static seen_filter *make(const seen_spec *spec)
{
    seen_filter *f;
    if (seen_new(spec, &f) < 0)
        kit_die("%s", seen_reason());
    return f;
}

kit_growing *kit_growing_new(const seen_spec *spec, bool kept)
{
    seen_spec large = *spec;
    seen_size size;
    large.keys = 1 << 24;
    /* Made five times, so only a kind that adds at the speed of memory. */
    if (spec->keys || seen_choose(&large, &size) < 0 || size.kind != SEEN_BLOCKED)
        return NULL;
    kit_growing *g = kit_alloc(sizeof *g);
    g->spec = *spec;
    g->hasher = *spec->hasher;
    g->spec.hasher = &g->hasher;
    g->fd = -1;
    g->keys = kept ? WHOLE_KEYS_KEPT : WHOLE_KEYS;
    g->filter = make(&g->spec);
    return g;
}

seen_filter *kit_growing_filter(const kit_growing *g)
{
    return g->filter;
}

uint64_t kit_growing_times(const kit_growing *g)
{
    return g->times;
}

uint64_t kit_growing_added(const kit_growing *g)
{
    return g->told;
}

/* Keys that the filter of the moment, which holds every key that came, tells apart,
 * though they were taken for old ones when they came. */
static double told_too_late(const kit_growing *g)
{
    return (double)seen_added(g->filter) - (double)g->told;
}

double kit_growing_lost(const kit_growing *g)
{
    double lost = seen_lost_expected(g->filter) + told_too_late(g);
    return lost > 0 ? lost : 0;
}

void kit_growing_lost_range(const kit_growing *g, double before, double *low,
                            double *high)
{
    seen_lost_range(g->filter, before, low, high);
    *low += told_too_late(g);
    *high += told_too_late(g);
    *low = *low > 0 ? *low : 0;
    *high = *high > 0 ? *high : 0;
}

uint64_t kit_growing_bytes(const kit_growing *g)
{
    return seen_bytes(g->filter) + sizeof *g;
}

int kit_growing_why_layers(kit_growing *g)
{
    int why = g->why;
    g->why = 0;
    return why;
}

static void end_file(kit_growing *g)
{
    if (g->fd >= 0)
        close(g->fd);
    g->fd = -1;
    g->layers = true;
}

/* Puts the buffer behind what is on disk; if there is no room, ends the file. */
static void write_buffer(kit_growing *g)
{
    const char *p = (const char *)g->buffer;
    size_t len = g->n * sizeof *g->buffer;
    if (g->fd < 0)
        g->fd = kit_temp_nameless();
    while (len && g->fd >= 0) {
        ssize_t n = write(g->fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        p += n;
        len -= (size_t)n;
    }
    if (len) {
        g->why = errno;
        end_file(g);
    }
    g->n = 0;
}

/* Notes what came: all of it, because a key that was taken for an old one by mistake
 * must be in the next filter too. */
static void note(kit_growing *g, const uint64_t *h, size_t n, const bool *dup)
{
    for (size_t i = 0; i < n && !g->layers; i++) {
        uint64_t *recent = g->recent + (h[i] & (RECENT - 1));
        if (dup[i] && *recent == h[i])
            continue;
        *recent = h[i];
        g->buffer[g->n++] = h[i];
        g->entries++;
        if (g->n == BUFFER)
            write_buffer(g);
    }
}

static void add_all(kit_growing *g, const uint64_t *h, size_t n)
{
    if (seen_add_hashes(g->filter, h, n, NULL, NULL) < 0)
        kit_die("%s", seen_reason());
}

static void read_back(kit_growing *g)
{
    uint64_t end = (g->entries - g->n) * 8, at = 0;
    uint64_t *block = end ? kit_alloc(BLOCK * sizeof *block) : NULL;
    while (at < end) {
        size_t want = end - at < BLOCK * 8 ? (size_t)(end - at) : BLOCK * 8, have = 0;
        while (have < want) {
            ssize_t n = pread(g->fd, (char *)block + have, want - have,
                              (off_t)(at + have));
            if (n < 0 && errno == EINTR)
                continue;
            if (n <= 0)
                kit_die("cannot read the scratch file in TMPDIR: %s",
                        n < 0 ? strerror(errno) : "it was truncated");
            have += (size_t)n;
        }
        add_all(g, block, want / 8);
        at += want;
    }
    free(block);
    add_all(g, g->buffer, g->n);
}

/* Makes the filter again, a quarter larger. The old one goes first, so that there is
 * never memory for two. */
static void make_again(kit_growing *g)
{
    g->keys += g->keys / 4;
    g->spec.keys = g->keys;
    seen_free(g->filter);
    g->filter = make(&g->spec);
    read_back(g);
    g->times++;
}

int kit_growing_add(kit_growing *g, const uint64_t *h, size_t n, bool *dup)
{
    for (size_t m; n; n -= m) {
        if (!g->layers && seen_added(g->filter) >= g->keys)
            make_again(g);
        uint64_t room = g->layers ? n : g->keys - seen_added(g->filter);
        m = n < room ? n : (size_t)room;
        int rc = seen_add_hashes(g->filter, h, m, dup, NULL);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < m; i++)
            g->told += !dup[i];
        note(g, h, m, dup);
        h += m;
        dup += m;
    }
    return SEEN_OK;
}

seen_filter *kit_growing_end(kit_growing *g)
{
    if (!g)
        return NULL;
    seen_filter *f = g->filter;
    end_file(g);
    free(g);
    return f;
}
