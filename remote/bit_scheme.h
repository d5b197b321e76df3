/* bit_scheme.h - from a key to the bits it has in Redis strings; pure functions.
 *
 * Ours splits a filter over pieces by hash; the others are one string each, filled by
 * scripts that this code must agree with bit for bit. */
#ifndef SEEN_REDIS_BIT_SCHEME_H
#define SEEN_REDIS_BIT_SCHEME_H
#include "redis_url.h"
#include "seen.h"

typedef struct bit_scheme {
    int scheme;      /* SCHEME_OWN, SCHEME_MMH3, SCHEME_SCRAPY */
    uint32_t pieces; /* 1 for the others */
    uint64_t bits;   /* m of a piece */
    uint32_t probes; /* k */
    uint64_t seed;   /* ours */
    uint64_t base;   /* offset of bit 0: the mark of ours comes before */
    uint32_t seeds[64];
    bool is_unsigned;
} bit_scheme;

enum { MAX_PROBES = 64 };

/* The bits of KEY, as offsets into its piece; returns the piece. */
uint32_t scheme_bits(const bit_scheme *s, seen_key key, uint64_t *offset);

/* Shape of a filter of ours for KEYS and ERROR in PIECES (0: as suit; CLUSTER wants
 * many). False if it cannot be. */
bool scheme_shape(bit_scheme *s, uint64_t keys, double error, uint32_t pieces,
                  bool cluster);

#endif
