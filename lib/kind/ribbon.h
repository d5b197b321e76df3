/* ribbon.h - where the bits of a key are in a ribbon; shared by the variants of
 * ribbon.c and by ribbon_solve.c.
 *
 * A static filter that solves linear equations: each key selects 64 neighbouring slots
 * and a random subset of them, and the slots are filled so that the XOR of the subset
 * is the key's fingerprint of r bits. A slot has r bits, so a key costs r bits if
 * nearly every slot is used. Words have 64 bits, little-endian.
 *
 *   slots      are in segments of 64. A segment is r words; word j holds bit j of
 *              its 64 slots. A key reads its segment and the next.
 *   fractions  Keys in the first segments of a level are rich, the others poor. Rich
 *              keys read the first `wide` segments: 0, or one more than the segments
 *              that rich keys start in. In a filter of bits alone a rich key has r + 1
 *              bits and a wide segment r + 1 words.
 *   trits      A mix of r and r + 1 bits is up to 0.086 bits above the least possible.
 *              Where that matters, rich keys have r bits and one trit, log2(3) = 1.585
 *              bits, and poor ones r + e bits, e = 1 or 2: a mix of steps of 0.585 or
 *              0.415 bits, which costs at most 0.03. The trit of a key is the sum,
 *              modulo 3, of the subset's slots in a column of trits: 64 slots, starting
 *              at its start rounded down to a multiple of 5. Five trits are a byte,
 *              t0 + 3 t1 + 9 t2 + 27 t3 + 81 t4, and byte i follows the words of
 *              the segment of slot 5i + 4, so a key still reads one run of bytes.
 *              All columns bump the same keys. Poor keys start after rich ones, so
 *              segments from the last wide one on have r + e words.
 *   levels     Level 1 has fewer slots than keys, so that nearly all are used. If the
 *              keys of a bucket (128 slots) do not fit, those with a start below a
 *              threshold are bumped to the next level; two bits a bucket select the
 *              threshold. The last level has room for all. Every level ends with a
 *              segment in which no key starts.
 *   shards     The first bits of the hash select the shard. Each is solved separately,
 *              on any core, in a few megabytes.
 *
 * Body: the shards, then the table, for each shard 8 words:
 *   0  word of the body where level 1's segments begin
 *   1  word of the body where level 1's thresholds begin
 *   2-5  segments (u32; the last, empty one not counted) and `wide` (u32) of each level
 *   6  salt; 0 unless the plain hash could not be solved
 *   7  keys
 * After level 1's segments come thresholds and segments of level 2, of level 3, and
 * the segments of level 4, which bumps nothing. Thresholds take a word for every 32
 * buckets, rounded up. A level of 0 segments is absent and passes its keys on. */
#ifndef SN_RIBBON_H
#define SN_RIBBON_H
#include "kind/kind.h"
#include "base/bytes.h"
#include "hash/hash.h"

#define SN_RIBBON_LEVELS 4
#define SN_RIBBON_RMAX 32
#define SN_RIBBON_ENTRY 64 /* bytes of a shard in the table */

/* In shape.own. The low half of the word is the share of rich keys, of 2^32; the high
 * half is e, 0 if there are no trits. (A reader without trits refuses others.) */
enum { SN_RIBBON_WORDS = 0, SN_RIBBON_SHARE = 1 };

/* A key as a ribbon sees it. m = remix(h) selects the shard and orders the keys;
 * everything else follows from M, which is m unless the shard has a salt. */
typedef struct sn_ribbon_key {
    uint64_t place;  /* position in the level, as a fraction of 2^64 */
    uint64_t print;  /* 33 bits of fingerprint */
    uint64_t subset; /* of 64 slots; the first is in it */
    unsigned trit;
} sn_ribbon_key;

static inline unsigned sn_ribbon_trit(uint64_t g)
{
    return (unsigned)((g & 0x7fffffff) * 3 >> 31);
}

