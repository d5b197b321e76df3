/* map.c - opens, checks that it is a file, maps. */
#include "base/map.h"
#include "base/fail.h"
#include "seen.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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

int sn_map(const char *path, bool write, uint8_t **p, uint64_t *len)
{
    struct stat st;
    int fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0)
        return sn_cannot_open(path);
    void *m = NULL;
    int e = 0;
    if (fstat(fd, &st) < 0)
        e = errno;
    else if (!S_ISREG(st.st_mode))
        e = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    else if (st.st_size)
        m = mmap(NULL, (size_t)st.st_size, PROT_READ | (write ? PROT_WRITE : 0),
                 MAP_SHARED, fd, 0);
    if (m == MAP_FAILED)
        e = errno;
    close(fd);
    if (e) {
        errno = e;
        return sn_cannot_open(path);
    }
    *p = m;
    *len = (uint64_t)st.st_size;
    return 0;
}

void sn_unmap(uint8_t *p, uint64_t len)
{
    if (p)
        munmap(p, len);
}
