/* output.c - gathers writes; writes files beside their place and renames them.
 *
 * (The library replaces its filters in the same way, lib/base/replace.c, and exports no
 * files; programs see nothing of it but seen.h.) */
#include "output.h"
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GATHER = 64 << 10 };

struct kit_output {
    int fd;
    int error;     /* errno of the first failure */
    char *path;    /* where it belongs; NULL for standard output */
    char *temp;    /* its name until it is committed, if it has one */
    bool nameless; /* it has none: it disappears even if the program is killed */
    bool replaces; /* a file that is put in its place when it is whole */
    bool safe;     /* everything written so far is safe on disk */
    size_t len;
    char buf[GATHER];
};

/* Names of unfinished files, removed when the program ends. */
static char **temps;
static size_t temp_count;
static const char *made_empty;

void kit_temp_remove(void)
{
    struct stat st;
    for (size_t i = 0; i < temp_count; i++)
        unlink(temps[i]);
    temp_count = 0;
    if (made_empty && stat(made_empty, &st) == 0 && st.st_size == 0)
        unlink(made_empty);
    made_empty = NULL;
}

static void at_exit(void)
{
    static int armed;
    if (!armed++)
        atexit(kit_temp_remove);
}

void kit_made_empty(const char *name)
{
    at_exit();
    made_empty = name;
}

/* Room for one more name; called before the file is made, which must not be left if
 * there is none. */
static void make_room(void)
{
    at_exit();
    temps = kit_grow(temps, temp_count + 1, sizeof *temps);
}

static void remember(char *name)
{
    temps[temp_count++] = name;
}

int kit_temp_beside(const char *path, char **name)
{
    size_t size = strlen(path) + 16;
    char *temp = kit_alloc(size);
    snprintf(temp, size, "%s.XXXXXX", path);
    make_room();
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0) {
        int e = errno;
        free(temp);
        errno = e;
        return -1;
    }
    remember(temp);
    *name = temp;
    return fd;
}

void kit_temp_forget(char *name)
{
    for (size_t i = 0; i < temp_count; i++)
        if (temps[i] == name) {
            temps[i] = temps[--temp_count];
            free(name);
            return;
        }
}

int kit_temp_nameless(void)
{
    const char *dir = getenv("TMPDIR");
    if (!dir || !*dir)
        dir = "/tmp";
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
        return fd;
    char *base = kit_alloc(strlen(dir) + 8), *name;
    sprintf(base, "%s/seen", dir);
    fd = kit_temp_beside(base, &name);
    if (fd >= 0) {
        unlink(name);
        kit_temp_forget(name);
    }
    free(base);
    return fd;
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

/* A file without a name in the folder of PATH; -1 if the file system has none, or if
 * /proc, which gives it a name later, is missing. */
static int nameless_beside(const char *path)
{
    char *folder = folder_of(path);
    int fd = -1;
    if (folder && access("/proc/self/fd", X_OK) == 0)
        fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    free(folder);
    return fd;
}

/* Gives O a name beside its place, from which it is renamed at once. */
static int name_it(kit_output *o)
{
    char from[40];
    size_t size = strlen(o->path) + 16;
    char *name = kit_alloc(size);
    snprintf(from, sizeof from, "/proc/self/fd/%d", o->fd);
    make_room();
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, size, "%s.%06x", o->path,
                 ((unsigned)getpid() * 1000003 + i) & 0xffffff);
        if (linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            remember(name);
            o->temp = name;
            o->nameless = false;
            return 0;
        }
        if (errno != EEXIST)
            break;
    }
    int e = errno;
    free(name);
    errno = e;
    return -1;
}

kit_output *kit_output_open(const char *path)
{
    kit_output *o = kit_alloc(sizeof *o);
    o->fd = STDOUT_FILENO;
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return o;
    struct stat st;
    bool there = stat(path, &st) == 0;
    if (!there && errno != ENOENT)
        goto bad;
    if (there && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        goto bad;
    }
    if (there && !S_ISREG(st.st_mode)) { /* a device or pipe: never replaced */
        o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (o->fd < 0)
            goto bad;
        o->path = kit_copy(path);
        return o;
    }
    /* Write where a link points to, not over the link. */
    o->path = there ? realpath(path, NULL) : strdup(path);
    if (!o->path || (there && access(path, W_OK) < 0))
        goto bad;
    o->fd = nameless_beside(o->path);
    o->nameless = o->fd >= 0;
    if (o->fd < 0)
        o->fd = kit_temp_beside(o->path, &o->temp);
    if (o->fd < 0)
        goto bad;
    o->replaces = true;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(o->fd, there ? st.st_mode & 07777 : 0666 & ~mask);
    if (there && (st.st_uid != geteuid() || st.st_gid != getegid()) &&
        fchown(o->fd, st.st_uid, st.st_gid) < 0)
        errno = 0; /* not ours to give away: the new file is then ours */
    return o;
bad:;
    int e = errno;
    free(o->path);
    free(o);
    errno = e;
    return NULL;
}

bool kit_output_replaces(const kit_output *o)
{
    return o->replaces;
}

