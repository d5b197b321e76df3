/* cuckoo_bucket.h - four fingerprints of k+1 bits in 4k bits.
 *
 * The order of the four in a bucket means nothing, and what means nothing need not
 * be stored: sorted, their top nibbles are one of 3876 multisets, 12 bits instead
 * of 16. The bit a slot that this saves goes into the fingerprint and halves the
 * error. A bucket is, from its lowest bit: the 12-bit rank of the nibbles
 * a <= b <= c <= d, C(a,1) + C(b+1,2) + C(c+2,3) + C(d+3,4), then for each of the
 * four, in that order, its low k-3 bits. Zero is an empty slot, so an empty bucket
 * is zero bits; equal buckets have equal bits. */
#ifndef SN_CUCKOO_BUCKET_H
#define SN_CUCKOO_BUCKET_H
#include "base/bytes.h"
#include <stdbool.h>

/* Ranks to nibbles, lowest first; ranks that no bucket has are all zero, so that a
 * hostile body reads as nonsense and not as memory beyond the table. */
extern uint16_t sn_cuckoo_nibbles[4096];

#define SN_CUCKOO_INLINE static inline __attribute__((always_inline))

typedef struct sn_bucket {
    uint64_t v[4]; /* ascending; 0: empty */
} sn_bucket;

/* The bits of a bucket; K is a constant wherever this is inlined. */
SN_CUCKOO_INLINE unsigned __int128 sn_bucket_bits(const uint8_t *p, unsigned k)
{
    switch (k) {
    case 8:
        return sn_le32(p);
    case 12:
        return sn_le32(p) | (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40;
    case 16:
        return sn_le64(p);
    case 24:
        return sn_le64(p) | (unsigned __int128)sn_le32(p + 8) << 64;
    default:
        return sn_le64(p) | (unsigned __int128)sn_le64(p + 8) << 64;
    }
}

SN_CUCKOO_INLINE sn_bucket sn_bucket_load(const uint8_t *p, unsigned k)
{
    unsigned __int128 x = sn_bucket_bits(p, k);
    unsigned low = k - 3, nibbles = sn_cuckoo_nibbles[(unsigned)x & 0xfff];
    uint64_t mask = ((uint64_t)1 << low) - 1;
    sn_bucket b;
    for (unsigned i = 0; i < 4; i++)
        b.v[i] = (uint64_t)(nibbles >> (4 * i) & 15) << low |
                 ((uint64_t)(x >> (12 + i * low)) & mask);
    return b;
}

/* How many of the four are V. Looks at the low bits first: for an absent key they
 * hardly ever agree, and then the nibbles need not be decoded. */
SN_CUCKOO_INLINE unsigned sn_bucket_count(const uint8_t *p, unsigned k, uint64_t v)
{
    unsigned __int128 x = sn_bucket_bits(p, k);
    unsigned low = k - 3, equal = 0;
    uint64_t mask = ((uint64_t)1 << low) - 1;
    if (k <= 16) { /* a lane of zeros in the difference, all four lanes at once */
        uint64_t ones = (uint64_t)1 | (uint64_t)1 << low | (uint64_t)1 << 2 * low |
                        (uint64_t)1 << 3 * low;
        uint64_t diff = (uint64_t)x >> 12 ^ (v & mask) * ones;
        if (__builtin_expect(!((diff - ones) & ~diff & ones << (low - 1)), 1))
            return 0;
    }
    for (unsigned i = 0; i < 4; i++)
        equal |= (unsigned)(((uint64_t)(x >> (12 + i * low)) & mask) == (v & mask))
                 << i;
    if (__builtin_expect(equal == 0, 1))
        return 0;
    unsigned nibbles = sn_cuckoo_nibbles[(unsigned)x & 0xfff], count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += (equal >> i & 1) && (nibbles >> (4 * i) & 15) == v >> low;
    return count;
}

/* Writes B, whose values may stand in any order. */
SN_CUCKOO_INLINE void sn_bucket_store(uint8_t *p, unsigned k, sn_bucket b)
{
#define ORDER(i, j)                                                                    \
    do {                                                                               \
        uint64_t small_ = b.v[i] < b.v[j] ? b.v[i] : b.v[j];                           \
        b.v[j] ^= b.v[i] ^ small_;                                                     \
        b.v[i] = small_;                                                               \
    } while (0)
    ORDER(0, 1);
    ORDER(2, 3);
    ORDER(0, 2);
    ORDER(1, 3);
    ORDER(1, 2);
#undef ORDER
    unsigned low = k - 3;
    uint64_t mask = ((uint64_t)1 << low) - 1;
    unsigned c1 = (unsigned)(b.v[0] >> low), c2 = (unsigned)(b.v[1] >> low) + 1,
             c3 = (unsigned)(b.v[2] >> low) + 2, c4 = (unsigned)(b.v[3] >> low) + 3;
    unsigned __int128 x = c1 + c2 * (c2 - 1) / 2 + c3 * (c3 - 1) * (c3 - 2) / 6 +
                          c4 * (c4 - 1) * (c4 - 2) * (c4 - 3) / 24;
    for (unsigned i = 0; i < 4; i++)
        x |= (unsigned __int128)(b.v[i] & mask) << (12 + i * low);
    uint8_t bytes[16];
    sn_put64(bytes, (uint64_t)x);
    sn_put64(bytes + 8, (uint64_t)(x >> 64));
    memcpy(p, bytes, k / 2);
}
#endif
