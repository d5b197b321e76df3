/* cut_tail.c - copies what is cut off, unless it is small. */
#include "cut_tail.h"
#include "durable.h"
#include "log_batch.h"
#include "human_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL = 1 << 20 };

static void copy_tail(int fd, const char *path, uint64_t from, uint64_t end)
{
    char copy[4096 + 32], *p = kit_alloc(SMALL);
    int to = -1;
    for (int i = 1; to < 0; i++) {
        snprintf(copy, sizeof copy, "%s.cut.%d", path, i);
        to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (to < 0 && errno != EEXIST)
            kit_die("%s: %s", copy, strerror(errno));
    }
    for (uint64_t at = from; at < end;) {
        ssize_t n = read_at(fd, p, SMALL, at);
        if (n <= 0 || !write_at(to, p, (size_t)n, at - from))
            kit_die("%s: %s", n < 0 ? path : copy, strerror(errno));
        at += (uint64_t)n;
    }
    if (fsync(to) < 0 || kit_sync_folder(copy) < 0)
        kit_die("%s: %s", copy, strerror(errno));
    close(to);
    free(p);
    kit_warn("%s: the last %s bytes are not part of the crawl; they are in %s now",
             path, kit_counted((uint64_t)(end - from)), copy);
}

void cut_tail(int fd, const char *path, uint64_t size)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        kit_die("%s: %s", path, strerror(errno));
    if ((uint64_t)st.st_size > size + SMALL)
        copy_tail(fd, path, size, (uint64_t)st.st_size);
    if (ftruncate(fd, (off_t)size) < 0)
        kit_die("%s: %s", path, strerror(errno));
}
