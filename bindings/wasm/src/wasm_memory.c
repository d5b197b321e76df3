/* wasm_memory.c - malloc for a module with few and large pieces: first fit.
 *
 * A piece is 64 bytes of head and a body aligned to 64, as filters want it. Free pieces
 * form a list in the order of their addresses, and neighbours are joined, so that what is
 * freed can be had again as one. At its end the memory grows; when the engine refuses,
 * malloc says NULL and the library says SEEN_ENOMEM. Pieces are counted in dozens, so
 * walking the list is cheap. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define UNIT 64
#define PAGE 65536

typedef struct piece {
    size_t size; /* of the whole, a multiple of UNIT */
    struct piece *next;
} piece;

extern char __heap_base;
static piece *list;
static uintptr_t top; /* behind the last piece */

static void put_back(piece *p)
{
    piece **at = &list, *before = NULL;
    for (; *at && *at < p; at = &(*at)->next)
        before = *at;
    p->next = *at;
    *at = p;
    if (p->next && (char *)p + p->size == (char *)p->next) {
        p->size += p->next->size;
        p->next = p->next->next;
    }
    if (before && (char *)before + before->size == (char *)p) {
        before->size += p->size;
        before->next = p->next;
    }
}

/* At least SIZE more bytes behind the last piece, as a free one. */
static int grow(size_t size)
{
    if (!top)
        top = ((uintptr_t)&__heap_base + UNIT - 1) & ~(uintptr_t)(UNIT - 1);
    uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
    uint64_t short_of = top + (uint64_t)size > have ? top + (uint64_t)size - have : 0;
    size_t pages = (size_t)((short_of + PAGE - 1) / PAGE);
    if (pages && __builtin_wasm_memory_grow(0, pages) == (size_t)-1)
        return 0;
    /* (In bytes the whole memory may be 2^32: the end stays one unit below.) */
    uint64_t end = have + (uint64_t)pages * PAGE;
    end = end > UINT32_MAX ? UINT32_MAX & ~(uint64_t)(UNIT - 1) : end;
    piece *p = (piece *)top;
    p->size = (size_t)(end - top);
    top = (uintptr_t)end;
    put_back(p);
    return 1;
}

/* (Not malloc itself: the compiler would make calloc's malloc and memset a calloc.) */
static void *first_fit(size_t len)
{
    if (len > SIZE_MAX - 3 * UNIT)
        return NULL;
    size_t size = (len + 2 * UNIT - 1) & ~(size_t)(UNIT - 1);
    for (int tries = 0; tries < 2; tries++) {
        for (piece **at = &list, *p; (p = *at); at = &p->next) {
            if (p->size < size)
                continue;
            if (p->size - size < 2 * UNIT) {
                *at = p->next;
            } else {
                piece *rest = (piece *)((char *)p + size);
                rest->size = p->size - size;
                rest->next = p->next;
                *at = rest;
                p->size = size;
            }
            return (char *)p + UNIT;
        }
        if (!grow(size))
            break;
    }
    return NULL;
}

void *malloc(size_t len)
{
    return first_fit(len);
}

void free(void *body)
{
    if (body)
        put_back((piece *)((char *)body - UNIT));
}

void *calloc(size_t n, size_t size)
{
    uint64_t len = (uint64_t)n * size;
    void *p = len > SIZE_MAX ? NULL : first_fit((size_t)len);
    return p ? memset(p, 0, (size_t)len) : NULL;
}

/* ---- what wasi-libc does without the instructions for it ------------------------- */

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    __builtin_memcpy(to, from, len);
    return to;
}

void *memmove(void *to, const void *from, size_t len)
{
    __builtin_memmove(to, from, len);
    return to;
}

void *memset(void *to, int byte, size_t len)
{
    __builtin_memset(to, byte, len);
    return to;
}
