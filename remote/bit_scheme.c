/* bit_scheme.c - computes the bits of a key under our own scheme and those of
 * scripts. */
#include "bit_scheme.h"
#include "foreign/redisbloom/redisbloom.h"
#include <math.h>

/* Larger strings are slow to create, save and move; 512 MB is the limit of Redis. */
#define PIECE_BITS ((uint64_t)32 << 23)

void scheme_seed(bit_scheme *s, bool keyed, uint64_t seed, uint64_t seed_high)
{
    uint32_t hash = keyed ? SEEN_HASH_KEYED : SEEN_HASH_XXH3;
    seen_hasher_init(&s->first, hash, seed, seed_high);
    seen_hasher_init(&s->second, hash, seed ^ 0x9e3779b97f4a7c15u, seed_high);
}

/* Our own scheme has two hashes: the first selects the piece and the step, the second
 * the start. The probes step around a circle of 2^64 places, which is scaled down to
 * the bits of a piece. */
static uint32_t own_bits(const bit_scheme *s, seen_key key, uint64_t *offset)
{
    uint64_t h = seen_hasher_hash(&s->first, key.data, key.len);
    uint64_t g = seen_hasher_hash(&s->second, key.data, key.len);
    uint64_t step = (h << 32 | h >> 32) | 1;
    for (uint32_t i = 0; i < s->probes; i++)
        offset[i] =
            s->base + (uint64_t)(((unsigned __int128)(g + i * step) * s->bits) >> 64);
    return scheme_piece(s, h);
}

/* SETBIT key (mmh3.hash(item, seed) % m): the hash is signed, and Python's % takes the
 * sign of m. */
static uint64_t mmh3_bit(const bit_scheme *s, seen_key key, uint32_t seed)
{
    uint32_t h = seen_mmh3(key.data, key.len, seed);
    if (s->is_unsigned)
        return h % s->bits;
    int64_t r = (int64_t)(int32_t)h % (int64_t)s->bits;
    return (uint64_t)(r < 0 ? r + (int64_t)s->bits : r);
}

/* The next code point of UTF-8 text; an invalid byte is its own code point. */
static uint32_t next_char(const uint8_t **p, const uint8_t *end)
{
    const uint8_t *s = *p;
    unsigned c = *s, more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    *p = s + 1;
    if (!more || (size_t)(end - s) <= more || c >= 0xf8)
        return c;
    uint32_t v = c & (0x3fu >> more);
    for (unsigned i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return c;
        v = v << 6 | (s[i] & 0x3f);
    }
    *p = s + 1 + more;
    return v;
}

static uint64_t scrapy_bit(const bit_scheme *s, seen_key key, uint32_t seed)
{
    const uint8_t *p = key.data, *end = p + key.len;
    uint64_t h = 0;
    while (p < end)
        h = h * (seed + 1) + next_char(&p, end);
    return h & (s->bits - 1);
}

uint32_t scheme_bits(const bit_scheme *s, seen_key key, uint64_t *offset)
{
    if (s->scheme == SCHEME_OWN)
        return own_bits(s, key, offset);
    for (uint32_t i = 0; i < s->probes; i++)
        offset[i] = s->scheme == SCHEME_MMH3 ? mmh3_bit(s, key, s->seeds[i])
                                             : scrapy_bit(s, key, s->seeds[i]);
    return 0;
}

bool scheme_shape(bit_scheme *s, uint64_t keys, double error, uint32_t pieces,
                  bool cluster)
{
    uint64_t all = seen_classic_bits(keys, error), want = pieces;
    if (!want) {
        want = all / PIECE_BITS + 1;
        /* Many pieces are spread evenly over the nodes, if there are enough keys. */
        if (cluster && want < 64)
            want = keys > 64000 ? 64 : keys / 1000 + 1;
    }
    if (want > 65536)
        return false;
    /* Keys fall into pieces at random, so each has room for four standard deviations
     * more. */
    double each = (double)keys / (double)want;
    if (want > 1)
        each += 4 * sqrt(each);
    s->pieces = (uint32_t)want;
    s->bits = seen_classic_bits((uint64_t)ceil(each), error);
    s->probes = seen_classic_probes(s->bits, (uint64_t)ceil(each));
    s->base = 64;
    return s->bits && s->probes && s->probes <= MAX_PROBES &&
           s->bits + s->base <= (uint64_t)1 << 32;
}
