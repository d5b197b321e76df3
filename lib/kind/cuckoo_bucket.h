/* cuckoo_bucket.h - four fingerprints of k+1 bits in 4k bits, k from 4 to 32.
 *
 * The order of the four in a bucket means nothing, and what means nothing need not
 * be stored: sorted, their top nibbles are one of 3876 multisets, 12 bits instead
 * of 16. The bit a slot that this saves goes into the fingerprint and halves the
 * error. A bucket is, from its lowest bit: the 12-bit rank of the nibbles
 * a <= b <= c <= d, C(a,1) + C(b+1,2) + C(c+2,3) + C(d+3,4), then for each of the
 * four, in that order, its low k-3 bits. Zero is an empty slot, so an empty bucket
 * is zero bits; equal buckets have equal bits.
 *
 * Buckets lie bit to bit, bucket b from bit 4kb on: at a byte, or with an odd k at half
 * of one. Widths 4, 8, 16 and 32 fill cache lines evenly; of the others a bucket now
 * and then lies in two lines, which costs less than the 2 to 9% of bytes that whole
 * lines would. All is read as words of 64 bits that hold two low parts: memory goes on
 * for SN_BUCKET_PAD bytes behind the last bucket. */
#ifndef SN_CUCKOO_BUCKET_H
#define SN_CUCKOO_BUCKET_H
#include "base/bytes.h"
#include <stdbool.h>

#define SN_BUCKET_PAD 8
#define SN_CUCKOO_INLINE static inline __attribute__((always_inline))

/* Ranks to nibbles, lowest first; ranks that no bucket has are all zero, so that a
 * hostile body reads as nonsense and not as memory beyond the table. */
extern uint16_t sn_cuckoo_nibbles[4096];

typedef struct sn_bucket {
    uint64_t v[4]; /* ascending; 0: empty */
} sn_bucket;

/* The numbers of a width. */
typedef struct sn_slots {
    unsigned k, low; /* bits of a slot, and of a fingerprint below its nibble */
    uint64_t mask;   /* one low part */
    uint64_t ones;   /* the lowest bit of two low parts in one word */
} sn_slots;

SN_CUCKOO_INLINE sn_slots sn_slots_of(unsigned k)
{
    unsigned low = k - 3;
    return (sn_slots){k, low, ((uint64_t)1 << low) - 1, 1 | (uint64_t)1 << low};
}

/* The word that begins at BIT, short of the up to seven bits shifted out. */
SN_CUCKOO_INLINE uint64_t sn_bits_at(const uint8_t *p, uint64_t bit)
{
    return sn_le64(p + (bit >> 3)) >> (bit & 7);
}

SN_CUCKOO_INLINE void sn_bits_put(uint8_t *p, uint64_t bit, uint64_t mask, uint64_t x)
{
    unsigned by = bit & 7;
    p += bit >> 3;
    sn_put64(p, (sn_le64(p) & ~(mask << by)) | x << by);
}

/* Bits of the bucket from BIT on, as they are wanted below. */
SN_CUCKOO_INLINE unsigned sn_bucket_nibbles(const uint8_t *p, uint64_t bit)
{
    p += bit >> 3;
    return sn_cuckoo_nibbles[(p[0] | (unsigned)p[1] << 8) >> (bit & 7) & 0xfff];
}

SN_CUCKOO_INLINE uint64_t sn_bucket_lows(const uint8_t *p, const sn_slots *s,
                                         uint64_t bit, unsigned pair)
{
    return sn_bits_at(p, bit + 12 + 2 * pair * s->low);
}

/* Bucket B of those from P on. */
SN_CUCKOO_INLINE sn_bucket sn_bucket_load(const uint8_t *p, const sn_slots *s,
                                          uint64_t b)
{
    uint64_t bit = b * 4 * s->k, nibbles = sn_bucket_nibbles(p, bit);
    uint64_t x = sn_bucket_lows(p, s, bit, 0), y = sn_bucket_lows(p, s, bit, 1);
    return (sn_bucket){{
        (nibbles & 15) << s->low | (x & s->mask),
        (nibbles >> 4 & 15) << s->low | (x >> s->low & s->mask),
        (nibbles >> 8 & 15) << s->low | (y & s->mask),
        (nibbles >> 12) << s->low | (y >> s->low & s->mask),
    }};
}

SN_CUCKOO_INLINE unsigned sn_bucket_count(const sn_bucket *b, uint64_t v)
{
    return (unsigned)(b->v[0] == v) + (b->v[1] == v) + (b->v[2] == v) + (b->v[3] == v);
}

/* Not 0 if a fingerprint in bucket B may be V: if the low bits of one are V's. For an
 * absent key they hardly ever are, and then the nibbles need not be decoded. A part of
 * zeros in the difference, two parts at once. */
SN_CUCKOO_INLINE uint64_t sn_bucket_hint(const uint8_t *p, const sn_slots *s,
                                         uint64_t b, uint64_t v)
{
    uint64_t bit = b * 4 * s->k, twice = (v & s->mask) * s->ones;
    uint64_t x = sn_bucket_lows(p, s, bit, 0) ^ twice;
    uint64_t y = sn_bucket_lows(p, s, bit, 1) ^ twice;
    return (((x - s->ones) & ~x) | ((y - s->ones) & ~y)) & s->ones << (s->low - 1);
}

/* Writes FOUR, whose values may stand in any order. */
static inline void sn_bucket_store(uint8_t *p, const sn_slots *s, uint64_t b,
                                   sn_bucket four)
{
#define ORDER(i, j)                                                                    \
    do {                                                                               \
        uint64_t small_ = four.v[i] < four.v[j] ? four.v[i] : four.v[j];               \
        four.v[j] ^= four.v[i] ^ small_;                                               \
        four.v[i] = small_;                                                            \
    } while (0)
    ORDER(0, 1);
    ORDER(2, 3);
    ORDER(0, 2);
    ORDER(1, 3);
    ORDER(1, 2);
#undef ORDER
    unsigned low = s->low;
    uint64_t bit = b * 4 * s->k, both = s->mask << low | s->mask;
    uint64_t c1 = four.v[0] >> low, c2 = (four.v[1] >> low) + 1;
    uint64_t c3 = (four.v[2] >> low) + 2, c4 = (four.v[3] >> low) + 3;
    uint64_t rank = c1 + c2 * (c2 - 1) / 2 + c3 * (c3 - 1) * (c3 - 2) / 6 +
                    c4 * (c4 - 1) * (c4 - 2) * (c4 - 3) / 24;
    uint64_t x = (four.v[0] & s->mask) | (four.v[1] & s->mask) << low;
    uint64_t y = (four.v[2] & s->mask) | (four.v[3] & s->mask) << low;
    sn_bits_put(p, bit, 0xfff, rank);
    sn_bits_put(p, bit + 12, both, x);
    sn_bits_put(p, bit + 12 + 2 * low, both, y);
}
#endif
