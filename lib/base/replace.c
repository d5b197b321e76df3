/* replace.c - write beside, synchronise, rename, synchronise the folder.
 *
 * kit/output.c does the same for what programs print. It is not this code, because
 * programs see seen.h only, and because an output differs: it gathers small writes,
 * removes its name when the program is told to stop, and lets several files be finished
 * first and renamed after. How a file without a name gets one is the same in both. */
#include "base/replace.h"
#include "base/fail.h"
#include "seen.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed(const char *what, const char *path)
{
    int e = errno;
    sn_fail(SEEN_EIO, "cannot %s %s: %s", what, path, strerror(e));
    errno = e;
    return SEEN_EIO;
}

/* The folder of PATH as a string of its own. */
static char *folder_of(const char *path)
{
    char *copy = strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        slash[slash == copy] = 0;
    else if (copy && *copy)
        copy[0] = '.', copy[1] = 0;
    return copy;
}

/* A file beside PATH without a name, or -1 where the file system has none or /proc
 * cannot give it one. */
static int open_nameless(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
    free(folder);
    if (fd >= 0 && access("/proc/self/fd", X_OK) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Gives the nameless file its temporary name, the moment before it is renamed. */
static int name_it(sn_replace *r)
{
    char from[40];
    size_t x = strlen(r->temporary) - 6;
    snprintf(from, sizeof from, "/proc/self/fd/%d", r->fd);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(r->temporary + x, 7, "%06x",
                 ((unsigned)getpid() * 1000003 + i) & 0xffffff);
        if (linkat(AT_FDCWD, from, AT_FDCWD, r->temporary, AT_SYMLINK_FOLLOW) == 0) {
            r->nameless = false;
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    return -1;
}

int sn_replace_begin(sn_replace *r, const char *path)
{
    struct stat st;
    *r = (sn_replace){.fd = -1};
    bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT)
        return failed("look at", path);
    if (exists && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return failed("write", path);
    }
    if (exists && !S_ISREG(st.st_mode)) {
        r->direct = true;
        r->fd = open(path, O_WRONLY | O_CLOEXEC);
        r->path = strdup(path);
        return r->fd >= 0 ? 0 : failed("write", path);
    }
    r->path = exists ? realpath(path, NULL) : strdup(path);
    if (!r->path || asprintf(&r->temporary, "%s.XXXXXX", r->path) < 0) {
        r->temporary = NULL;
        sn_replace_abort(r);
        return sn_fail(SEEN_ENOMEM, "no memory for the name of %s", path);
    }
    r->fd = open_nameless(r->path);
    r->nameless = r->fd >= 0;
    if (r->fd < 0)
        r->fd = mkostemp(r->temporary, O_CLOEXEC);
    if (r->fd < 0) {
        failed("create a file beside", path);
        int e = errno;
        free(r->temporary);
        r->temporary = NULL;
        sn_replace_abort(r);
        errno = e;
        return SEEN_EIO;
    }
    /* The file keeps its owner where that is allowed: when root adds to a server's
     * filter, the server must still be able to open it. */
    if (exists && (st.st_uid != geteuid() || st.st_gid != getegid()) &&
        fchown(r->fd, st.st_uid, st.st_gid) < 0)
        errno = 0;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(r->fd, exists ? st.st_mode & 07777 : 0666 & ~mask);
    return 0;
}

int sn_replace_write(sn_replace *r, const void *p, size_t len)
{
    const char *s = p;
    while (len) {
        ssize_t n = write(r->fd, s, len < (1u << 30) ? len : 1u << 30);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed("write", r->path);
        s += n;
        len -= (size_t)n;
    }
    return 0;
}

int sn_replace_rewind(sn_replace *r)
{
    return lseek(r->fd, 0, SEEK_SET) == 0 ? 0 : failed("write", r->path);
}

/* The rename itself must survive a crash, and it lives in the folder. */
static int sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd < 0)
        return -1;
    int rc = fsync(fd);
    if (rc < 0 && errno == EINVAL) /* some file systems cannot, and need not */
        rc = 0;
    close(fd);
    return rc;
}

int sn_replace_commit(sn_replace *r)
{
    int rc = 0;
    if (r->direct) {
        if (close(r->fd) < 0)
            rc = failed("write", r->path);
        r->fd = -1;
    } else if (fsync(r->fd) < 0 || (r->nameless && name_it(r) < 0) ||
               rename(r->temporary, r->path) < 0) {
        rc = failed("write", r->path);
    } else {
        free(r->temporary);
        r->temporary = NULL;
        if (sync_folder(r->path) < 0)
            rc = failed("synchronise the folder of", r->path);
    }
    int e = errno;
    sn_replace_abort(r);
    errno = e;
    return rc;
}

void sn_replace_abort(sn_replace *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->temporary && !r->nameless)
        unlink(r->temporary);
    free(r->temporary);
    free(r->path);
    *r = (sn_replace){.fd = -1};
}
