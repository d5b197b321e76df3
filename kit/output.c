/* output.c - gathers writes; files are replaced by lib/base/replace.c. */
#include "output.h"
#include "base/replace.h"
#include "base/sync.h"
#include "messages.h"

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
    sn_replace to; /* of standard output the descriptor only */
    char *name;    /* for messages; NULL for standard output */
    int error;     /* errno of the first failure */
    size_t len;
    char buf[GATHER];
};

/* Names of unfinished files, removed when the program ends. */
static char **temps;
static size_t temp_count;
static const char *made; /* if it still is this file: */
static dev_t made_on;
static ino_t made_inode;

void kit_temp_remove(void)
{
    struct stat st;
    for (size_t i = 0; i < temp_count; i++)
        unlink(temps[i]);
    temp_count = 0;
    if (made && stat(made, &st) == 0 && st.st_dev == made_on && st.st_ino == made_inode)
        unlink(made);
    made = NULL;
}

static void at_exit(void)
{
    static int armed;
    if (!armed++)
        atexit(kit_temp_remove);
}

void kit_made_file(const char *name)
{
    struct stat st;
    at_exit();
    made = NULL;
    if (!name || stat(name, &st) < 0)
        return;
    made_on = st.st_dev;
    made_inode = st.st_ino;
    made = name;
}

/* Makes room for one more name. Called before the file is created: if memory is out, no
 * file may be left behind. */
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

static void forget(const char *name)
{
    for (size_t i = 0; i < temp_count; i++)
        if (temps[i] == name) {
            temps[i] = temps[--temp_count];
            return;
        }
}

void kit_temp_forget(char *name)
{
    forget(name);
    free(name);
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

/* Opens the file beside PATH. No signal comes between its creation and the moment when
 * its name, if it has one, is known to kit_temp_remove. */
static int begin(sn_replace *to, const char *path, bool private)
{
    sigset_t all, before;
    if (access(path, F_OK) == 0 && access(path, W_OK) < 0)
        return -1;
    make_room();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = private ? sn_replace_begin_private(to, path)
                     : sn_replace_begin(to, path, 0666);
    int e = errno;
    if (rc == 0 && !to->direct && !to->nameless)
        remember(to->temporary);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = e;
    return rc;
}

static kit_output *open_output(const char *path, bool private)
{
    kit_output *o = kit_alloc(sizeof *o);
    o->to = (sn_replace){.fd = STDOUT_FILENO, .direct = true};
    if (!path || strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return o;
    if (begin(&o->to, path, private) < 0) {
        int e = errno;
        free(o);
        errno = e;
        return NULL;
    }
    o->name = kit_copy(o->to.path);
    return o;
}

kit_output *kit_output_open(const char *path)
{
    return open_output(path, false);
}

kit_output *kit_output_open_private(const char *path)
{
    return open_output(path, true);
}

bool kit_output_replaces(const kit_output *o)
{
    return !o->to.direct;
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
    /* Files that do not exist yet are compared by folder and name. */
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
    return o->name ? o->name : "standard output";
}

static int failed(kit_output *o)
{
    o->error = errno;
    return -1;
}

static int put(kit_output *o, const char *p, size_t len)
{
    errno = o->error;
    if (len)
        o->to.synced = false;
    return o->error || sn_write_all(o->to.fd, p, len) < 0 ? failed(o) : 0;
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
    struct stat st;
    if (kit_output_flush(o) < 0)
        return -1;
    if (!o->to.direct)
        return sn_replace_sync(&o->to) < 0 ? failed(o) : 0;
    if (sync && !o->to.synced && fstat(o->to.fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if (fsync(o->to.fd) < 0)
            return failed(o);
        o->to.synced = true;
    }
    return 0;
}

/* No signal comes between the file's temporary name and its own. */
int kit_output_commit(kit_output *o)
{
    sigset_t all, before;
    if (kit_output_finish(o, 0) < 0)
        return -1;
    if (o->to.direct)
        return 0;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    forget(o->to.temporary);
    int rc = sn_replace_commit(&o->to), e = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = e;
    return rc < 0 ? failed(o) : 0;
}

int kit_output_commit_new(kit_output *o)
{
    if (kit_output_finish(o, 0) < 0)
        return -1;
    int rc = sn_replace_commit_new(&o->to);
    return rc < 0 ? failed(o) : 0;
}

const char *kit_output_keep(kit_output *o)
{
    forget(o->to.temporary);
    return sn_replace_keep(&o->to) < 0 ? NULL : o->to.temporary;
}

kit_output *kit_output_resume(const char *path, const char *kept, uint64_t size)
{
    struct stat st;
    kit_output *o = kit_alloc(sizeof *o);
    int rc = sn_replace_resume(&o->to, path, kept);
    if (rc == 0) {
        rc = fstat(o->to.fd, &st);
        if (rc == 0 && (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < size)) {
            errno = EINVAL;
            rc = -1;
        }
        if (rc == 0)
            rc = ftruncate(o->to.fd, (off_t)size);
        if (rc == 0)
            rc = lseek(o->to.fd, 0, SEEK_END) < 0 ? -1 : 0;
    }
    if (rc < 0) {
        int e = errno;
        sn_replace_abort(&o->to);
        free(o);
        errno = e;
        return NULL;
    }
    o->name = kit_copy(o->to.path);
    return o;
}

int kit_output_fd(const kit_output *o)
{
    return o->to.fd;
}

void kit_output_close(kit_output *o)
{
    if (!o)
        return;
    forget(o->to.temporary);
    if (o->to.fd != STDOUT_FILENO)
        sn_replace_abort(&o->to);
    free(o->name);
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
    return sn_write_all(STDOUT_FILENO, p, len) < 0 ? 0 : (ssize_t)len;
}

static void wait_on_stdout(int flags)
{
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = cookie_write});
    if (f)
        stdout = f;
}
#else
/* Here stdout is a constant. A pipe that is opened again has its own mode. A socket
 * cannot be opened again: its mode changes for everyone who shares it. */
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
