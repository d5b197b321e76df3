/* bit_scheme.h - which bits of which Redis string belong to a key; pure functions.
 *
 * Our own scheme splits a filter into pieces by hash. In the others a filter is a
 * single string, filled by scripts; this code must set the same bits. */
#ifndef SEEN_REDIS_BIT_SCHEME_H
#define SEEN_REDIS_BIT_SCHEME_H
#include "redis_url.h"
#include "seen.h"

typedef struct bit_scheme {
    int scheme;      /* SCHEME_OWN, SCHEME_MMH3, SCHEME_SCRAPY */
    uint32_t pieces; /* 1 unless SCHEME_OWN */
    uint64_t bits;   /* of a piece */
    uint32_t probes;
    seen_hasher first, second; /* SCHEME_OWN; the first also selects a module's piece */
    uint64_t base; /* offset of bit 0: the mark comes before it */
    uint32_t seeds[64];
    bool is_unsigned;
} bit_scheme;

enum { MAX_PROBES = 64 };

/* Sets the hash of our own scheme: keyed with both words, or, for filters of earlier
 * versions, XXH3 with SEED. */
void scheme_seed(bit_scheme *s, bool keyed, uint64_t seed, uint64_t seed_high);
/* The piece of a key whose first hash is H. */
static inline uint32_t scheme_piece(const bit_scheme *s, uint64_t h)
{
    return (uint32_t)(((unsigned __int128)h * s->pieces) >> 64);
}

/* The bits of KEY, as offsets into its piece; returns the piece. */
uint32_t scheme_bits(const bit_scheme *s, seen_key key, uint64_t *offset);

/* Sizes a filter of our own scheme for KEYS and ERROR in PIECES (0: chosen here; many
 * in a CLUSTER). False if no such filter is possible. */
bool scheme_shape(bit_scheme *s, uint64_t keys, double error, uint32_t pieces,
                  bool cluster);

#endif
