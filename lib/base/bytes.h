/* bytes.h - fixed-width little-endian numbers in memory of any alignment. */
#ifndef SN_BYTES_H
#define SN_BYTES_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef __SIZEOF_INT128__
#error "libseen needs 128-bit integers, which compilers for 64-bit targets have"
#endif

static inline uint64_t sn_swap64(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(x);
#else
    return x;
#endif
}

static inline uint32_t sn_swap32(uint32_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(x);
#else
    return x;
#endif
}

static inline uint64_t sn_le64(const void *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return sn_swap64(x);
}

static inline uint32_t sn_le32(const void *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return sn_swap32(x);
}

static inline void sn_put64(void *p, uint64_t x)
{
    x = sn_swap64(x);
    memcpy(p, &x, 8);
}

static inline void sn_put32(void *p, uint32_t x)
{
    x = sn_swap32(x);
    memcpy(p, &x, 4);
}

/* Doubles are stored as the 64 bits of their IEEE form. */
static inline double sn_le_double(const void *p)
{
    uint64_t x = sn_le64(p);
    double d;
    memcpy(&d, &x, 8);
    return d;
}

static inline void sn_put_double(void *p, double d)
{
    uint64_t x;
    memcpy(&x, &d, 8);
    sn_put64(p, x);
}

/* Reads a word of a body while other threads may add to it; 8-byte aligned. */
static inline uint64_t sn_peek64(const void *p)
{
    return sn_swap64(__atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED));
}

/* True if all LEN bytes are zero, as in reserved fields and padding. */
static inline bool sn_all_zero(const void *bytes, uint64_t len)
{
    const uint8_t *p = bytes;
    while (len && *p == 0)
        p++, len--;
    return len == 0;
}

/* The high half of a 64 x 64 product: maps a hash evenly onto 0 .. n-1. */
static inline uint64_t sn_mulhi(uint64_t h, uint64_t n)
{
#if defined(__wasm__) /* there, 128 bits are a call and memory */
    uint64_t h0 = (uint32_t)h, h1 = h >> 32, n0 = (uint32_t)n, n1 = n >> 32;
    uint64_t middle = h1 * n0 + (h0 * n0 >> 32); /* cannot overflow */
    return h1 * n1 + (middle >> 32) + ((h0 * n1 + (uint32_t)middle) >> 32);
#else
    return (uint64_t)(((unsigned __int128)h * n) >> 64);
#endif
}
#endif
