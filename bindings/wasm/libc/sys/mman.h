/* mman.h - no pages to map: filters take their memory from the allocator of
 * seen_wasm.c. */
#ifndef SN_WASM_MMAN_H
#define SN_WASM_MMAN_H
#include <errno.h>
#include <stddef.h>

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_FAILED ((void *)-1)
#define MS_SYNC 4
#define MADV_RANDOM 1
#define MADV_HUGEPAGE 14

static inline void *mmap(void *at, size_t len, int prot, int flags, int fd,
                         long long offset)
{
    errno = ENOMEM;
    return MAP_FAILED;
}
static inline int munmap(void *p, size_t len)
{
    return 0;
}
static inline int msync(void *p, size_t len, int flags)
{
    return 0;
}
static inline int madvise(void *p, size_t len, int advice)
{
    return 0;
}
#endif
