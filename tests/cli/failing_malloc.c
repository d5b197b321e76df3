/* failing_malloc.c - loaded into a command with LD_PRELOAD: the call number $FAIL_AT of
 * malloc, calloc, realloc, an aligned allocation or an anonymous mmap returns NULL, all
 * others work. If the run has fewer calls, the file $FAIL_NONE is made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic long calls;
static long at;
static int on;

static int fails(void)
{
    if (!on || atomic_fetch_add(&calls, 1) + 1 != at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

void *aligned_alloc(size_t align, size_t n)
{
    return fails() ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    void *q = fails() ? NULL : __libc_memalign(align, n);
    if (!q)
        return ENOMEM;
    *p = q;
    return 0;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real)
        real =
            (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    if (flags & MAP_ANONYMOUS && fails())
        return MAP_FAILED;
    return real(addr, len, prot, flags, fd, off);
}

static void finish(void)
{
    const char *none = getenv("FAIL_NONE");
    if (none && atomic_load(&calls) < at)
        close(open(none, O_WRONLY | O_CREAT, 0666));
}

__attribute__((constructor)) static void start(void)
{
    const char *s = getenv("FAIL_AT");
    at = s ? atol(s) : 0;
    atexit(finish);
    on = at > 0;
}
