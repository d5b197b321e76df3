/* no_system.c - a module has no files: every call for one fails with ENOSYS.
 *
 * Nothing that seen_wasm.c exports opens a file. The library still refers to these
 * calls, and a builder that outgrows its memory makes one: it then fails with a reason
 * in words. With them here, wasi-libc's own are not linked, and the module imports
 * nothing of WASI: a system call that is new to the library gets its line here. */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int none(void)
{
    errno = ENOSYS;
    return -1;
}

#define NONE(type, name, ...)                                                          \
    type name(__VA_ARGS__)                                                             \
    {                                                                                  \
        return none();                                                                 \
    }
NONE(int, open, const char *path, int flags, ...)
NONE(int, mkostemp, char *name, int flags)
NONE(int, poll, struct pollfd *fds, nfds_t n, int wait)
NONE(int, access, const char *path, int mode)
NONE(int, stat, const char *path, struct stat *out)
NONE(int, rename, const char *from, const char *to)
NONE(int, linkat, int in, const char *from, int into, const char *to, int flags)
NONE(int, unlink, const char *path)
NONE(int, close, int fd)
NONE(int, fchmod, int fd, mode_t mode)
NONE(int, fchown, int fd, uid_t owner, gid_t group)
NONE(int, flock, int fd, int how)
NONE(int, fstat, int fd, struct stat *out)
NONE(int, fstatvfs, int fd, struct statvfs *out)
NONE(int, fsync, int fd)
NONE(int, futimens, int fd, const struct timespec times[2])
#undef lseek
NONE(off_t, lseek, int fd, off_t at, int whence)
NONE(off_t, __lseek, int fd, off_t at, int whence)
NONE(ssize_t, read, int fd, void *to, size_t len)
NONE(ssize_t, write, int fd, const void *from, size_t len)
NONE(ssize_t, writev, int fd, const struct iovec *pieces, int n)
NONE(ssize_t, pread, int fd, void *to, size_t len, off_t at)
NONE(ssize_t, pwrite, int fd, const void *from, size_t len, off_t at)

char *realpath(const char *path, char *to)
{
    none();
    return NULL;
}

/* ---- a process with nothing around it -------------------------------------------- */

#define NOBODY(type, name, ...)                                                        \
    type name(__VA_ARGS__)                                                             \
    {                                                                                  \
        return 0;                                                                      \
    }
NOBODY(char *, getenv, const char *name)
NOBODY(gid_t, getegid, void)
NOBODY(pid_t, getpid, void)
NOBODY(uid_t, geteuid, void)

int clock_gettime(clockid_t clock, struct timespec *out)
{
    *out = (struct timespec){0};
    return 0;
}

char *strerror(int e)
{
    return e == ENOSYS   ? "there are no files here"
           : e == ENOMEM ? "out of memory"
                         : "the system refused";
}
