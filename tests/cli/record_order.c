/* record_order.c - loaded into a program with LD_PRELOAD, notes in $RECORD in which
 * order it creates, synchronises and renames files: "create INODE NAME", "data INODE
 * NAME", "folder INODE NAME", "rename INODE NAME"; and "umask 0 umask" if it touches
 * the umask. A file without a name is known by its inode alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *what, const char *name, unsigned long inode)
{
    const char *to = getenv("RECORD");
    char line[600];
    if (!to)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, to,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int n = snprintf(line, sizeof line, "%s %lu %s\n", what, inode, name);
    if (fd >= 0 && write(fd, line, (size_t)n) < 0)
        n = 0;
    close(fd);
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void note_sync(int fd)
{
    struct stat st;
    char link[64], path[512] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (fstat(fd, &st) < 0)
        return;
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    note(S_ISDIR(st.st_mode) ? "folder" : "data", base(path), (unsigned long)st.st_ino);
}

int fsync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int rc = real(fd);
    note_sync(fd);
    return rc;
}

int fdatasync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int rc = real(fd);
    note_sync(fd);
    return rc;
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    struct stat st = {0};
    stat(from, &st);
    int rc = real(from, to);
    note("rename", base(to), (unsigned long)st.st_ino);
    return rc;
}

/* open64 is the name that large-file builds call; both end in openat. */
static int open_noting(int folder, const char *path, int flags, mode_t mode)
{
    int (*real)(int, const char *, int, ...) =
        (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    struct stat st = {0};
    int creates = flags & O_CREAT && fstatat(folder, path, &st, 0) < 0;
    int fd = real(folder, path, flags, mode);
    if (creates && fd >= 0 && fstat(fd, &st) == 0)
        note("create", base(path), (unsigned long)st.st_ino);
    return fd;
}

#define OPEN(name)                                                                     \
    int name(const char *path, int flags, ...)                                         \
    {                                                                                  \
        va_list ap;                                                                    \
        va_start(ap, flags);                                                           \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;        \
        va_end(ap);                                                                    \
        return open_noting(AT_FDCWD, path, flags, mode);                               \
    }
OPEN(open)
OPEN(open64)

int link(const char *from, const char *to)
{
    int (*real)(const char *, const char *) =
        (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "link");
    struct stat st = {0};
    int rc = real(from, to);
    if (rc == 0 && stat(to, &st) == 0)
        note("create", base(to), (unsigned long)st.st_ino);
    return rc;
}

mode_t umask(mode_t mask)
{
    mode_t (*real)(mode_t) = (mode_t(*)(mode_t))dlsym(RTLD_NEXT, "umask");
    note("umask", "umask", 0);
    return real(mask);
}
