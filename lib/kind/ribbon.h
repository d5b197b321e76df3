/* ribbon.h - where the bits of a key lie in a ribbon; shared by the twins of ribbon.c
 * and by ribbon_solve.c.
 *
 * A static filter that solves linear equations: each key picks 64 neighbouring slots
 * and a random subset of them, and the slots are filled so that their XOR is the
 * key's fingerprint of r bits. A slot is r bits, so a key costs r bits, if only
 * nearly every slot is used. Words are 64 bits, little-endian.
 *
 *   slots      lie in segments of 64. A segment is r words, word j holding bit j of
 *              its 64 slots; a key reads its segment and the next.
 *   fractions  the first `wide` segments of a level have r + 1 words: 0, or one more
 *              than the segments whose keys have fingerprints of r + 1 bits.
 *   levels     Level 1 has fewer slots than keys, so that nearly all get used. Keys of
 *              one bucket (128 slots) that do not fit are bumped to the next level: all
 *              with a start below a threshold that two bits a bucket choose. The last
 *              level has room for all. Every level ends with a segment in which no key
 *              starts.
 *   shards     are chosen by the first bits of the hash and solved alone: with a few
 *              megabytes each, on any core.
 *
 * Body: the shards, then the table, for each shard 8 words:
 *   0  word of the body where level 1's segments begin
 *   1  word of the body where level 1's thresholds begin
 *   2-5  segments (u32; the last, empty one not counted) and `wide` (u32) of each level
 *   6  salt; 0 unless the plain hash could not be solved
 *   7  keys
 * Behind level 1's segments follow thresholds and segments of level 2, of level 3, and
 * the segments of level 4, which bumps nothing. Thresholds are a word for each started
 * 32 buckets. A level of 0 segments is not there and passes its keys on. */
#ifndef SN_RIBBON_H
#define SN_RIBBON_H
#include "kind/kind.h"
#include "base/bytes.h"
#include "hash/hash.h"

#define SN_RIBBON_LEVELS 4
#define SN_RIBBON_RMAX 32
#define SN_RIBBON_ENTRY 64 /* bytes of a shard in the table */

enum { SN_RIBBON_WORDS = 0, SN_RIBBON_SHARE = 1 }; /* in shape.own; share of 2^32 */

/* What a key is to a ribbon. m = remix(h) chooses the shard and orders the keys;
 * all else follows from M, which is m unless the shard has a salt. */
typedef struct sn_ribbon_key {
    uint64_t place;  /* position in the level, as a fraction of 2^64 */
    uint64_t print;  /* 33 bits of fingerprint */
    uint64_t subset; /* of 64 slots; the first is in it */
} sn_ribbon_key;

static inline uint64_t sn_ribbon_salted(uint64_t m, uint64_t salt)
{
    return salt ? sn_remix(sn_remix(m ^ salt)) : m;
}

/* In level 1; BITS of m have chosen the shard. */
static inline sn_ribbon_key sn_ribbon_key_of(uint64_t M, unsigned bits, uint64_t salt)
{
    uint64_t g = sn_remix(M), c = sn_remix(g);
    return (sn_ribbon_key){salt ? M : M << bits, g >> 31, c | 1};
}

/* The position of the same key in level LEVEL (2, 3, 4). */
static inline uint64_t sn_ribbon_place(const sn_ribbon_key *k, unsigned level)
{
    uint64_t z = k->subset ^ k->print;
    for (unsigned i = 1; i < level; i++)
        z = sn_remix(z);
    return z;
}

static inline uint64_t sn_ribbon_shard(uint64_t m, unsigned bits)
{
    return m >> 1 >> (63 - bits);
}

static inline unsigned sn_ribbon_bits(const sn_shape *s)
{
    return (unsigned)__builtin_ctzll(s->units);
}

/* ---- a level ------------------------------------------------------------------ */

/* Starts below this are bumped, by the bucket's two bits. */
static inline unsigned sn_ribbon_threshold(unsigned code)
{
    return 0x80281000u >> (8 * code) & 0xff;
}

/* Words of thresholds and of slots. */
static inline uint64_t sn_ribbon_meta(uint64_t segments)
{
    return (segments + 63) / 64;
}

static inline uint64_t sn_ribbon_slots(uint64_t segments, uint64_t wide, uint64_t r)
{
    return segments ? (segments + 1) * r + wide : 0;
}

