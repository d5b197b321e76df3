/* map.c - opens a file, checks that it is one, and maps it. */
#include "base/map.h"
#include "base/fail.h"
#include "seen.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int sn_cannot_open(const char *path)
{
    int e = errno;
    sn_fail(SEEN_EIO, "cannot open %s: %s", path, strerror(e));
    errno = e;
    return SEEN_EIO;
}

static int not_a_file(const char *path, mode_t mode)
{
    const char *what = S_ISFIFO(mode)   ? "FIFO"
                       : S_ISSOCK(mode) ? "socket"
                                        : "device";
    return sn_fail(SEEN_EFORMAT, "%s is a %s, not a file: a filter is mapped", path,
                   what);
}

/* Some file systems have no locks; there, every writer is trusted. */
static bool somebody_else_writes(int fd, enum sn_writing how)
{
    return how != SN_READS &&
           flock(fd, LOCK_NB | (how == SN_WRITES_ALONE ? LOCK_EX : LOCK_SH)) < 0 &&
           errno == EWOULDBLOCK;
}

uint64_t sn_modified(const struct stat *st)
{
    return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

int sn_map(const char *path, enum sn_writing how, uint8_t **p, uint64_t *len, int *lock,
           uint64_t *modified)
{
    struct stat st;
    bool write = how != SN_READS;
    /* (O_NONBLOCK: a pipe without a writer would wait for one.) */
    int fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return sn_cannot_open(path);
    if (somebody_else_writes(fd, how)) {
        close(fd);
        errno = EWOULDBLOCK;
        return sn_fail(SEEN_EBUSY, "another process is writing to %s", path);
    }
    void *m = NULL;
    int e = 0;
    if (fstat(fd, &st) < 0)
        e = errno;
    else if (S_ISDIR(st.st_mode))
        e = EISDIR;
    else if (!S_ISREG(st.st_mode)) {
        close(fd);
        return not_a_file(path, st.st_mode);
    }
    else if (st.st_size)
        m = mmap(NULL, (size_t)st.st_size, PROT_READ | (write ? PROT_WRITE : 0),
                 MAP_SHARED, fd, 0);
    if (m == MAP_FAILED)
        e = errno;
    if (e || !write)
        close(fd);
    if (e) {
        errno = e;
        return sn_cannot_open(path);
    }
    *p = m;
    *len = (uint64_t)st.st_size;
    *modified = sn_modified(&st);
    *lock = write ? fd : -1;
    return 0;
}

void sn_unmap(uint8_t *p, uint64_t len, int lock)
{
    if (p)
        munmap(p, len);
    if (lock >= 0)
        close(lock);
}
