/* source.c - bytes of a file, unpacked on the way.
 *
 * The first bytes decide, not the name. A pipe is read as its bytes arrive; the reader
 * waits for more only while the bytes so far could still begin a magic number. Several
 * streams in a row (gzip members, zstd frames) count as one, as their own tools do it.
 */
#include "source.h"
#include "messages.h"
#include "compression.h"
#include "human_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW = 256 << 10 };

struct kit_source {
    int fd;
    bool waits;               /* a pipe, socket or terminal: reads may block */
    bool ended;               /* the file has no more */
    bool known;               /* whether it is compressed; then: */
    const kit_format *format; /* NULL: it is not */
    void *state;              /* of FORMAT */
    bool inside;              /* in a stream: if the file ends here, it was cut short */
    bool began;               /* a stream ended before */
    bool told;                /* how much memory it takes */
    const char *name;         /* for messages */
    uint64_t taken, most;
    unsigned char *raw; /* bytes of the file not yet used: raw[at..len) */
    size_t at, len;
    char error[200];
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
    s->name = in ? "standard input" : path;
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
    if (s->state)
        s->format->end(s->state);
    if (s->fd != STDIN_FILENO)
        close(s->fd);
    free(s->raw);
    free(s);
}

void kit_source_raw(kit_source *s, uint64_t most)
{
    s->known = true;
    s->most = most;
}
uint64_t kit_source_taken(const kit_source *s)
{
    return s->taken;
}
bool kit_source_packed(const kit_source *s)
{
    return s->format != NULL;
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

/* Reads until it is known whether the file is compressed, into s->raw. */
static int begin(kit_source *s)
{
    s->raw = kit_alloc(RAW);
    for (bool sure = false; !sure;) {
        ssize_t n = read_some(s, s->raw + s->len, s->len ? 16 : RAW);
        if (n < 0)
            return -1;
        s->len += (size_t)n;
        s->format = kit_format_of(s->raw, s->len, &sure);
        if (n == 0 && !sure) { /* it ends within the magic, so it is a text */
            s->format = NULL;
            sure = true;
        }
    }
    s->known = true;
    const kit_format *f = s->format;
    if (f && !f->start) {
        s->format = NULL;
        snprintf(s->error, sizeof s->error,
                 "%s data, which this build cannot unpack%s%s: give it the output of "
                 "its own tool",
                 f->name, f->package ? " without " : "", f->package ? f->package : "");
        return -1;
    }
    if (f && !(s->state = f->start()))
        return (int)fail(s, "out of memory for unpacking");
    return 0;
}

/* Whether another stream follows the one that ended: 1, 0 if what was read does not
 * say, -1 if something else does. */
static int another_follows(kit_source *s)
{
    bool sure;
    const kit_format *f = kit_format_of(s->raw + s->at, s->len - s->at, &sure);
    if (!sure && !s->ended)
        return 0;
    return f && sure && kit_format_goes_on(s->format, f) ? 1 : -1;
}

/* Reads more behind what is left. */
static ssize_t read_behind(kit_source *s)
{
    memmove(s->raw, s->raw + s->at, s->len - s->at);
    s->len -= s->at;
    s->at = 0;
    ssize_t n = read_some(s, s->raw + s->len, RAW - s->len);
    s->len += n > 0 ? (size_t)n : 0;
    return n;
}

/* Begins the next stream; 0 if none follows in what was read. */
static int next_stream(kit_source *s)
{
    while (s->began && s->format->zeros && s->at < s->len && s->raw[s->at] == 0)
        s->at++;
    if (s->at == s->len)
        return 0;
    for (int follows; s->began && (follows = another_follows(s)) <= 0;) {
        if (follows < 0) { /* the end, for all that comes */
            snprintf(s->error, sizeof s->error,
                     "trailing garbage after the compressed data");
            s->at = s->len;
            s->ended = true;
            return 0;
        }
        ssize_t n = read_behind(s);
        if (n < 0 || kit_stopped)
            return (int)n;
    }
    if (s->began && !s->format->restart(s->state))
        return (int)fail(s, "out of memory for unpacking");
    return s->inside = true;
}

/* Unpackers that hold much more than usual are named, and refused if the machine could
 * not hold it. */
static int check_memory(kit_source *s)
{
    enum { USUAL = 160 << 20 }; /* zstd's largest window without --long, and some */
    size_t much = s->format->memory ? s->format->memory(s->state) : 0;
    uint64_t machine =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    char size[24];
    if (much <= USUAL || s->told)
        return 0;
    s->told = true;
    kit_show_bytes((double)much, size);
    if (much > machine / 2) {
        snprintf(s->error, sizeof s->error,
                 "%s data that takes %s to unpack, more than half of the machine's "
                 "memory",
                 s->format->name, size);
        return -1;
    }
    kit_caution("%s: %s data that takes %s to unpack", s->name, s->format->name, size);
    return 0;
}

static ssize_t fail_format(kit_source *s, const char *what)
{
    snprintf(s->error, sizeof s->error, "%s data %s", s->format->name, what);
    return -1;
}

static ssize_t read_packed(kit_source *s, void *buf, size_t size)
{
    bool waiting = s->inside; /* output may be waiting inside, without new input */
    for (;;) {
        if (s->at == s->len && !waiting) {
            ssize_t n = read_some(s, s->raw, RAW);
            if (n < 0)
                return -1;
            if (n == 0 && s->inside && !kit_stopped)
                return fail_format(s, "ends in the middle");
            if (n == 0)
                return 0;
            s->at = 0, s->len = (size_t)n;
        }
        waiting = false;
        int more = s->inside ? 1 : next_stream(s);
        if (more < 0)
            return -1;
        if (!more)
            continue;
        kit_piece p = {s->raw + s->at, s->len - s->at, buf, size};
        kit_unpacked rc = s->format->unpack(s->state, &p);
        s->at = s->len - p.in_len;
        if (rc == KIT_DAMAGED)
            return fail_format(s, "is damaged");
        if (rc == KIT_NO_MEMORY)
            return fail_format(s, "needs more memory to unpack than there is");
        if (check_memory(s) < 0)
            return -1;
        if (rc == KIT_ENDED) {
            s->inside = false;
            s->began = true;
        }
        if (p.out_len != size)
            return (ssize_t)(size - p.out_len);
    }
}

ssize_t kit_source_read(kit_source *s, void *buf, size_t size)
{
    if (!s->known && begin(s) < 0)
        return -1;
    if (s->format)
        return read_packed(s, buf, size);
    if (s->at < s->len) { /* what was read to look at the magic */
        size_t n = s->len - s->at < size ? s->len - s->at : size;
        memcpy(buf, s->raw + s->at, n);
        s->at += n;
        return (ssize_t)n;
    }
    return read_some(s, buf, size);
}