/* Where to look for one key. */
typedef struct sn_ribbon_spot {
    const uint8_t *at; /* its segment; NULL: the key is certainly absent */
    uint64_t lo, hi;   /* its subset of this segment and of the next */
    uint64_t print;
    unsigned used, stride; /* bits of fingerprint, words to the next segment */
} sn_ribbon_spot;

static inline sn_ribbon_spot sn_ribbon_look(const sn_ribbon_key *k,
                                            const uint8_t *slots, uint64_t pos,
                                            uint64_t wide, unsigned r)
{
    uint64_t seg = pos >> 6;
    unsigned o = pos & 63;
    return (sn_ribbon_spot){
        .at = slots + 8 * (seg * r + (seg < wide ? seg : wide)),
        .lo = k->subset << o,
        .hi = k->subset >> 1 >> (63 - o),
        .print = k->print,
        .used = r + (seg + 1 < wide),
        .stride = r + (seg < wide),
    };
}

/* Whether level bits at META bump the key at POS. */
static inline bool sn_ribbon_bumps(const uint8_t *meta, uint64_t pos)
{
    uint64_t bucket = pos >> 7;
    unsigned code = sn_le64(meta + (bucket >> 5) * 8) >> (2 * (bucket & 31)) & 3;
    return (pos & 127) < sn_ribbon_threshold(code);
}

/* The spot of a key that level 1 has bumped, or has not got. */
sn_ribbon_spot sn_ribbon_later(const uint8_t *body, const uint8_t *entry,
                               const sn_ribbon_key *k, unsigned r);

/* The spot of the key with m = remix(h), G = remix(m) and C = remix(g). */
static inline __attribute__((always_inline)) sn_ribbon_spot
sn_ribbon_spot_mixed(const sn_layer *l, unsigned bits, uint64_t m, uint64_t g,
                     uint64_t c)
{
    unsigned r = l->shape.k;
    const uint8_t *table = l->body + l->len - l->shape.units * SN_RIBBON_ENTRY;
    const uint8_t *e = table + sn_ribbon_shard(m, bits) * SN_RIBBON_ENTRY;
    uint64_t salt = sn_le64(e + 48);
    sn_ribbon_key k = {m << bits, g >> 31, c | 1};
    if (__builtin_expect(salt != 0, 0))
        k = sn_ribbon_key_of(sn_ribbon_salted(m, salt), bits, salt);
    uint64_t size = sn_le64(e + 16), segments = (uint32_t)size;
    uint64_t pos = sn_mulhi(k.place, segments << 6);
    if (__builtin_expect(
            !segments || sn_ribbon_bumps(l->body + 8 * sn_le64(e + 8), pos), 0))
        return sn_ribbon_later(l->body, e, &k, r);
    return sn_ribbon_look(&k, l->body + 8 * sn_le64(e), pos, size >> 32, r);
}

static inline __attribute__((always_inline)) sn_ribbon_spot
sn_ribbon_spot_of(const sn_layer *l, unsigned bits, uint64_t h)
{
    uint64_t m = sn_remix(h), g = sn_remix(m);
    return sn_ribbon_spot_mixed(l, bits, m, g, sn_remix(g));
}

/* Asks for the lines of a spot. */
static inline __attribute__((always_inline)) void
sn_ribbon_fetch(const sn_ribbon_spot *s)
{
    const uint8_t *end = s->at + 8 * (s->stride + s->used);
    for (const uint8_t *p = s->at; p < end; p += 64)
        SN_FETCH(p);
    SN_FETCH(end - 1);
}

/* found[i] = MATCH(spot of h[i]), the spots found and fetched AHEAD keys before they
 * are looked at. The thresholds are small and stay in the caches, so that the spot is
 * known, in whatever level, before its lines are asked for. A macro, because MATCH
 * must be compiled into it with the instructions of its caller. */
