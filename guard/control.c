/* control.c - see control.h. */
#include "control.h"
#include "guard_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "seengrd1"
_Static_assert(offsetof(control, slot) == 4096, "slots start on the second page");

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

/* Under the lock: makes the memory new, or takes the filter out of use if it is not
 * this boot's (bits may have been lost with the page cache) or not this database's. */
static void settle(control *c, uint64_t tag)
{
    char boot[40];
    read_boot(boot);
    if (memcmp(c->magic, MAGIC, 8) != 0) {
        memset(c, 0, sizeof *c);
        c->seed = seen_random_seed();
        c->epoch = seen_random_seed(); /* none that an earlier file has used */
        c->why = WHY_LOADING;
        c->tag = tag;
        memcpy(c->boot, boot, sizeof c->boot);
        atomic_thread_fence(memory_order_seq_cst);
        memcpy(c->magic, MAGIC, 8);
    } else if (memcmp(c->boot, boot, sizeof boot) != 0 || c->tag != tag) {
        c->why = WHY_STALE;
        c->word = 0;
        c->epoch++;
        memcpy(c->boot, boot, sizeof c->boot);
        c->tag = tag;
    }
}

control *sn_control_open(const char *path, uint64_t tag)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
    if (fd < 0 || lock_byte(fd, 0, true) < 0 || fstat(fd, &st) < 0) {
        sn_guard_fail(SEEN_EIO, "cannot open %s: %s", path, strerror(errno));
        goto failed;
    }
    if (st.st_size != 0 && st.st_size != sizeof(control)) {
        sn_guard_fail(SEEN_EFORMAT, "%s is not the control file of a guard", path);
        goto failed;
    }
    if (ftruncate(fd, sizeof(control)) < 0) {
        sn_guard_fail(SEEN_EIO, "cannot make %s: %s", path, strerror(errno));
        goto failed;
    }
    control *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c == MAP_FAILED) {
        sn_guard_fail(SEEN_EIO, "cannot map %s: %s", path, strerror(errno));
        goto failed;
    }
    static const char none[8];
    if (memcmp(c->magic, MAGIC, 8) != 0 && memcmp(c->magic, none, 8) != 0) {
        sn_guard_fail(SEEN_EFORMAT, "%s is not the control file of a guard", path);
        munmap(c, sizeof *c);
        goto failed;
    }
    settle(c, tag);
    unlock_byte(fd, 0);
    close(fd);
    return c;
failed:
    if (fd >= 0)
        close(fd);
    return NULL;
}

void sn_control_close(control *c)
{
    munmap(c, sizeof *c);
}

void sn_control_drop_live(control *c, uint32_t live, enum control_why why)
{
    uint64_t w = c->word;
    while (live && word_live(w) == live) {
        c->why = why;
        if (atomic_compare_exchange_weak(&c->word, &w, word_of(0, word_next(w))))
            return;
    }
}

/* ---- slots ----------------------------------------------------------------------- */

static uint64_t owner_now(uint32_t pid)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)pid << 32 | (uint32_t)t.tv_sec | 1; /* never 0 */
}

bool sn_control_is_doubt(uint64_t owner)
{
    pid_t pid = (pid_t)(owner >> 32);
    return owner && (pid == 0 || (kill(pid, 0) < 0 && errno == ESRCH));
}

control_slot *sn_control_claim(control *c, uint64_t hash, bool *kept)
{
    uint64_t owner = owner_now((uint32_t)getpid());
    *kept = true;
    for (uint64_t i = 0; i < CONTROL_WINDOW; i++) {
        control_slot *s = c->slot + (hash + i) % CONTROL_SLOTS;
        uint64_t was = s->owner;
        /* Its hour begins anew, so that no builder takes it from under us. */
        if (was && s->hash == hash && sn_control_is_doubt(was) &&
            atomic_compare_exchange_strong(&s->owner, &was, owner_now(0)))
            return s;
    }
    *kept = false;
    for (uint64_t i = 0; i < CONTROL_WINDOW; i++) {
        control_slot *s = c->slot + (hash + i) % CONTROL_SLOTS;
        uint64_t nobody = 0;
        if (s->owner == 0 &&
            atomic_compare_exchange_strong(&s->owner, &nobody, owner)) {
            s->hash = hash; /* sequentially consistent: before the word is read */
            return s;
        }
    }
    return NULL;
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
    int fd = open(path, O_RDWR | O_CLOEXEC);
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
