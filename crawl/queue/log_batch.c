/* log_batch.c - reads, checks, finds and writes the frames of the log. */
#include "log_batch.h"
#include "seen.h"

#include <errno.h>
#include <unistd.h>

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}
static void put_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}
static uint32_t get_u32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t get_u64(const uint8_t *p)
{
    return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

static uint64_t checksum(uint64_t seed, uint64_t at, const void *p, size_t len)
{
    return seen_hash_seeded(seed ^ at * 0x9e3779b97f4a7c15u, p, len);
}

void log_head_write(uint8_t p[LOG_HEAD], const log_head *h)
{
    memcpy(p, "SEENCRWL", 8);
    put_u32(p + 8, h->version);
    put_u32(p + 12, 0);
    put_u64(p + 16, h->seed);
    put_u64(p + 24, h->created);
    put_u64(p + 32, checksum(0, 0, p, 32));
}

bool log_head_read(const uint8_t p[LOG_HEAD], log_head *h)
{
    *h = (log_head){get_u32(p + 8), get_u64(p + 16), get_u64(p + 24)};
    return !memcmp(p, "SEENCRWL", 8) && get_u64(p + 32) == checksum(0, 0, p, 32);
}

void log_check_version(const char *path, uint32_t version)
{
    if (version < LOG_OLDEST)
        kit_die("%s is of an earlier version of seen crawl (log %u, this one reads %d "
                "to %d): finish the crawl with that version, or begin again in another "
                "folder",
                path, (unsigned)version, LOG_OLDEST, LOG_VERSION);
    if (version > LOG_VERSION)
        kit_die("%s is of a later version of seen crawl (log %u, this one reads %d to "
                "%d): go on with that version",
                path, (unsigned)version, LOG_OLDEST, LOG_VERSION);
}

ssize_t read_at(int fd, void *p, size_t n, uint64_t at)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = pread(fd, (char *)p + got, n - got, (off_t)(at + got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -1;
        if (k == 0)
            break;
        got += (size_t)k;
    }
    return (ssize_t)got;
}

bool write_at(int fd, const void *p, size_t n, uint64_t at)
{
    const char *s = p;
    while (n) {
        ssize_t k = pwrite(fd, s, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
        at += (uint64_t)k;
    }
    return true;
}

bool batch_read(int fd, uint64_t seed, uint64_t at, uint64_t limit, buf *b,
                uint32_t *groups)
{
    uint8_t frame[BATCH_FRAME];
    b->len = 0;
    if (at + BATCH_FRAME > limit || read_at(fd, frame, BATCH_FRAME, at) < BATCH_FRAME)
        return false;
    uint32_t len = get_u32(frame);
    *groups = get_u32(frame + 4);
    if (!len || len > BATCH_MOST || at + BATCH_FRAME + len > limit ||
        read_at(fd, buf_room(b, len), len, at + BATCH_FRAME) < (ssize_t)len ||
        checksum(seed ^ *groups, at, b->p, len) != get_u64(frame + 8))
        return false;
    b->len = len;
    return true;
}

void batch_frame(uint8_t *p, uint64_t seed, uint64_t at, uint32_t len, uint32_t groups)
{
    put_u32(p, len);
    put_u32(p + 4, groups);
    put_u64(p + 8, checksum(seed ^ groups, at, p + BATCH_FRAME, len));
}

void put_long_varint(uint8_t *p, uint64_t n)
{
    for (int i = 0; i < LONG_VARINT - 1; i++, n >>= 7)
        p[i] = (uint8_t)(n | 0x80);
    p[LONG_VARINT - 1] = (uint8_t)n;
}

/* Whether P, with LEFT bytes to the limit, looks like a batch: one pattern of bytes in
 * 2^50 does by chance, so a scan computes hardly a checksum in vain. */
static bool looks_good(const uint8_t *p, uint64_t left)
{
    enum { NUMBERS = 3 };
    uint32_t len = get_u32(p);
    if (!len || len > BATCH_MOST || BATCH_FRAME + (uint64_t)len > left)
        return false;
    if (get_u32(p + 4) == BATCH_HOLE)
        return true;
    p += BATCH_FRAME;
    for (int i = 0; i < NUMBERS; i++, p += LONG_VARINT) {
        for (int k = 0; k < LONG_VARINT - 1; k++)
            if (!(p[k] & 0x80))
                return false;
        if (p[LONG_VARINT - 1] > 1)
            return false;
    }
    return true;
}

uint64_t batch_find(int fd, uint64_t seed, uint64_t from, uint64_t limit)
{
    enum { WINDOW = 1 << 20, LOOK = BATCH_FRAME + 3 * LONG_VARINT };
    uint8_t *window = kit_alloc(WINDOW + LOOK);
    buf b = {0};
    uint64_t found = limit;
    uint32_t groups;
    for (uint64_t at = from; at + LOOK <= limit && found == limit; at += WINDOW) {
        ssize_t n = read_at(fd, window, WINDOW + LOOK, at);
        for (ssize_t i = 0; i < WINDOW && i + LOOK <= n; i++)
            if (at + (uint64_t)i + LOOK <= limit &&
                looks_good(window + i, limit - at - (uint64_t)i) &&
                batch_read(fd, seed, at + (uint64_t)i, limit, &b, &groups)) {
                found = at + (uint64_t)i;
                break;
            }
    }
    free(window);
    free(b.p);
    return found;
}
