/* kill_at_call.c - loaded into a command with LD_PRELOAD, kills it at call number
 * $KILL_AT of those that change files: in the middle of a write, before any other. A
 * moment that is counted and not timed is the same on a machine of any speed and load.
 *
 * With $COUNT_CALLS, a file, nothing is killed: the file grows by a byte with each
 * call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* True if the process is to die at this call. */
static int this_is_it(void)
{
    static atomic_long calls;
    const char *at = getenv("KILL_AT"), *count = getenv("COUNT_CALLS");
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (count) {
        int fd = open(count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        syscall(SYS_write, fd, "", 1);
        close(fd);
    }
    return at && n == atol(at);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *p, size_t len)
{
    if (!this_is_it())
        return REAL(write)(fd, p, len);
    REAL(write)(fd, p, len / 2);
    die();
    return -1;
}

int fsync(int fd)
{
    (void)fd;
    if (this_is_it())
        die();
    return 0; /* a killed process leaves its pages to the kernel: no need to wait for a
                 disk */
}

int ftruncate(int fd, off_t len)
{
    if (this_is_it())
        die();
    return REAL(ftruncate)(fd, len);
}

int rename(const char *from, const char *to)
{
    if (this_is_it())
        die();
    return REAL(rename)(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    if (this_is_it())
        die();
    return REAL(linkat)(a, from, b, to, flags);
}