bool kit_output_same(const char *a, const char *b)
{
    const char *name[2] = {a, b}, *base[2];
    struct stat st[2];
    bool there[2];
    for (int i = 0; i < 2; i++) {
        there[i] = stat(name[i], &st[i]) == 0;
        if (there[i] ? !S_ISREG(st[i].st_mode) : strcmp(name[i], "-") == 0)
            return false;
    }
    if (there[0] != there[1])
        return false;
    /* Of files that are not there yet, the folders are compared, and the names. */
    for (int i = 0; i < 2 && !there[0]; i++) {
        const char *slash = strrchr(name[i], '/');
        base[i] = slash ? slash + 1 : name[i];
        char *folder =
            slash ? kit_copy_part(name[i], (size_t)(slash + 1 - name[i])) : NULL;
        bool known = stat(slash ? folder : ".", &st[i]) == 0;
        free(folder);
        if (!known)
            return false;
    }
    return st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino &&
           (there[0] || strcmp(base[0], base[1]) == 0);
}

const char *kit_output_name(const kit_output *o)
{
    return o->path ? o->path : "standard output";
}

/* Writes everything, also where the descriptor does not block: a pipe may have been
 * made so by the program at its other end. 0, or an errno. */
static int write_all(int fd, const char *p, size_t len)
{
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n >= 0) {
            p += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1);
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int put(kit_output *o, const char *p, size_t len)
{
    if (len)
        o->safe = false;
    if (!o->error)
        o->error = write_all(o->fd, p, len);
    errno = o->error;
    return o->error ? -1 : 0;
}

int kit_output_flush(kit_output *o)
{
    size_t len = o->len;
    o->len = 0;
    return put(o, o->buf, len);
}

int kit_output_write(kit_output *o, const void *p, size_t len)
{
    if (len > GATHER - o->len && kit_output_flush(o) < 0)
        return -1;
    if (len >= GATHER)
        return put(o, p, len);
    memcpy(o->buf + o->len, p, len);
    o->len += len;
    return 0;
}

static int failed(kit_output *o)
{
    o->error = errno;
    return -1;
}

int kit_output_finish(kit_output *o, int sync)
{
    if (kit_output_flush(o) < 0)
        return -1;
    struct stat st;
    if ((sync || o->replaces) && !o->safe && fstat(o->fd, &st) == 0 &&
        S_ISREG(st.st_mode)) {
        if (fsync(o->fd) < 0)
            return failed(o);
        o->safe = true;
    }
    return 0;
}

/* The new name must survive a power cut too, and it is in the folder. */
static int sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    if (fd < 0)
        return -1;
    int rc = fsync(fd), e = errno;
    close(fd);
    errno = e;
    return rc < 0 && e == EINVAL ? 0 : rc; /* not every file system can, or needs to */
}

/* No signal comes between giving it a name and putting it in place. */
static int put_in_place(kit_output *o)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = o->nameless ? name_it(o) : 0;
    if (rc == 0) {
        /* close reports the last errors on network file systems */
        int fd = o->fd;
        o->fd = -1;
        rc = close(fd) < 0 || rename(o->temp, o->path) < 0 ? -1 : 0;
    }
    int e = errno;
    if (rc == 0) {
        kit_temp_forget(o->temp);
        o->temp = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = e;
    return rc;
}

int kit_output_commit(kit_output *o)
{
    if (kit_output_finish(o, 0) < 0)
        return -1;
    if (o->replaces && (put_in_place(o) < 0 || sync_folder(o->path) < 0))
        return failed(o);
    return 0;
}

void kit_output_close(kit_output *o)
{
    if (!o)
        return;
    if (o->fd > STDOUT_FILENO)
        close(o->fd);
    if (o->temp) {
        unlink(o->temp);
        kit_temp_forget(o->temp);
    }
    free(o->path);
    free(o);
}

static void fail(const char *name, int error) __attribute__((noreturn));
static void fail(const char *name, int error)
{
    if (error == EPIPE) {
        kit_temp_remove();
        sigset_t pipe_only;
        sigemptyset(&pipe_only);
        sigaddset(&pipe_only, SIGPIPE);
        pthread_sigmask(SIG_UNBLOCK, &pipe_only, NULL);
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
        _exit(2);
    }
    kit_die("%s: %s", name, strerror(error));
}

void kit_output_fail(const kit_output *o)
{
    fail(kit_output_name(o), o->error);
}

#ifdef __GLIBC__
static ssize_t cookie_write(void *cookie, const char *p, size_t len)
{
    errno = write_all(STDOUT_FILENO, p, len);
    return errno ? 0 : (ssize_t)len;
}

static void wait_on_stdout(int flags)
{
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = cookie_write});
    if (f)
        stdout = f;
}
#else
/* Here stdout is a constant. A pipe opened once more has a mode of its own; what cannot be
 * opened again, a socket, gets another mode for all who share it. */
static void wait_on_stdout(int flags)
{
    int own = open("/proc/self/fd/1", O_WRONLY | O_APPEND | O_CLOEXEC);
    if (own < 0 || dup2(own, STDOUT_FILENO) < 0)
        fcntl(STDOUT_FILENO, F_SETFL, flags & ~O_NONBLOCK);
    if (own >= 0)
        close(own);
}
#endif

void kit_stdout_waits(void)
{
    struct stat st;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags >= 0 && flags & O_NONBLOCK && fstat(STDOUT_FILENO, &st) == 0 &&
        !S_ISREG(st.st_mode)) /* writing to a file never waits */
        wait_on_stdout(flags);
}

void kit_stdout_flush(void)
{
    errno = 0;
    if (fflush(stdout) || ferror(stdout))
        fail("standard output", errno ? errno : EIO);
}
