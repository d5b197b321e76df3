/* control.c - the control file: checked, mapped, and its slots. */
#include "control.h"
#include "base/sync.h"
#include "guard_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "seengrd3"
_Static_assert(offsetof(control, slot) == 8192, "slots start on the third page");

/* Locks byte BYTE of FD for this open file: released by death, and by close where the
 * file is not mapped (a mapping keeps it open). */
static int lock_byte(int fd, off_t byte, bool wait)
{
    struct flock l = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int rc;
    do
        rc = fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &l);
    while (rc < 0 && errno == EINTR);
    return rc;
}

static void unlock_byte(int fd, off_t byte)
{
    struct flock l = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    fcntl(fd, F_OFD_SETLK, &l);
}

static void read_boot(char boot[40])
{
    memset(boot, 0, 40);
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (read(fd, boot, 36) < 0)
            boot[0] = 0;
        close(fd);
    }
}

/* A clock that all processes of one boot share and nobody can set. */
static int64_t boot_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the file -------------------------------------------------------------------- */

int sn_control_open_private(const char *path, int flags)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0600);
    if (fd < 0 || fstat(fd, &st) < 0) {
        int e = errno;
        sn_guard_fail(SEEN_EIO, "cannot open %s: %s", path,
                      e == ELOOP ? "it is a symbolic link, which is not followed"
                                 : strerror(e));
        if (fd >= 0)
            close(fd);
        errno = e;
        return -1;
    }
    const char *wrong = !S_ISREG(st.st_mode)     ? "is not a regular file"
                        : st.st_uid != geteuid() ? "belongs to another user"
                        : (st.st_mode & 077) != 0
                            ? "is open to other users: chmod 600 it, or, if an earlier "
                              "version made it, remove it and the files beside it "
                              "(PATH.NUMBER), which are built again"
                            : NULL;
    if (!wrong)
        return fd;
    sn_guard_fail(SEEN_EIO, "%s %s", path, wrong);
    close(fd);
    errno = EPERM;
    return -1;
}

/* Called under the lock. Initialises the memory, or takes the filter out of use if it
 * belongs to another boot (bits may have been lost with the page cache) or database. */
static int adopt(control *c, uint64_t tag)
{
    char boot[40];
    read_boot(boot);
    if (memcmp(c->magic, MAGIC, 8) != 0) {
        uint64_t random[3];
        if (seen_random_bytes(random, sizeof random) < 0)
            return sn_guard_fail(SEEN_EIO, "%s", seen_reason());
        memset(c, 0, sizeof *c);
        for (int i = 0; i < 2; i++)
            c->seed[i] = random[i];
        c->epoch = random[2]; /* none that an earlier file has used */
        c->why = OPEN_LOADING;
        c->tag = tag;
        c->born_ms = boot_ms();
        memcpy(c->boot, boot, sizeof c->boot);
        atomic_thread_fence(memory_order_seq_cst);
        memcpy(c->magic, MAGIC, 8);
    } else if (memcmp(c->boot, boot, sizeof boot) != 0 || c->tag != tag) {
        c->why = OPEN_STALE;
        c->live_and_next = 0;
        c->epoch++;
        if (memcmp(c->boot, boot, sizeof boot) != 0)
            c->born_ms = 0; /* the processes of that boot are gone */
        memcpy(c->boot, boot, sizeof c->boot);
        c->tag = tag;
    }
    return 0;
}

/* Says what a file is that is not our control file. The first seven letters of the
 * magic number are those of all versions. */
static int refuse_strange(const char *path, const char magic[8])
{
    if (memcmp(magic, MAGIC, 7) == 0 && magic[7] != MAGIC[7])
        return sn_guard_fail(
            SEEN_EFORMAT,
            "%s is the control file of another version of the guard "
            "(%c, this one has %c): stop its processes, then remove it "
            "and the filters beside it (%s.NUMBER); they are built "
            "again from the database",
            path, magic[7], MAGIC[7], path);
    return sn_guard_fail(SEEN_EFORMAT, "%s is not the control file of a guard", path);
}

static bool still_named(const char *path, const struct stat *st)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_dev == st->st_dev &&
           now.st_ino == st->st_ino;
}

/* The file at PATH, locked, with all its blocks reserved: a full disk is an error here
 * and not a SIGBUS later. */
static int open_locked(const char *path, struct stat *st)
{
    for (int tries = 0; tries < 100; tries++) {
        int fd = sn_control_open_private(path, O_CREAT), e = 0;
        if (fd < 0)
            return -1;
        if (lock_byte(fd, 0, true) < 0 || fstat(fd, st) < 0) {
            sn_guard_fail(SEEN_EIO, "cannot lock %s: %s", path, strerror(errno));
        } else if (!still_named(path, st)) {
            close(fd); /* deleted while we waited */
            continue;
        } else if (st->st_size != 0 && st->st_size != sizeof(control)) {
            char magic[8] = "";
            if (pread(fd, magic, sizeof magic, 0) < 0)
                magic[0] = 0;
            refuse_strange(path, magic);
        } else if ((e = posix_fallocate(fd, 0, sizeof(control))) != 0) {
            sn_guard_fail(SEEN_EIO, "cannot make %s: %s", path, strerror(e));
            if (st->st_size == 0 && ftruncate(fd, 0) < 0)
                unlink(path);
        } else if (st->st_size == 0 && sn_sync_folder(path) < 0) {
            sn_guard_fail(SEEN_EIO, "cannot synchronise the folder of %s: %s", path,
                          strerror(errno));
        } else {
            return fd;
        }
        close(fd);
        return -1;
    }
    return -1;
}

