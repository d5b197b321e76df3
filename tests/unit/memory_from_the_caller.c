/* memory_from_the_caller.c - all memory of an object comes from its allocator and goes
 * back to it, with the size it had; and when there is none, nothing is lost. */
#include "seen.h"
#include "tap.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Counts what is out, and fails after `fuse` allocations. Blocks carry their size. */
typedef struct purse {
    uint64_t out, calls, wrong, fuse;
    int inside;
} purse;

static void *purse_alloc(void *ctx, size_t size, size_t align)
{
    purse *p = ctx;
    p->wrong += __atomic_fetch_add(&p->inside, 1, __ATOMIC_SEQ_CST) != 0;
    void *m = NULL;
    if (p->calls++ < p->fuse &&
        (m = aligned_alloc(64, (size + 64 + 63) & ~(size_t)63))) {
        memset(m, 0, size + 64);
        memcpy(m, &size, sizeof size);
        p->out += size;
        m = (char *)m + 64;
    }
    __atomic_fetch_sub(&p->inside, 1, __ATOMIC_SEQ_CST);
    return m;
}

static void purse_free(void *ctx, void *m, size_t size)
{
    purse *p = ctx;
    size_t had;
    p->wrong += __atomic_fetch_add(&p->inside, 1, __ATOMIC_SEQ_CST) != 0;
    memcpy(&had, (char *)m - 64, sizeof had);
    p->wrong += had != size;
    p->out -= had;
    free((char *)m - 64);
    __atomic_fetch_sub(&p->inside, 1, __ATOMIC_SEQ_CST);
}

static const seen_key key = {"key", 3};

/* Each way to make an object, used a little and freed: 0, or the code. */

static int use_filter(const seen_allocator *a, const char *path)
{
    seen_filter *f, *g = NULL;
    int rc = seen_new(&(seen_spec){.error = 0.01, .alloc = *a}, &f);
    for (uint64_t i = 0; rc >= 0 && i < 3000; i++)
        rc = seen_add_u64(f, i);
    if (rc >= 0)
        rc = seen_copy(f, &g);
    if (rc >= 0)
        rc = seen_save(g, path);
    seen_free(g);
    seen_free(f);
    return rc;
}

static int use_open(const seen_allocator *a, const char *path)
{
    seen_filter *f;
    int rc = seen_open_with(path, SEEN_READ, a, &f);
    if (rc == 0)
        seen_free(f);
    return rc;
}

static int use_load(const seen_allocator *a, const char *path)
{
    seen_filter *f;
    int rc = seen_open_with(path, SEEN_LOAD, a, &f);
    if (rc == 0)
        rc = seen_add_many(f, &key, 1, NULL, NULL);
    seen_free(f);
    return rc;
}

static int use_write(const seen_allocator *a, const char *path)
{
    seen_filter *f;
    int rc = seen_open_with(path, SEEN_WRITE, a, &f);
    if (rc == 0)
        rc = seen_flush(f);
    seen_free(f);
    return rc;
}

static int use_foreign(const seen_allocator *a, const char *path)
{
    seen_filter *f;
    int rc = seen_new_foreign(
        "redisbloom", &(seen_params){.keys = 10, .error = 0.01, .alloc = *a}, &f);
    for (uint64_t i = 0; rc >= 0 && i < 100; i++)
        rc = seen_add_u64(f, i);
    seen_free(f);
    return rc < 0 ? rc : 0;
}

static int use_bitmap(const seen_allocator *a, const char *path)
{
    seen_bitmap *b;
    int rc = seen_bitmap_new(1000, a, &b);
    if (rc == 0)
        seen_bitmap_set(b, 7);
    seen_bitmap_free(b);
    return rc;
}

static int use_builder(const seen_allocator *a, const char *path, uint64_t keys)
{
    seen_builder *b;
    seen_filter *f = NULL;
    uint64_t h[1000];
    int rc = seen_builder_new(&(seen_build_spec){.alloc = *a, .threads = 3,
                                                 .work = 64 << 20}, &b);
    for (uint64_t i = 0; rc == 0 && i < keys; i += 1000) {
        for (uint64_t j = 0; j < 1000; j++)
            h[j] = seen_hash_seeded(0, &(uint64_t){i + j}, 8);
        rc = seen_builder_add_hashes(b, h, 1000);
    }
    if (rc == 0)
        rc = seen_builder_finish(b, &f);
    seen_builder_free(b);
    if (f && !seen_has_hash(f, seen_hash_seeded(0, &(uint64_t){0}, 8)))
        rc = -1000;
    seen_free(f);
    return rc;
}

static int use_builder_in_memory(const seen_allocator *a, const char *path)
{
    return use_builder(a, path, 20000);
}

static int use_builder_on_disk(const seen_allocator *a, const char *path)
{
    return use_builder(a, path, 2000000);
}

static void try(const char *what, int (*use)(const seen_allocator *, const char *),
                const char *path, unsigned most)
{
    purse p = {.fuse = UINT64_MAX};
    seen_allocator a = {purse_alloc, purse_free, &p};
    int rc = use(&a, path);
    ok(rc >= 0 && p.calls > 0 && p.out == 0 && p.wrong == 0,
       "%s: %llu allocations, all given back with their size, one call at a time", what,
       (unsigned long long)p.calls);
    uint64_t calls = p.calls, bad = 0, left = 0;
    for (uint64_t fuse = 0; fuse < calls && fuse < most; fuse++) {
        p = (purse){.fuse = fuse};
        rc = use(&a, path);
        bad += rc != SEEN_ENOMEM && rc < 0;
        left += p.out != 0 || p.wrong;
    }
    ok(bad == 0 && left == 0, "%s: without memory after the n-th, SEEN_ENOMEM or done, "
                              "and nothing is left", what);
}

int main(void)
{
    char path[] = "/tmp/seen-purse-XXXXXX";
    close(mkstemp(path));
    try("a filter that grows", use_filter, path, 100);
    try("an opened file", use_open, path, 100);
    try("a loaded file", use_load, path, 100);
    try("a file opened for writing", use_write, path, 100);
    try("another system's filter", use_foreign, path, 100);
    try("a bitmap", use_bitmap, path, 100);
    try("a builder", use_builder_in_memory, path, 60);
    try("a builder that spills", use_builder_on_disk, path, 20);
    unlink(path);
    return done();
}
