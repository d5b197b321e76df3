/* source.c - bytes of a file, unpacked on the way.
 *
 * The magic decides, not the name. A pipe is read as its bytes come: the only wait
 * for more is while what is there could still be the beginning of a magic. Several
 * gzip members or zstd frames in a row are one stream, as their own tools have it. */
#include "source.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { RAW = 256 << 10 };
enum packing { UNKNOWN, PLAIN, GZIP, ZSTD };

struct kit_source {
    int fd;
    bool waits; /* a pipe, socket or terminal: reads may block */
    bool ended; /* the file has no more */
    enum packing packing;
    uint64_t taken, most;
    unsigned char *raw; /* bytes of the file not yet used: raw[at..len) */
    size_t at, len;
    bool inside; /* in a gzip member or zstd frame: an end here is a cut file */
    z_stream z;
    ZSTD_DStream *zs;
    char error[160];
};

volatile int kit_stopped;
static int stop_pipe[2] = {-1, -1};

void kit_stop_ready(void)
{
    if (stop_pipe[0] < 0 && pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        kit_die("cannot make a pipe: %s", strerror(errno));
}

void kit_stop(int sig)
{
    int e = errno;
    kit_stopped = sig;
    if (stop_pipe[1] >= 0 && write(stop_pipe[1], "", 1) < 0)
        errno = 0;
    errno = e;
}

kit_source *kit_source_open(const char *path)
{
    bool in = strcmp(path, "-") == 0;
    int fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    struct stat st;
    int bad = fstat(fd, &st) < 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (bad) {
        if (!in)
            close(fd);
        errno = bad;
        return NULL;
    }
    kit_source *s = kit_alloc(sizeof *s);
    s->fd = fd;
    s->most = UINT64_MAX;
    s->waits = !S_ISREG(st.st_mode);
    if (!s->waits)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return s;
}

void kit_source_close(kit_source *s)
{
    if (!s)
        return;
    if (s->packing == GZIP)
        inflateEnd(&s->z);
    ZSTD_freeDStream(s->zs);
    if (s->fd != STDIN_FILENO)
        close(s->fd);
    free(s->raw);
    free(s);
}

void kit_source_raw(kit_source *s, uint64_t most)
{
    s->packing = PLAIN;
    s->most = most;
}
uint64_t kit_source_taken(const kit_source *s)
{
    return s->taken;
}
bool kit_source_packed(const kit_source *s)
{
    return s->packing >= GZIP;
}
const char *kit_source_error(const kit_source *s)
{
    return s->error;
}

static ssize_t fail(kit_source *s, const char *what)
{
    snprintf(s->error, sizeof s->error, "%s", what);
    return -1;
}

/* One read(2), which a stop request ends. */
static ssize_t read_some(kit_source *s, void *buf, size_t size)
{
    if (size > s->most - s->taken)
        size = s->most - s->taken;
    while (!s->ended && size) {
        if (s->waits && stop_pipe[0] >= 0) {
            struct pollfd p[2] = {{s->fd, POLLIN, 0}, {stop_pipe[0], POLLIN, 0}};
            if (poll(p, 2, -1) < 0 && errno != EINTR)
                return fail(s, strerror(errno));
        }
        if (kit_stopped)
            return 0;
        ssize_t n = read(s->fd, buf, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) { /* somebody made our pipe non-blocking */
            struct pollfd p = {s->fd, POLLIN, 0};
            poll(&p, 1, -1);
            continue;
        }
        if (n < 0)
            return fail(s, strerror(errno));
        if (n == 0)
            s->ended = true;
        s->taken += (uint64_t)n;
        return n;
    }
    return 0;
}

/* What the first bytes are; UNKNOWN while more are needed to tell. */
static enum packing look(const unsigned char *p, size_t n)
{
    static const unsigned char gz[3] = {0x1f, 0x8b, 0x08};
    static const unsigned char zst[4] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char skip[3] = {0x2a, 0x4d, 0x18};
    size_t g = n < 3 ? n : 3, z = n < 4 ? n : 4;
    if (memcmp(p, gz, g) == 0)
        return n >= 3 ? GZIP : UNKNOWN;
    if (memcmp(p, zst, z) == 0)
        return n >= 4 ? ZSTD : UNKNOWN;
    if (n && (p[0] & 0xf0) == 0x50 && memcmp(p + 1, skip, z - 1) == 0 && n > 1)
        return n >= 4 ? ZSTD : UNKNOWN; /* a skippable frame in front */
    return PLAIN;
}

/* Reads until the packing is known, into s->raw. */
static int begin(kit_source *s)
{
    s->raw = kit_alloc(RAW);
    while (s->packing == UNKNOWN) {
        ssize_t n = read_some(s, s->raw + s->len, s->len ? 4 : RAW);
        if (n < 0)
            return -1;
        s->len += (size_t)n;
        s->packing = look(s->raw, s->len);
        if (n == 0 && s->packing == UNKNOWN)
            s->packing = PLAIN;
    }
    if (s->packing == GZIP && inflateInit2(&s->z, 15 + 16) != Z_OK)
        return (int)fail(s, "cannot start unpacking gzip");
    if (s->packing == ZSTD && !(s->zs = ZSTD_createDStream()))
        return (int)fail(s, "cannot start unpacking zstd");
    return 0;
}

static ssize_t read_gzip(kit_source *s, void *buf, size_t size)
{
    for (;;) {
        if (s->at == s->len) {
            ssize_t n = read_some(s, s->raw, RAW);
            if (n < 0)
                return -1;
            if (n == 0 && s->inside && !kit_stopped)
                return fail(s, "gzip data end in the middle");
            if (n == 0)
                return 0;
            s->at = 0, s->len = (size_t)n;
        }
        if (!s->inside) {
            /* Between members gzip allows zeros, such as a tape's padding. */
            while (s->at < s->len && s->raw[s->at] == 0 && s->z.total_in)
                s->at++;
            if (s->at == s->len)
                continue;
            inflateReset(&s->z);
            s->inside = true;
        }
        s->z.next_in = s->raw + s->at;
        s->z.avail_in = (uInt)(s->len - s->at);
        s->z.next_out = buf;
        s->z.avail_out = size > 1 << 30 ? 1 << 30 : (uInt)size;
        uInt want = s->z.avail_out;
        int rc = inflate(&s->z, Z_NO_FLUSH);
        s->at = s->len - s->z.avail_in;
        if (rc == Z_STREAM_END)
            s->inside = false;
        else if (rc != Z_OK && rc != Z_BUF_ERROR)
            return fail(s, "gzip data are damaged");
        if (want != s->z.avail_out)
            return (ssize_t)(want - s->z.avail_out);
    }
}

static ssize_t read_zstd(kit_source *s, void *buf, size_t size)
{
    for (;;) {
        ZSTD_inBuffer in = {s->raw, s->len, s->at};
        ZSTD_outBuffer out = {buf, size, 0};
        size_t rc = 1;
        /* Also without new input: output may be waiting inside. */
        if (s->at < s->len || s->inside)
            rc = ZSTD_decompressStream(s->zs, &out, &in);
        if (ZSTD_isError(rc))
            return fail(s, "zstd data are damaged");
        if (in.pos != s->at || out.pos)
            s->inside = rc != 0;
        s->at = in.pos;
        if (out.pos)
            return (ssize_t)out.pos;
        if (s->at < s->len)
            continue;
        ssize_t n = read_some(s, s->raw, RAW);
        if (n < 0)
            return -1;
        if (n == 0 && s->inside && !kit_stopped)
            return fail(s, "zstd data end in the middle");
        if (n == 0)
            return 0;
        s->at = 0, s->len = (size_t)n;
    }
}

ssize_t kit_source_read(kit_source *s, void *buf, size_t size)
{
    if (s->packing == UNKNOWN && begin(s) < 0)
        return -1;
    if (s->packing == GZIP)
        return read_gzip(s, buf, size);
    if (s->packing == ZSTD)
        return read_zstd(s, buf, size);
    if (s->at < s->len) { /* what was read to look at the magic */
        size_t n = s->len - s->at < size ? s->len - s->at : size;
        memcpy(buf, s->raw + s->at, n);
        s->at += n;
        return (ssize_t)n;
    }
    return read_some(s, buf, size);
}
