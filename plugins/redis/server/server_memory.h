/* server_memory.h - filter memory from the server's allocator, so that used_memory,
 * maxmemory and MEMORY USAGE know about it. Refuses instead of aborting. */
#ifndef SEEN_SERVER_MEMORY_H
#define SEEN_SERVER_MEMORY_H
#include "server/module_api.h"
#include "seen.h"

/* SIZE zeroed bytes at a multiple of 64, or NULL. Large ones are fresh pages, which
 * cost nothing until they are touched. Any thread may free them. */
void *body_new(size_t size);
void body_free(void *p);

/* The same for seen_spec.alloc. */
extern const seen_allocator server_allocator;

/* Between the two, memory that would take a filter of HELD bytes beyond the limit of
 * settings.h is refused; the end returns whether that happened. For structures that
 * grow by themselves. Main thread only. */
void server_allowance_begin(rm_ctx *ctx, uint64_t held);
bool server_allowance_end(void);

/* What free_effort answers for a value of so many bytes: 0 tells the server to free in
 * the background, whatever its threshold. */
static inline size_t free_effort(uint64_t bytes)
{
    return bytes > (uint64_t)64 << 10 ? 0 : 1;
}

#endif
