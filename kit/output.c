/* output.c - gathers writes; writes files beside their place and renames them. */
#include "output.h"
#include "say.h"

#include <errno.h>
#include <fcntl.h>
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
    size_t len;
    char buf[GATHER];
};

/* Names of unfinished files, removed when the program ends. */
static char **temps;
static size_t temp_count;

void kit_temp_remove(void)
{
    for (size_t i = 0; i < temp_count; i++)
        unlink(temps[i]);
    temp_count = 0;
}

static void remember(char *name)
{
    static int armed;
    if (!armed++)
        atexit(kit_temp_remove);
    temps = kit_grow(temps, temp_count + 1, sizeof *temps);
    temps[temp_count++] = name;
}

int kit_temp_beside(const char *path, char **name)
{
    size_t size = strlen(path) + 16;
    char *temp = kit_alloc(size);
    snprintf(temp, size, "%s.XXXXXX", path);
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

/* A file without a name in the folder of PATH; -1 if the file system has none, or if
 * /proc, which gives it a name later, is missing. */
static int nameless_beside(const char *path)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (!folder || access("/proc/self/fd", X_OK) < 0) {
        free(folder);
        return -1;
    }
    if (slash)
        slash[slash == folder] = 0;
    int fd = open(slash ? folder : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
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
        o->path = strdup(path);
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
        char *folder = slash ? strndup(name[i], (size_t)(slash + 1 - name[i])) : NULL;
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

static int put(kit_output *o, const char *p, size_t len)
{
    while (len && !o->error) {
        ssize_t n = write(o->fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            o->error = errno;
            break;
        }
        p += n;
        len -= (size_t)n;
    }
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

int kit_output_finish(kit_output *o, int sync)
{
    if (kit_output_flush(o) < 0)
        return -1;
    struct stat st;
    if (sync && fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode) && fsync(o->fd) < 0) {
        o->error = errno;
        return -1;
    }
    return 0;
}

int kit_output_commit(kit_output *o)
{
    if (kit_output_flush(o) < 0)
        return -1;
    if (o->nameless && name_it(o) < 0) {
        o->error = errno;
        return -1;
    }
    if (o->temp) {
        /* close tells of the last errors on network file systems */
        int fd = o->fd;
        o->fd = -1;
        if (close(fd) < 0 || rename(o->temp, o->path) < 0) {
            o->error = errno;
            return -1;
        }
        kit_temp_forget(o->temp);
        o->temp = NULL;
    }
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

void kit_stdout_flush(void)
{
    errno = 0;
    if (fflush(stdout) || ferror(stdout))
        fail("standard output", errno ? errno : EIO);
}
