/* record_order.c - loaded into a command with LD_PRELOAD, notes in $RECORD in which
 * order it synchronises and renames: "data NAME", "folder NAME", "rename NAME". What
 * has no name yet is told by its number. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void note(const char *what, const char *name, unsigned long inode)
{
    const char *to = getenv("RECORD");
    char line[600];
    if (!to)
        return;
    int fd = open(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
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
