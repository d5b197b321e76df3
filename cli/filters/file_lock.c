/* file_lock.c - flock on the file itself.
 *
 * The file may be replaced between opening and locking it, so afterwards the name must
 * still lead to the file that was locked; a writer that replaces files needs no lock
 * file beside them. The library locks files that it writes in place the same way. */
#include "file_lock.h"
#include "file_kind.h"
#include "output.h"
#include "messages.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_NAP = 2, LONGEST_NAP = 100 }; /* milliseconds */

static double patience;

void file_lock_wait(double seconds)
{
    patience = seconds;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int file_lock_new(int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own >= 0 && flock(own, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        close(own);
        return -1;
    }
    return own;
}

int file_lock(const char *name)
{
    double end = now() + patience;
    long nap = FIRST_NAP;
    for (;;) {
        struct stat a, b;
        kit_must_be_file(name);
        int fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT)
            return -1;
        if (fd < 0)
            kit_die("%s: %s", name, strerror(errno));
        if (fstat(fd, &a) < 0 || !S_ISREG(a.st_mode))
            kit_die("%s: not a regular file", name);
        bool locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (!locked && errno != EWOULDBLOCK)
            kit_die("%s: cannot lock: %s", name, strerror(errno));
        if (locked && stat(name, &b) == 0 && a.st_dev == b.st_dev &&
            a.st_ino == b.st_ino)
            return fd;
        close(fd);
        if (locked) /* it was replaced meanwhile */
            continue;
        if (kit_stopped)
            kit_die("%s: stopped while waiting for another run", name);
        if (patience == 0)
            kit_die("%s: in use by another run (--wait waits for it)", name);
        if (patience > 0 && now() >= end)
            kit_die("%s: still in use by another run after %g s", name, patience);
        nanosleep(&(struct timespec){.tv_nsec = nap * 1000000}, NULL);
        nap = nap * 2 < LONGEST_NAP ? nap * 2 : LONGEST_NAP;
    }
}
