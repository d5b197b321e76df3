/* sketch_bytes.c - the frame around the bytes of every sketch. */
#include "sketch/sketch_bytes.h"
#include "base/fail.h"
#include "hash/hash.h"
#include <inttypes.h>

uint8_t *sn_sketch_begin(uint8_t *buf, size_t len, const char *name,
                         const uint64_t *words, size_t n)
{
    memcpy(buf, name, SN_SKETCH_NAME);
    uint8_t *p = buf + SN_SKETCH_NAME;
    sn_put64(p, len);
    for (size_t i = 0; i < n; i++)
        sn_put64(p += 8, words[i]);
    return p + 8;
}

void sn_sketch_end(uint8_t *buf, size_t len)
{
    size_t at = len - SN_SKETCH_SUM;
    sn_put64(buf + at, sn_checksum(buf, at));
}

int sn_sketch_open(const void *bytes, size_t len, const char *name, uint64_t *words,
                   size_t n, const uint8_t **body, size_t *body_len)
{
    const uint8_t *p = bytes;
    if (len < SN_SKETCH_NAME || memcmp(p, name, SN_SKETCH_NAME - 2))
        return sn_fail(SEEN_EFORMAT, "these bytes do not begin with %.6s", name);
    if (p[SN_SKETCH_NAME - 1] != '\n' ||
        p[SN_SKETCH_NAME - 2] < name[SN_SKETCH_NAME - 2])
        return sn_fail(SEEN_EFORMAT, "the sketch has no version");
    if (p[SN_SKETCH_NAME - 2] > name[SN_SKETCH_NAME - 2])
        return sn_fail(SEEN_EVERSION, "version %c of %.6s is newer than this library",
                       p[SN_SKETCH_NAME - 2], name);
    if (len < sn_sketch_len(n, 0))
        return sn_fail(SEEN_EFORMAT, "a sketch of %zu bytes is cut short", len);
    uint64_t said = sn_le64(p + SN_SKETCH_NAME);
    if (said != len)
        return sn_fail(SEEN_EFORMAT,
                       "the sketch has %zu bytes but claims %" PRIu64, len, said);
    size_t at = len - SN_SKETCH_SUM;
    if (sn_checksum(p, at) != sn_le64(p + at))
        return sn_fail(SEEN_EDAMAGED, "the checksum of the sketch does not match");
    for (size_t i = 0; i < n; i++)
        words[i] = sn_le64(p + SN_SKETCH_NAME + 8 * (i + 1));
    *body = p + SN_SKETCH_NAME + 8 * (n + 1);
    *body_len = len - sn_sketch_len(n, 0);
    return SEEN_OK;
}

int sn_sketch_fits(uint64_t bytes, uint64_t max_bytes)
{
    if (max_bytes && bytes > max_bytes)
        return sn_fail(SEEN_ETOOBIG,
                       "the sketch needs %" PRIu64 " bytes, %" PRIu64 " are allowed",
                       bytes, max_bytes);
    return SEEN_OK;
}
