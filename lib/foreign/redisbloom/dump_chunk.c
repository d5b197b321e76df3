/* dump_chunk.c - finds the bytes that an iterator refers to. */
#include "foreign/redisbloom/dump_chunk.h"
#include "base/fail.h"
#include <string.h>

/* Returns the number of the array that contains byte *OFF of the string, and makes *OFF
 * the offset in that array; a->n if the string is shorter. */
static uint32_t find(const sn_dump_arrays *a, uint64_t *off, sn_dump_array *out)
{
    uint32_t i = 0;
    for (; i < a->n; i++) {
        *out = a->at(a->chain, i);
        if (*off < out->bytes)
            break;
        *off -= out->bytes;
    }
    return i;
}

int sn_dump_chunk(const sn_dump_arrays *a, uint64_t iter, const void **data, size_t *len,
                  uint64_t *next)
{
    if (iter < 1)
        return sn_fail(SEEN_EINVAL, "iterator 0 asks for the header");
    uint64_t off = iter - 1;
    sn_dump_array in;
    *data = "";
    *len = 0;
    *next = 0;
    if (find(a, &off, &in) < a->n) {
        uint64_t left = in.bytes - off;
        *len = left < SEEN_REDIS_CHUNK ? (size_t)left : SEEN_REDIS_CHUNK;
        *data = in.data + off;
        *next = iter + *len;
    }
    return SEEN_OK;
}

int sn_dump_load_chunk(const sn_dump_arrays *a, uint64_t iter, const void *data,
                       size_t len)
{
    if (iter < 1 || iter - 1 < len)
        return sn_fail(SEEN_ERANGE, "iterator %llu with %zu bytes: no %s there",
                       (unsigned long long)iter, len, a->what);
    uint64_t off = iter - 1 - len;
    sn_dump_array in;
    uint32_t i = find(a, &off, &in);
    if (i == a->n)
        return sn_fail(SEEN_ERANGE, "iterator %llu: no %s there",
                       (unsigned long long)iter, a->what);
    if (len > in.bytes - off)
        return sn_fail(SEEN_ETOOBIG, "%zu bytes at %llu of %s %u, which has %llu", len,
                       (unsigned long long)off, a->what, i,
                       (unsigned long long)in.bytes);
    memcpy(in.data + off, data, len);
    return SEEN_OK;
}
