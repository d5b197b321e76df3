/* sync.c - writes everything; synchronises a folder. */
#include "base/sync.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int sn_write_all(int fd, const void *p, size_t len)
{
    const char *s = p;
    while (len) {
        ssize_t n = write(fd, s, len < (1u << 30) ? len : 1u << 30);
        if (n >= 0) {
            s += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1);
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

int sn_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd < 0)
        return -1;
    int rc = fsync(fd), e = errno;
    close(fd);
    errno = e;
    return rc < 0 && e == EINVAL ? 0 : rc;
}
