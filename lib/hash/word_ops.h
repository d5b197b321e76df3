/* word_ops.h - helpers of the older hashes: rotations, and the tail of a key. */
#ifndef SN_WORD_OPS_H
#define SN_WORD_OPS_H
#include "base/bytes.h"
#include <stddef.h>

/* The last N < 8 bytes as a number, the missing ones zero. */
static inline uint64_t sn_tail64(const uint8_t *p, size_t n)
{
    uint64_t w = 0;
    for (size_t i = 0; i < n; i++)
        w |= (uint64_t)p[i] << (8 * i);
    return w;
}

static inline uint32_t sn_rotl32(uint32_t x, int r)
{
    return x << r | x >> (32 - r);
}

static inline uint64_t sn_rotl64(uint64_t x, int r)
{
    return x << r | x >> (64 - r);
}

#endif