static inline uint64_t sn_ribbon_salted(uint64_t m, uint64_t salt)
{
    return salt ? sn_remix(sn_remix(m ^ salt)) : m;
}

/* The key in level 1; BITS bits of m have selected the shard. */
static inline sn_ribbon_key sn_ribbon_key_of(uint64_t M, unsigned bits, uint64_t salt)
{
    uint64_t g = sn_remix(M), c = sn_remix(g);
    return (sn_ribbon_key){salt ? M : M << bits, g >> 31, c | 1, sn_ribbon_trit(g)};
}

/* The position of the same key in any level. */
static inline uint64_t sn_ribbon_place(const sn_ribbon_key *k, unsigned level)
{
    uint64_t z = level > 1 ? k->subset ^ k->print : k->place;
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

/* Keys with a start below this are bumped; CODE is the bucket's two bits. */
static inline unsigned sn_ribbon_threshold(unsigned code)
{
    return 0x80281000u >> (8 * code) & 0xff;
}

/* Words of thresholds and of slots. */
static inline uint64_t sn_ribbon_meta(uint64_t segments)
{
    return (segments + 63) / 64;
}

/* True if a key that starts in segment G is rich. */
static inline bool sn_ribbon_rich(uint64_t g, uint64_t wide)
{
    return g + 1 < wide;
}

/* Words of segment G. */
static inline unsigned sn_ribbon_columns(uint64_t g, uint64_t wide, unsigned r,
                                         unsigned e)
{
    return e ? r + (sn_ribbon_rich(g, wide) ? 0 : e) : r + (g < wide);
}

/* The number of the first byte of trits in segment G, counted from slot 0. */
static inline uint64_t sn_ribbon_trits_at(uint64_t g)
{
    return (g << 6) / 5;
}

/* Bytes before segment G. */
static inline uint64_t sn_ribbon_at(uint64_t g, uint64_t wide, unsigned r, unsigned e)
{
    uint64_t in = g < wide ? g : wide;
    uint64_t poor = (g - wide + (wide > 0)) & -(uint64_t)!sn_ribbon_rich(g, wide);
    return e ? 8 * (g * r + poor * e) + sn_ribbon_trits_at(in) : 8 * (g * r + in);
}

/* Words of a level's slots. */
static inline uint64_t sn_ribbon_slots(uint64_t segments, uint64_t wide, unsigned r,
                                       unsigned e)
{
    return segments ? (sn_ribbon_at(segments + 1, wide, r, e) + 7) / 8 : 0;
}

#define SN_RIBBON_TRITS 13 /* bytes that hold the trits of a key */

/* Where to look for one key. */
typedef struct sn_ribbon_spot {
    const uint8_t *at; /* its segment; NULL: the key is certainly absent */
    uint64_t lo, hi;   /* its subset of this segment and of the next */
    uint64_t print;
    unsigned used, stride; /* bits of fingerprint, bytes to the next segment */
    unsigned far;          /* bytes to the trits of the next segment */
    unsigned trit;         /* 3: has none */
    unsigned near;         /* how many of the key's trit bytes end this segment */
} sn_ribbon_spot;

/* E is a constant 0 if a filter has no trits: then most of this is compiled out. */
static inline __attribute__((always_inline)) sn_ribbon_spot
sn_ribbon_look(const sn_ribbon_key *k, const uint8_t *slots, uint64_t pos,
               uint64_t wide, unsigned r, unsigned e)
{
    uint64_t seg = pos >> 6;
    unsigned o = pos & 63;
    bool rich = sn_ribbon_rich(seg, wide);
    sn_ribbon_spot s = {
        .at = slots + sn_ribbon_at(seg, wide, r, e),
        .lo = k->subset << o,
        .hi = k->subset >> 1 >> (63 - o),
        .print = k->print,
    };
    if (!e) {
        s.used = r + rich;
        s.stride = 8 * (r + (seg < wide));
        s.trit = 3;
        return s;
    }
    /* Without a branch, because whether a key is rich is random. */
    unsigned past = (unsigned)(pos % 5), poor = -(unsigned)!rich;
    unsigned near = (past + 64 - o) / 5, trits = near + (o + 4 - past) / 5;
    s.used = r + (e & poor);
    s.stride = 8 * s.used + (trits & -(unsigned)(seg < wide));
    s.far = s.stride + 8 * (r + (e & -(unsigned)(seg + 2 >= wide)));
    s.trit = k->trit | (3 & poor);
    s.near = near & ~poor;
    return s;
}

/* True if the thresholds at META bump the key at POS. */
static inline bool sn_ribbon_bumps(const uint8_t *meta, uint64_t pos)
{
    uint64_t bucket = pos >> 7;
    unsigned code = sn_le64(meta + (bucket >> 5) * 8) >> (2 * (bucket & 31)) & 3;
    return (pos & 127) < sn_ribbon_threshold(code);
}

/* The spot of any key. */
sn_ribbon_spot sn_ribbon_find(const sn_layer *l, const uint8_t *entry,
                              const sn_ribbon_key *k);

static inline unsigned sn_ribbon_extra(const sn_shape *s)
{
    return (unsigned)(s->own[SN_RIBBON_SHARE] >> 32);
}

/* The numbers of a layer that a lookup needs, in registers. E is a constant 0 if a
 * filter has no trits. */
typedef struct sn_ribbon_view {
    const sn_layer *l;
    const uint8_t *body, *table;
    unsigned bits, r, e;
} sn_ribbon_view;

static inline __attribute__((always_inline)) sn_ribbon_view
sn_ribbon_view_of(const sn_layer *l, unsigned e)
{
    const uint8_t *table = l->body + l->len - l->shape.units * SN_RIBBON_ENTRY;
    return (sn_ribbon_view){l,          l->body, table, sn_ribbon_bits(&l->shape),
                            l->shape.k, e};
}

/* The spot of the key with m = remix(h), G = remix(m) and C = remix(g). */
static inline __attribute__((always_inline)) sn_ribbon_spot
sn_ribbon_spot_mixed(sn_ribbon_view v, uint64_t m, uint64_t g, uint64_t c)
{
    const uint8_t *at = v.table + sn_ribbon_shard(m, v.bits) * SN_RIBBON_ENTRY;
    uint64_t salt = sn_le64(at + 48);
    sn_ribbon_key k = {m << v.bits, g >> 31, c | 1, v.e ? sn_ribbon_trit(g) : 0};
    if (__builtin_expect(salt != 0, 0))
        k = sn_ribbon_key_of(sn_ribbon_salted(m, salt), v.bits, salt);
    uint64_t size = sn_le64(at + 16), segments = (uint32_t)size;
    uint64_t pos = sn_mulhi(k.place, segments << 6);
    if (__builtin_expect(!segments ||
                             sn_ribbon_bumps(v.body + 8 * sn_le64(at + 8), pos),
                         0)) {
        sn_ribbon_key copy = k; /* so that k itself is never in memory */
        return sn_ribbon_find(v.l, at, &copy);
    }
    return sn_ribbon_look(&k, v.body + 8 * sn_le64(at), pos, size >> 32, v.r, v.e);
}

static inline __attribute__((always_inline)) sn_ribbon_spot
sn_ribbon_spot_of(sn_ribbon_view v, uint64_t h)
{
    uint64_t m = sn_remix(h), g = sn_remix(m);
    return sn_ribbon_spot_mixed(v, m, g, sn_remix(g));
}

/* A key's trits are 13 bytes: NEAR bytes from here on, then those from far_trits + NEAR
 * on. Reading 16 bytes at either stays inside the body, because the table follows, even
 * if a key has no trits. */
static inline const uint8_t *sn_ribbon_near_trits(const sn_ribbon_spot *s)
{
    return s->at + s->stride - s->near;
}
static inline const uint8_t *sn_ribbon_far_trits(const sn_ribbon_spot *s)
{
    return s->at + s->far - s->near;
}

static inline uint64_t sn_ribbon_subset(const sn_ribbon_spot *s)
{
    unsigned o = (unsigned)__builtin_ctzll(s->lo);
    return s->lo >> o | s->hi << 1 << (63 - o);
}

/* Prefetches the lines of a spot. */
static inline __attribute__((always_inline)) void
sn_ribbon_fetch(const sn_ribbon_spot *s, unsigned e)
{
    const uint8_t *end = s->at + s->stride + 8 * s->used;
    if (e)
        end += (SN_RIBBON_TRITS + 1) & -(uint64_t)(s->trit < 3);
    for (const uint8_t *p = s->at; p < end; p += 64)
        SN_FETCH(p);
    SN_FETCH(end - 1);
}

/* The trits of each byte: which are 1 in the low half, which are 2 in the high one. */
extern const uint16_t sn_ribbon_planes[256];

/* True if the trits of the subset add up to the key's. */
static inline bool sn_ribbon_trit_right(const sn_ribbon_spot *s)
{
    unsigned trit = s->trit;
    if (trit == 3)
        return true;
    const uint8_t *near = sn_ribbon_near_trits(s), *far = sn_ribbon_far_trits(s);
    uint64_t ones = 0, twos = 0, subset = sn_ribbon_subset(s);
    for (unsigned i = 0; i < SN_RIBBON_TRITS; i++) {
        unsigned byte = i < s->near ? near[i] : far[i];
        uint64_t planes = sn_ribbon_planes[byte];
        ones |= (planes & 31) << 5 * i;
        twos |= (planes >> 8) << 5 * i;
    }
    unsigned sum = (unsigned)__builtin_popcountll(ones & subset) +
                   2 * (unsigned)__builtin_popcountll(twos & subset);
    return sum % 3 == trit;
}

/* found[i] = MATCH(spot of h[i]); spots are computed and prefetched AHEAD keys before
 * they are tested. The thresholds are small and stay in the caches, so the spot is
 * known, in any level, before its lines are prefetched. A macro, because MATCH
 * must be compiled into it with the instructions of its caller. */
#define SN_RIBBON_AHEAD 32
#define SN_RIBBON_ASK(l, e, h, n, found, MATCH)                                        \
    do {                                                                               \
        sn_ribbon_spot ring_[SN_RIBBON_AHEAD];                                         \
        sn_ribbon_view view_ = sn_ribbon_view_of(l, e);                                \
        size_t first_ = (n) < SN_RIBBON_AHEAD ? (n) : SN_RIBBON_AHEAD;                 \
        for (size_t i_ = 0; i_ < first_; i_++) {                                       \
            ring_[i_] = sn_ribbon_spot_of(view_, (h)[i_]);                             \
            if (ring_[i_].at)                                                          \
                sn_ribbon_fetch(ring_ + i_, e);                                        \
        }                                                                              \
        for (size_t i_ = 0; i_ < (n); i_++) {                                          \
            sn_ribbon_spot *s_ = ring_ + i_ % SN_RIBBON_AHEAD;                         \
            (found)[i_] = s_->at && MATCH(s_);                                         \
            if (i_ + SN_RIBBON_AHEAD < (n)) {                                          \
                *s_ = sn_ribbon_spot_of(view_, (h)[i_ + SN_RIBBON_AHEAD]);             \
                if (s_->at)                                                            \
                    sn_ribbon_fetch(s_, e);                                            \
            }                                                                          \
        }                                                                              \
    } while (0)

#define SN_RIBBON_ONE(l, e, h, MATCH)                                                  \
    do {                                                                               \
        sn_ribbon_spot s_ = sn_ribbon_spot_of(sn_ribbon_view_of(l, e), h);             \
        return s_.at && MATCH(&s_);                                                    \
    } while (0)

/* Variants; NULL if the instructions are not compiled in or not available. */
const sn_variant *sn_ribbon_x86(enum sn_simd simd);
void sn_ribbon_prefetch(const sn_layer *l, const uint64_t *h, size_t n);

/* ---- sizes --------------------------------------------------------------------- */

/* Keys for a level of one segment, on average: 4% more than slots. */
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

/* The number of wide segments of a level: computes how many of SEGMENTS have rich keys,
 * in whole buckets, and if in doubt prefers the longer print. SHARE as in shape.own. */
static inline uint64_t sn_ribbon_wide(uint64_t segments, uint64_t share)
{
    uint64_t doubt = share >> 32 == 2 ? 0 : 0xffffffffu;
    uint64_t rich = (segments * (uint32_t)share + doubt) >> 32; /* of 2^32 at most */
    rich = doubt ? rich + (rich & 1) : rich & ~(uint64_t)1;
    rich = rich < segments ? rich : segments;
    return rich ? rich + 1 : 0;
}

/* ---- solving (ribbon_solve.c) ---------------------------------------------------- */

typedef struct sn_ribbon_work sn_ribbon_work;

/* Scratch memory for shards, grows as needed; NULL if there is no memory. */
sn_ribbon_work *sn_ribbon_work_new(const seen_allocator *a);
void sn_ribbon_work_free(sn_ribbon_work *w);

/* Solves one shard for the N distinct M values, ascending, whose first BITS bits are
 * those of the shard. R and SHARE as in the shape. On success *WORDS (in W, until the
 * next call) are the *LEN words of the shard, a multiple of 8, and ENTRY is its entry
 * in the table with offsets from the start of the shard. SEEN_ENOMEM; SEEN_EINVAL if no
 * salt solves it, which cannot happen with good hashes. */
int sn_ribbon_solve(sn_ribbon_work *w, const uint64_t *m, uint64_t n, unsigned bits,
                    unsigned r, uint64_t share, const uint64_t **words, uint64_t *len,
                    uint64_t entry[8]);

/* Sorts N words that agree in their first BITS bits and removes duplicates; SCRATCH has
 * room for N. The result is in A. Returns how many words are left. */
uint64_t sn_ribbon_sort(uint64_t *a, uint64_t *scratch, uint64_t n, unsigned bits);

typedef struct sn_ribbon_row {
    uint64_t subset, print;
} sn_ribbon_row;
/* Computes slots from rows, last segment first, so that the XOR of every row is its
 * print. OUT has the bytes of a level, zeroed. */
typedef void sn_ribbon_fill(const sn_ribbon_row *rows, uint64_t segments, uint64_t wide,
                            unsigned r, unsigned e, uint8_t *out);
sn_ribbon_fill sn_ribbon_fill_scalar;
sn_ribbon_fill *sn_ribbon_fill_x86(void); /* NULL if not here */

/* ---- trits (ribbon_trits.c) ------------------------------------------------------ */

/* A row over GF(3): the slots, from its own on, whose trit counts once and twice, and
 * the value of the sum, below 3 in a stored row. The first slot counts once; all 0: no
 * row. */
typedef struct sn_trit_row {
    uint64_t once, twice, sum;
} sn_trit_row;

/* A + B modulo 3, lane by lane; the sums are added but not reduced. */
sn_trit_row sn_trit_add(sn_trit_row a, sn_trit_row b);

/* Inserts the key's row from slot POS on; returns its slot, or UINT64_MAX if it depends
 * on the rows already in. */
uint64_t sn_trit_put(sn_trit_row *rows, uint64_t pos, const sn_ribbon_key *k);

/* Writes the trits of a level with WIDE wide segments that solve ROWS. */
void sn_trit_fill(const sn_trit_row *rows, uint64_t wide, unsigned r, unsigned e,
                  uint8_t *out);
#endif
