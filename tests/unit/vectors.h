/* vectors.h - the arithmetic of docs/format.md written again, and files as bytes: for
 * tests that read what the library writes without the library. */
#ifndef TESTS_VECTORS_H
#define TESTS_VECTORS_H
#include "seen.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static uint64_t mulhi(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static uint64_t remix(uint64_t h)
{
    uint64_t x = (h ^ (h >> 32)) * 0x9e3779b97f4a7c15u + 0xd1b54a32d192ed03u;
    return x ^ (x >> 29);
}

/* The file that seen_write sent, with LEN 0 before. */
static uint8_t *bytes;
static size_t len;
static int collect(void *ctx, const void *p, size_t n)
{
    (void)ctx;
    bytes = realloc(bytes, len + n);
    memcpy(bytes + len, p, n);
    len += n;
    return 0;
}
#endif
