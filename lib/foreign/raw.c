/* raw.c - bit arrays without a header: their length and their growth. */
#include "foreign/raw.h"
#include "hash/murmur3.h"

int sn_raw_open(sn_foreign *f, const seen_params *params, uint64_t m, uint64_t k,
                bool msb, bool short_ok)
{
    int rc = sn_check_km(k, m);
    if (rc < 0)
        return rc;
    if (f->len > sn_bytes_of(m) || (!short_ok && f->len != sn_bytes_of(m)))
        return sn_fail(SEEN_EFORMAT, "m = %llu bits are %llu bytes, the file has %llu",
                       (unsigned long long)m, (unsigned long long)sn_bytes_of(m),
                       (unsigned long long)f->len);
    if (params->flags & (SEEN_BITS_MSB | SEEN_BITS_LSB))
        msb = params->flags & SEEN_BITS_MSB;
    f->bits = (sn_bits){.at = f->file,
                        .have = f->len,
                        .m = m,
                        .k = (uint32_t)k,
                        .flip_bit = msb ? 7 : 0};
    return SEEN_OK;
}

int sn_raw_grow(sn_foreign *f, uint64_t bit)
{
    int rc = sn_foreign_room(f, (bit >> 3) + 1);
    if (rc < 0)
        return rc;
    f->bits.at = f->file;
    f->bits.have = f->len;
    return SEEN_OK;
}

uint64_t sn_mmh3_index(const void *key, size_t len, uint32_t seed, uint64_t m,
                       bool is_signed)
{
    uint32_t h = sn_murmur3_32(key, len, seed);
    if (!is_signed)
        return h % m;
    /* Python's %: the result has the sign of the divisor. */
    int64_t i = (int64_t)(int32_t)h % (int64_t)m;
    return (uint64_t)(i < 0 ? i + (int64_t)m : i);
}
