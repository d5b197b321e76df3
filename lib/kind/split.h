/* split.h - where the bits of a key are in its block; shared by the variants.
 *
 * Parquet's split block: block ((h >> 32) * blocks) >> 32 of 32 bytes, eight
 * little-endian 32-bit words, and in word i bit ((uint32_t)h * salt[i]) >> 27. */
#ifndef SN_SPLIT_H
#define SN_SPLIT_H
#include "kind/kind.h"
#include "base/bytes.h"

static const uint32_t sn_split_salt[8] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
    0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
};

static inline uint8_t *sn_split_at(const sn_layer *l, uint64_t h)
{
    return l->body + 32 * (((h >> 32) * l->shape.units) >> 32);
}

static inline void sn_split_prefetch(const sn_layer *l, const uint64_t *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        SN_FETCH(sn_split_at(l, h[i]));
}

extern const sn_variant sn_split_avx2, sn_split_neon;
#endif
