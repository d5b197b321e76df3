/* cuckoo_bucket.h - four fingerprints of k+1 bits in 4k bits, k from 4 to 32.
 *
 * The order of the four in a bucket means nothing and is not stored: sorted, their top
 * nibbles are one of 3876 multisets, 12 bits instead of 16. This saves a bit a slot,
 * which makes the fingerprint a bit longer and halves the error. A bucket is, from its
 * lowest bit: the 12-bit rank of the nibbles
 * a <= b <= c <= d, C(a,1) + C(b+1,2) + C(c+2,3) + C(d+3,4), then for each of the
 * four, in that order, its low k-3 bits. Zero is an empty slot, so an empty bucket
 * is zero bits; equal buckets have equal bits.
 *
 * Buckets have no gaps between them: bucket b starts at bit 4kb. Widths 4, 8, 16 and 32
 * fill cache lines evenly; with other widths some buckets cross into the next line,
 * which costs less than the 2 to 14% of bytes for padding to whole lines. Only aligned
 * words that hold bits of the bucket, or words inside it, are touched: one word more
 * could be in another line, which was not prefetched. */
#ifndef SN_CUCKOO_BUCKET_H
#define SN_CUCKOO_BUCKET_H
#include "base/bytes.h"
#include <stdbool.h>

/* Bytes after the last bucket that may be read. */
#define SN_BUCKET_PAD 8
#define SN_CUCKOO_INLINE static inline __attribute__((always_inline))

/* Maps ranks to nibbles, lowest first. Impossible ranks map to zero, so that a hostile
 * body gives wrong answers but never reads beyond the table. */
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

/* LEN bits from BIT on, at most 64; the bits above them are undefined. */
SN_CUCKOO_INLINE uint64_t sn_bits_at(const uint8_t *p, uint64_t bit, unsigned len)
{
    uint64_t first = sn_le64(p + 8 * (bit >> 6));
    uint64_t last = sn_le64(p + 8 * ((bit + len - 1) >> 6));
    return first >> (bit & 63) | last << 1 << (63 - (bit & 63));
}

/* If all LEN bits are in one word, the second step changes nothing. */
SN_CUCKOO_INLINE void sn_bits_put(uint8_t *p, uint64_t bit, unsigned len, uint64_t x)
{
    uint64_t mask = ~(uint64_t)0 >> (64 - len);
    uint8_t *last = p + 8 * ((bit + len - 1) >> 6);
    unsigned by = bit & 63;
    p += 8 * (bit >> 6);
    sn_put64(p, (sn_le64(p) & ~(mask << by)) | x << by);
    sn_put64(last, (sn_le64(last) & ~(mask >> 1 >> (63 - by))) | x >> 1 >> (63 - by));
}

/* The parts of a bucket: rank in the low 12 bits, two low parts, two low parts; the
 * bits above them are undefined. */
typedef struct sn_parts {
    uint64_t rank, x, y;
} sn_parts;

SN_CUCKOO_INLINE sn_parts sn_bucket_parts(const uint8_t *p, const sn_slots *s,
                                          uint64_t b)
{
    unsigned k = s->k, two = 2 * s->low;
    uint64_t bit = b * 4 * k;
    if (k <= 16) {
        uint64_t all = sn_bits_at(p, bit, 4 * k);
        return (sn_parts){all, all >> 12, all >> (12 + two)};
    }
    /* More than 8 bytes: three words inside the bucket, from its first byte, from its
     * second, and up to its last. A bucket starts at a byte or, with odd widths, in the
     * middle of one. */
    unsigned by = bit & 7, bytes = (k + 1) / 2;
    p += bit >> 3;
    return (sn_parts){sn_le32(p) >> by, sn_le64(p + 1) >> (by + 4),
                      sn_le64(p + bytes - 8) >> (by + 12 + two - 8 * (bytes - 8))};
}

SN_CUCKOO_INLINE unsigned sn_bucket_nibbles(const sn_parts *parts)
{
    return sn_cuckoo_nibbles[parts->rank & 0xfff];
}

/* Bucket B of the array at P. */
SN_CUCKOO_INLINE sn_bucket sn_bucket_load(const uint8_t *p, const sn_slots *s,
                                          uint64_t b)
{
    sn_parts at = sn_bucket_parts(p, s, b);
    uint64_t nibbles = sn_bucket_nibbles(&at);
    return (sn_bucket){{
        (nibbles & 15) << s->low | (at.x & s->mask),
        (nibbles >> 4 & 15) << s->low | (at.x >> s->low & s->mask),
        (nibbles >> 8 & 15) << s->low | (at.y & s->mask),
        (nibbles >> 12) << s->low | (at.y >> s->low & s->mask),
    }};
}

SN_CUCKOO_INLINE unsigned sn_bucket_count(const sn_bucket *b, uint64_t v)
{
    return (unsigned)(b->v[0] == v) + (b->v[1] == v) + (b->v[2] == v) + (b->v[3] == v);
}

/* Not 0 if bucket B may hold V, that is, if one of its fingerprints has V's low bits.
 * For an absent key this is rare, so the nibbles need not be decoded. Looks for a zero
 * part in the difference, two parts at once. */
SN_CUCKOO_INLINE uint64_t sn_bucket_hint(const uint8_t *p, const sn_slots *s,
                                         uint64_t b, uint64_t v)
{
    sn_parts at = sn_bucket_parts(p, s, b);
    uint64_t twice = (v & s->mask) * s->ones, x = at.x ^ twice, y = at.y ^ twice;
    return (((x - s->ones) & ~x) | ((y - s->ones) & ~y)) & s->ones << (s->low - 1);
}

/* Writes FOUR, whose values may be in any order. */
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
    uint64_t bit = b * 4 * s->k;
    uint64_t c1 = four.v[0] >> low, c2 = (four.v[1] >> low) + 1;
    uint64_t c3 = (four.v[2] >> low) + 2, c4 = (four.v[3] >> low) + 3;
    uint64_t rank = c1 + c2 * (c2 - 1) / 2 + c3 * (c3 - 1) * (c3 - 2) / 6 +
                    c4 * (c4 - 1) * (c4 - 2) * (c4 - 3) / 24;
    uint64_t x = (four.v[0] & s->mask) | (four.v[1] & s->mask) << low;
    uint64_t y = (four.v[2] & s->mask) | (four.v[3] & s->mask) << low;
    if (s->k <= 16) {
        sn_bits_put(p, bit, 4 * s->k, rank | x << 12 | y << (12 + 2 * low));
        return;
    }
    sn_bits_put(p, bit, 12, rank);
    sn_bits_put(p, bit + 12, 2 * low, x);
    sn_bits_put(p, bit + 12 + 2 * low, 2 * low, y);
}
#endif
