/* server_memory.c - zeroed, aligned bodies out of the server's allocator. */
#include "server/server_memory.h"
#include "server/settings.h"

/* A pointer to the server's own allocation stands before each of ours. The server's
 * allocator aligns to 16. */
static void *aligned_new(size_t size, size_t align)
{
    const size_t room = align <= 16 ? 16 : align + sizeof(void *);
    if (size > PTRDIFF_MAX - room)
        return NULL;
    void *raw;
    if (RM_TryCalloc) {
        raw = RM_TryCalloc(1, size + room);
    } else {
        /* Calloc of Redis 7.0 aborts the server when memory is out, so only a size that
         * TryAlloc just gave is requested. */
        void *probe = RM_TryAlloc ? RM_TryAlloc(size + room) : NULL;
        if (RM_TryAlloc && !probe)
            return NULL;
        RM_Free(probe);
        raw = RM_Calloc(1, size + room);
    }
    if (!raw)
        return NULL;
    uintptr_t p = (uintptr_t)raw + 16;
    if (align > 16)
        p = ((uintptr_t)raw + room - 1) & ~(uintptr_t)(align - 1);
    ((void **)p)[-1] = raw;
    return (void *)p;
}

void *body_new(size_t size)
{
    return aligned_new(size, 64);
}

void body_free(void *p)
{
    if (p)
        RM_Free(((void **)p)[-1]);
}

static rm_ctx *limited;
static uint64_t held_bytes;
static bool refused;

void server_allowance_begin(rm_ctx *ctx, uint64_t held)
{
    limited = ctx;
    held_bytes = held;
    refused = false;
}

bool server_allowance_end(void)
{
    limited = NULL;
    return refused;
}

static void *allocate(void *ctx, size_t size, size_t align)
{
    if (align > 64)
        return NULL;
    /* The limit takes time to look up, so small allocations are not checked. */
    if (limited && size > 4096 && held_bytes + size > memory_limit(limited)) {
        refused = true;
        return NULL;
    }
    return aligned_new(size, align);
}

static void release(void *ctx, void *p, size_t size)
{
    body_free(p);
}

const seen_allocator server_allocator = {allocate, release, NULL};
