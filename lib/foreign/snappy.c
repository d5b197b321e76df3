/* snappy.c - Snappy's block format: literals, and copies of earlier output. */
#include "foreign/snappy.h"
#include "base/fail.h"
#include "seen.h"
#include <string.h>

static int varint(const uint8_t **p, const uint8_t *end, uint64_t *x)
{
    *x = 0;
    for (int shift = 0; shift < 35 && *p < end; shift += 7) {
        uint8_t b = *(*p)++;
        *x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return 1;
    }
    return 0;
}

/* No element gives more than 64 bytes for 3: a larger length must be false. */
uint64_t sn_snappy_len(const uint8_t *p, uint64_t len)
{
    const uint8_t *at = p;
    uint64_t n;
    return varint(&at, p + len, &n) && n <= len * 22 ? n : UINT64_MAX;
}

int sn_snappy_unpack(const uint8_t *p, uint64_t len, uint8_t *out, uint64_t out_len)
{
    const uint8_t *end = p + len;
    uint64_t n, done = 0;
    if (!varint(&p, end, &n) || n != out_len)
        return sn_fail(SEEN_EFORMAT, "a compressed block of the wrong length");
    while (p < end) {
        uint8_t tag = *p++;
        uint64_t size = tag >> 2, back = 0;
        uint64_t extra = (tag & 3) == 1   ? 1
                         : (tag & 3) == 2 ? 2
                         : (tag & 3) == 3 ? 4
                         : size >= 60     ? size - 59
                                          : 0;
        if (extra > (uint64_t)(end - p))
            return sn_fail(SEEN_EFORMAT, "a compressed block is truncated");
        for (uint64_t i = 0; i < extra; i++)
            back |= (uint64_t)p[i] << (8 * i);
        p += extra;
        if ((tag & 3) == 0) {
            size = (extra ? back : size) + 1;
            if (size > (uint64_t)(end - p) || size > out_len - done)
                return sn_fail(SEEN_EFORMAT, "a compressed block: a literal too long");
            memcpy(out + done, p, size);
            p += size;
            done += size;
            continue;
        }
        if ((tag & 3) == 1) {
            size = 4 + (tag >> 2 & 7);
            back |= (uint64_t)(tag >> 5) << 8;
        } else {
            size++;
        }
        if (back == 0 || back > done || size > out_len - done)
            return sn_fail(SEEN_EFORMAT, "a compressed block: a copy from outside");
        for (; size; size--, done++)
            out[done] = out[done - back];
    }
    return done == out_len ? SEEN_OK
                           : sn_fail(SEEN_EFORMAT, "a compressed block is too short");
}
