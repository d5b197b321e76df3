/* replace.c - writes a new file beside the old one, synchronises it, renames it, and
 * synchronises the folder.
 *
 * The kernel applies the umask when it creates the file. Reading the umask would mean
 * changing it for a moment, and files that other threads create in that moment would be
 * open to everybody. */
#include "base/replace.h"
#include "base/fail.h"
#include "base/sync.h"
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

/* Opens an unnamed file beside PATH; -1 if the file system has none or /proc cannot
 * give it a name later. */
static int open_nameless(const char *path, mode_t mode)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
    int fd = -1;
    if (folder && access("/proc/self/fd", X_OK) == 0)
        fd = open(*folder ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    free(folder);
    return fd;
}

/* Finds a free name beside the file: creates the file under it with MODE, or gives it
 * to the nameless file. 0, or -1 with errno. */
static int take_name(sn_replace *r, mode_t mode)
{
    char from[40];
    size_t x = strlen(r->temporary) - 6;
    snprintf(from, sizeof from, "/proc/self/fd/%d", r->fd);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(r->temporary + x, 7, "%06x",
                 ((unsigned)getpid() * 1000003 + i) & 0xffffff);
        int rc = r->nameless
                     ? linkat(AT_FDCWD, from, AT_FDCWD, r->temporary, AT_SYMLINK_FOLLOW)
                     : (r->fd = open(r->temporary,
                                     O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode));
        if (rc >= 0) {
            r->nameless = false;
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    return -1;
}

/* The file keeps its owner where that is allowed: when root adds to a server's filter,
 * the server must still be able to open it. Changing the owner drops some permissions,
 * so those come after. A file system without either leaves the file to its owner alone.
 */
static void keep_owner(int fd, const struct stat *st, mode_t allowed)
{
    int e = errno;
    bool owned = (st->st_uid == geteuid() && st->st_gid == getegid()) ||
                 fchown(fd, st->st_uid, st->st_gid) == 0;
    bool moded = fchmod(fd, st->st_mode & allowed) == 0; /* in any case */
    if (!owned || !moded)
        errno = e;
}

static int give_up(sn_replace *r, int code)
{
    int e = errno;
    sn_replace_abort(r);
    errno = e;
    return code;
}

/* ALLOWED: the permissions that a file which exists may keep. */
static int begin(sn_replace *r, const char *path, mode_t mode, mode_t allowed)
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
    r->direct = exists && !S_ISREG(st.st_mode);
    /* The target of a link is replaced, not the link. */
    r->path = exists && !r->direct ? realpath(path, NULL) : strdup(path);
    if (!r->path)
        return failed("look at", path);
    if (!r->direct && asprintf(&r->temporary, "%s.XXXXXX", r->path) < 0) {
        r->temporary = NULL;
        return give_up(r, sn_fail(SEEN_ENOMEM, "no memory for the name of %s", path));
    }
    if (r->direct) {
        r->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return r->fd >= 0 ? 0 : give_up(r, failed("write", path));
    }
    if (exists)
        mode = 0600; /* until it has the owner of the old file */
    r->fd = open_nameless(r->path, mode);
    r->nameless = r->fd >= 0;
    if (!r->nameless && take_name(r, mode) < 0) {
        free(r->temporary); /* not ours, if all names are taken */
        r->temporary = NULL;
        return give_up(r, failed("create a file beside", path));
    }
    if (exists)
        keep_owner(r->fd, &st, allowed);
    return 0;
}

int sn_replace_begin(sn_replace *r, const char *path, mode_t mode)
{
    return begin(r, path, mode, 07777);
}

int sn_replace_begin_private(sn_replace *r, const char *path)
{
    return begin(r, path, 0600, 0600);
}

int sn_replace_keep(sn_replace *r)
{
    if (r->nameless && take_name(r, 0) < 0)
        return failed("write", r->path);
    r->kept = true;
    return sn_sync_folder(r->temporary) < 0
               ? failed("synchronise the folder of", r->temporary)
               : 0;
}

int sn_replace_resume(sn_replace *r, const char *path, const char *temporary)
{
    *r = (sn_replace){.fd = -1, .kept = true};
    r->path = realpath(path, NULL);
    if (!r->path && errno == ENOENT)
        r->path = strdup(path);
    r->temporary = strdup(temporary);
    if (!r->path || !r->temporary)
        return give_up(r, failed("look at", path));
    r->fd = open(temporary, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    return r->fd >= 0 ? 0 : give_up(r, failed("open", temporary));
}

int sn_replace_write(sn_replace *r, const void *p, size_t len)
{
    r->synced = false;
    return sn_write_all(r->fd, p, len) == 0 ? 0 : failed("write", r->path);
}

int sn_replace_rewind(sn_replace *r)
{
    return lseek(r->fd, 0, SEEK_SET) == 0 ? 0 : failed("write", r->path);
}

int sn_replace_sync(sn_replace *r)
{
    if (!r->direct && !r->synced && fsync(r->fd) < 0)
        return failed("write", r->path);
    r->synced = true;
    return 0;
}

/* close reports the last errors of network file systems, so it comes before the rename.
 */
static int close_file(sn_replace *r)
{
    int fd = r->fd;
    r->fd = -1;
    return close(fd);
}

int sn_replace_commit(sn_replace *r)
{
    int rc = sn_replace_sync(r);
    if (rc == 0 && r->nameless && take_name(r, 0) < 0)
        rc = failed("write", r->path);
    if (rc == 0 && close_file(r) < 0)
        rc = failed("write", r->path);
    if (rc == 0 && !r->direct) {
        if (rename(r->temporary, r->path) < 0)
            return give_up(r, failed("write", r->path));
        free(r->temporary);
        r->temporary = NULL;
        if (sn_sync_folder(r->path) < 0)
            rc = failed("synchronise the folder of", r->path);
    }
    return give_up(r, rc);
}

int sn_replace_commit_new(sn_replace *r)
{
    char from[40];
    snprintf(from, sizeof from, "/proc/self/fd/%d", r->fd);
    int rc = sn_replace_sync(r);
    if (rc == 0 && linkat(AT_FDCWD, r->nameless ? from : r->temporary, AT_FDCWD,
                          r->path, r->nameless ? AT_SYMLINK_FOLLOW : 0) < 0)
        rc = failed("create", r->path);
    if (rc == 0 && close_file(r) < 0)
        rc = failed("write", r->path);
    if (rc == 0 && sn_sync_folder(r->path) < 0)
        rc = failed("synchronise the folder of", r->path);
    return give_up(r, rc); /* which removes the temporary name, if there is one */
}

void sn_replace_abort(sn_replace *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->temporary && !r->nameless && !r->kept)
        unlink(r->temporary);
    free(r->temporary);
    free(r->path);
    *r = (sn_replace){.fd = -1};
}