#define SN_RIBBON_AHEAD 32
#define SN_RIBBON_ASK(l, h, n, found, MATCH)                                           \
    do {                                                                               \
        sn_ribbon_spot ring_[SN_RIBBON_AHEAD];                                         \
        unsigned bits_ = sn_ribbon_bits(&(l)->shape);                                  \
        size_t first_ = (n) < SN_RIBBON_AHEAD ? (n) : SN_RIBBON_AHEAD;                 \
        for (size_t i_ = 0; i_ < first_; i_++) {                                       \
            ring_[i_] = sn_ribbon_spot_of(l, bits_, (h)[i_]);                          \
            if (ring_[i_].at)                                                          \
                sn_ribbon_fetch(ring_ + i_);                                           \
        }                                                                              \
        for (size_t i_ = 0; i_ < (n); i_++) {                                          \
            sn_ribbon_spot *s_ = ring_ + i_ % SN_RIBBON_AHEAD;                         \
            (found)[i_] = s_->at && MATCH(s_);                                         \
            if (i_ + SN_RIBBON_AHEAD < (n)) {                                          \
                *s_ = sn_ribbon_spot_of(l, bits_, (h)[i_ + SN_RIBBON_AHEAD]);          \
                if (s_->at)                                                            \
                    sn_ribbon_fetch(s_);                                               \
            }                                                                          \
        }                                                                              \
    } while (0)

#define SN_RIBBON_ONE(l, h, MATCH)                                                     \
    do {                                                                               \
        sn_ribbon_spot s_ = sn_ribbon_spot_of(l, sn_ribbon_bits(&(l)->shape), h);      \
        return s_.at && MATCH(&s_);                                                    \
    } while (0)

/* Twins; NULL where the instructions are not compiled in or not there. */
const sn_twin *sn_ribbon_x86(enum sn_simd simd);
void sn_ribbon_touch(const sn_layer *l, const uint64_t *h, size_t n);

/* ---- sizes --------------------------------------------------------------------- */

/* Keys that fit a level of one segment, on average: 4% more than slots. */
#define SN_RIBBON_LOAD (64 * 1.04)
/* Fewer keys than this go to the last level at once. */
#define SN_RIBBON_FEW 512
#define SN_RIBBON_SHARD ((uint64_t)1 << 20)

/* Shards for N keys of at most about MOST keys each, a power of two. */
uint64_t sn_ribbon_shards(double n, double most);

static inline uint64_t sn_ribbon_segments(uint64_t n, bool last)
{
    double want = (double)n / (last ? 64 / 1.1 : SN_RIBBON_LOAD);
    uint64_t whole = (uint64_t)want;
    return last ? whole + 1 : whole ? whole : 1;
}

/* Segments whose keys have one bit more, of SEGMENTS, as even as buckets; then the
 * number of wide segments that the level needs. */
static inline uint64_t sn_ribbon_wide(uint64_t segments, uint64_t share)
{
    uint64_t rich =
        (uint64_t)(((unsigned __int128)segments * share + 0xffffffffu) >> 32);
    rich += rich & 1;
    rich = rich < segments ? rich : segments;
    return rich ? rich + 1 : 0;
}

/* ---- solving (ribbon_solve.c) ---------------------------------------------------- */

typedef struct sn_ribbon_work sn_ribbon_work;

/* Scratch for shards, growing as needed; NULL if no memory. */
sn_ribbon_work *sn_ribbon_work_new(const seen_allocator *a);
void sn_ribbon_work_free(sn_ribbon_work *w);

/* Solves one shard for the N distinct M values, ascending, whose first BITS bits are
 * those of the shard. R and SHARE as in the shape. On success *WORDS (in W, until the
 * next call) are the *LEN words of the shard, a multiple of 8, and ENTRY its line of
 * the table with offsets from the start of the shard. SEEN_ENOMEM; SEEN_EINVAL if no
 * salt solves it, which good hashes make impossible. */
int sn_ribbon_solve(sn_ribbon_work *w, const uint64_t *m, uint64_t n, unsigned bits,
                    unsigned r, uint64_t share, const uint64_t **words, uint64_t *len,
                    uint64_t entry[8]);

/* Sorts N words that agree in their first BITS bits; SCRATCH has room for N. The result
 * is in A. Returns how many are left when equal ones are removed. */
uint64_t sn_ribbon_sort(uint64_t *a, uint64_t *scratch, uint64_t n, unsigned bits);

typedef struct sn_ribbon_row {
    uint64_t subset, print;
} sn_ribbon_row;
/* Slots from rows, last segment first: bits that make every row's XOR its print. OUT
 * has sn_ribbon_slots words, zeroed. */
typedef void sn_ribbon_fill(const sn_ribbon_row *rows, uint64_t segments, uint64_t wide,
                            unsigned r, uint64_t *out);
sn_ribbon_fill sn_ribbon_fill_scalar;
sn_ribbon_fill *sn_ribbon_fill_x86(void); /* NULL if not here */
#endif