int sn_control_open(control_file *f, const char *path, uint64_t tag)
{
    static const char none[8];
    struct stat st;
    memset(f, 0, sizeof *f);
    int fd = open_locked(path, &st);
    if (fd < 0)
        return SEEN_EIO;
    control *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c == MAP_FAILED) {
        sn_guard_fail(SEEN_EIO, "cannot map %s: %s", path, strerror(errno));
        close(fd);
        return SEEN_EIO;
    }
    bool strange = memcmp(c->magic, MAGIC, 8) != 0 && memcmp(c->magic, none, 8) != 0;
    f->path = strange ? NULL : strdup(path);
    if (!f->path) {
        int why = strange ? refuse_strange(path, c->magic)
                          : sn_guard_fail(SEEN_ENOMEM, "no memory");
        munmap(c, sizeof *c);
        close(fd);
        return why;
    }
    int rc = adopt(c, tag);
    unlock_byte(fd, 0);
    close(fd);
    if (rc < 0) {
        munmap(c, sizeof *c);
        free(f->path);
        f->path = NULL;
        return rc;
    }
    f->mapped = c;
    f->device = st.st_dev;
    f->inode = st.st_ino;
    return 0;
}

void sn_control_close(control_file *f)
{
    if (f->mapped)
        munmap(f->mapped, sizeof *f->mapped);
    free(f->path);
}

bool sn_control_gone(control_file *f, unsigned max_age_ms)
{
    struct timespec t;
    if (f->gone)
        return true;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    int64_t now = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
    if (max_age_ms && now - f->looked_ms <= max_age_ms)
        return false;
    struct stat st = {.st_dev = f->device, .st_ino = f->inode};
    if (!still_named(f->path, &st))
        f->gone = true;
    f->looked_ms = now; /* of before the look */
    return f->gone;
}

int64_t sn_control_quiet_ms(const control *c)
{
    int64_t since = boot_ms() - c->born_ms;
    return since < CONTROL_QUIET_MS ? CONTROL_QUIET_MS - since : 0;
}

void sn_control_drop_live(control *c, uint32_t live, enum open_because why)
{
    uint64_t w = c->live_and_next;
    while (live && live_of(w) == live) {
        c->why = why;
        if (atomic_compare_exchange_weak(&c->live_and_next, &w,
                                         live_and_next(0, next_of(w))))
            return;
    }
}

/* ---- slots ----------------------------------------------------------------------- */

static uint64_t owner_now(uint32_t pid)
{
    return (uint64_t)pid << 32 | (uint32_t)(boot_ms() / 1000) | 1; /* never 0 */
}

bool sn_control_is_doubt(uint64_t owner)
{
    pid_t pid = (pid_t)(owner >> 32);
    return owner && (pid == 0 || (kill(pid, 0) < 0 && errno == ESRCH));
}

uint32_t sn_control_age(uint64_t owner)
{
    uint32_t now = (uint32_t)(boot_ms() / 1000), since = (uint32_t)owner;
    return now > since ? now - since : 0;
}

control_slot *sn_control_claim(control *c, uint64_t hash, bool *kept)
{
    uint64_t owner = owner_now((uint32_t)getpid());
    control_slot *found = NULL;
    *kept = true;
    for (uint64_t i = 0; i < CONTROL_WINDOW && !found; i++) {
        control_slot *s = c->slot + (hash + i) % CONTROL_SLOTS;
        uint64_t was = s->owner;
        /* Its hour starts again, so that no builder takes it from under us. */
        if (was && s->hash == hash && sn_control_is_doubt(was) &&
            atomic_compare_exchange_strong(&s->owner, &was, owner_now(0)))
            found = s;
    }
    *kept = found != NULL;
    for (uint64_t i = 0; i < CONTROL_WINDOW && !found; i++) {
        control_slot *s = c->slot + (hash + i) % CONTROL_SLOTS;
        uint64_t nobody = 0;
        if (s->owner == 0 &&
            atomic_compare_exchange_strong(&s->owner, &nobody, owner)) {
            s->hash = hash; /* sequentially consistent: before the word is read */
            found = s;
        }
    }
    if (found)
        c->writes[hash % CONTROL_WRITES]++;
    return found;
}

void sn_control_clear(control_slot *s)
{
    s->owner = 0;
}

void sn_control_doubt(control_slot *s)
{
    s->owner = owner_now(0);
}

bool sn_control_writing(const control *c, uint64_t hash)
{
    for (uint64_t i = 0; i < CONTROL_WINDOW; i++) {
        const control_slot *s = c->slot + (hash + i) % CONTROL_SLOTS;
        if (s->owner != 0 && s->hash == hash)
            return true;
    }
    return false;
}

/* ---- the right to build ---------------------------------------------------------- */

int sn_control_lock_build(const char *path)
{
    int fd = sn_control_open_private(path, 0);
    if (fd >= 0 && lock_byte(fd, 1, false) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

void sn_control_unlock(int fd)
{
    if (fd >= 0)
        close(fd);
}
