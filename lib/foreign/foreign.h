/* foreign.h - what another system's filter is to the rest of the library.
 *
 * A format is a const table: a probe rule (which bits a key touches) and a container
 * (where the bits and the numbers stand in the file). The container is held as one
 * piece of memory, bits are asked and set where they stand, and writing back is
 * writing that piece. Formats know nothing of files or handles: lib/filter opens,
 * maps and saves. */
#ifndef SN_FOREIGN_H
#define SN_FOREIGN_H
#include "base/memory.h"
#include "foreign/untrusted_header.h"
#include "seen.h"

#define SN_MAX_PROBES 4096 /* 1e-308 asks for 1024; more is a broken header */
#define SN_MAX_SEEDS 64

typedef struct sn_foreign sn_foreign;
typedef struct sn_format sn_format;

/* Probe rules. Two filters with the same rule, modulus, k and seeds have the same bits
 * for the same keys, whatever their containers. */
typedef enum sn_rule {
    SN_RULE_OWN = 0, /* no plain bit array: shared with nobody */
    SN_RULE_LEVELDB,
    SN_RULE_MITZ32,
    SN_RULE_MITZ64,
    SN_RULE_SBBF,
    SN_RULE_SBBF_V0,
    SN_RULE_MURMUR64A,
    SN_RULE_MURMUR2_64,
    SN_RULE_MURMUR2_32,
    SN_RULE_MMH3_SIGNED,
    SN_RULE_MMH3_UNSIGNED,
    SN_RULE_POLYNOMIAL,
    SN_RULE_BLOOM_GO,
    SN_RULE_DCSO,
    SN_RULE_FNV_SPLIT,
    SN_RULE_CRC_SHIFT
} sn_rule;

/* How a key becomes the bytes that are hashed; see keytype.h. */
typedef enum sn_keytype {
    SN_KEY_BYTES = 0,
    SN_KEY_UTF8,
    SN_KEY_UTF16,
    SN_KEY_INT32,
    SN_KEY_INT64,
    SN_KEY_FLOAT,
    SN_KEY_DOUBLE,
    SN_KEY_TYPES
} sn_keytype;

/* Where bits stand: bit i is bit (i & 7) ^ flip_bit of byte (i >> 3) ^ flip_byte.
 * Both 0: least significant first. flip_bit 7: most significant first (Redis).
 * flip_byte 7: in big-endian 64-bit words (Java, Go). */
typedef struct sn_bits {
    uint8_t *at;
    uint64_t have;    /* bytes there; what lies beyond reads as 0 */
    uint64_t m;       /* modulus */
    uint64_t inverse; /* of m, for sn_bits_mod; set after opening */
    uint32_t k;
    uint8_t flip_byte, flip_bit;
} sn_bits;

struct sn_foreign {
    const sn_format *format;
    seen_allocator alloc;
    sn_keytype type;

    /* The container. */
    uint8_t *file;
    uint64_t len, room; /* used and allocated */
    bool owned;         /* allocated by us: it may grow */
    bool writable, dirty;

    /* Formats with a plain bit array. */
    sn_rule rule;
    sn_bits bits;
    uint32_t seeds[SN_MAX_SEEDS], nseeds;

    /* What the container says of itself; 0: nothing. */
    uint64_t capacity, added;
    bool counted; /* added is the whole truth, not only what came since opening */
    double error;
    uint32_t layers;

    void *own; /* the format's own structure */
};

typedef struct sn_sink {
    int (*put)(void *ctx, const void *p, size_t len); /* SEEN_OK or an error */
    void *ctx;
} sn_sink;

struct sn_format {
    seen_format pub;
    unsigned types; /* keytypes it knows, 1 << SN_KEY_...; bytes are always known */

    /* Whether these bytes are one, certainly enough to open them unasked. NULL: the
     * bytes do not show it. */
    bool (*recognises)(const uint8_t *p, uint64_t len);

    /* f->file and f->len hold the container: checks it whole and fills in the rest.
     * PARAMS is never NULL. SEEN_EFORMAT names the field. */
    int (*open)(sn_foreign *f, const seen_params *params);

    /* Makes an empty container with sn_foreign_room and fills in as open does. */
    int (*create)(sn_foreign *f, const seen_params *params);

    /* found[i] = whether keys[i] is in. */
    void (*has)(const sn_foreign *f, const seen_key *keys, size_t n, bool *found);

    /* Adds in order and sets dup[i]; returns how many were taken, fewer than N with
     * the reason in *rc. NULL: opens read-only. */
    size_t (*add)(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc);

    /* Below: NULL where the plain way serves. */
    int (*remove)(sn_foreign *f, const void *key, size_t len);
    int (*write)(const sn_foreign *f, const sn_sink *to); /* NULL: the bytes as held */
    void (*sync)(sn_foreign *f); /* counts into the header of a mapped file */
    void (*stats)(const sn_foreign *f, seen_stats *out);
    int (*describe)(const sn_foreign *f, char *buf, size_t size); /* after the name */
    void (*close)(sn_foreign *f);
};

/* All formats, in the order in which they are tried. */
extern const sn_format *const sn_formats[];
extern const unsigned sn_formats_n;
const sn_format *sn_format_named(const char *name);
const sn_format *sn_format_of(const uint8_t *p,
                              uint64_t len); /* NULL: not recognised */

/* Opens the container in BYTES. NAME NULL: recognise it. With OWNED the bytes came from
 * sn_body_alloc and belong to F from then on, but not if this fails. */
int sn_foreign_open(uint8_t *bytes, uint64_t len, bool owned, bool writable,
                    const char *name, const seen_params *params,
                    const seen_allocator *alloc, sn_foreign **out);
int sn_foreign_new(const char *name, const seen_params *params,
                   const seen_allocator *alloc, sn_foreign **out);
void sn_foreign_free(sn_foreign *f);

/* Keys as the caller has them, any number. */
void sn_foreign_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found);
size_t sn_foreign_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup,
                      int *rc);
int sn_foreign_remove(sn_foreign *f, const void *key, size_t len);
int sn_foreign_write(const sn_foreign *f, const sn_sink *to);
void sn_foreign_stats(const sn_foreign *f, seen_stats *out);
int sn_foreign_describe(const sn_foreign *f, char *buf, size_t size);

/* Adds to DST the keys of SRC: the OR of the bits, where both have the same rule, m, k
 * and order. SEEN_EMISMATCH says what differs. */
int sn_foreign_merge(sn_foreign *dst, const sn_foreign *src);

/* The same bits in the container of format NAME, if its rule can be the same;
 * SEEN_EKIND and the remedy otherwise. */
int sn_foreign_convert(const sn_foreign *f, const char *name, sn_foreign **out);

/* ---- for the formats ------------------------------------------------------------ */

/* Makes room for LEN bytes of container, new ones zero, and sets f->len; offsets stay,
 * pointers into f->file do not. SEEN_EFULL if the memory is another's. */
int sn_foreign_room(sn_foreign *f, uint64_t len);

/* Checks k and m that came from outside. */
int sn_check_km(uint64_t k, uint64_t m);

/* Whether PARAMS has keys and an error that a size can be computed from. */
bool sn_keys_and_error(const seen_params *params);
/* SEEN_EINVAL: FORMAT is not made without WHAT. */
int sn_needs(const char *format, const char *what);
/* *M = BITS, as a formula computed them; SEEN_ETOOBIG if no memory has so many. */
int sn_bits_from(double bits, uint64_t *m);

/* The bits set in N bytes. */
uint64_t sn_bits_set(const uint8_t *p, uint64_t n);
/* The keys that K probes for each have FILLed so much of M bits. */
double sn_keys_behind(double fill, double m, double k);

/* The bytes of a raw array of m bits. */
static inline uint64_t sn_bytes_of(uint64_t m)
{
    return m / 8 + (m % 8 != 0);
}

static inline uint64_t sn_be64(const uint8_t *p)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x = x << 8 | p[i];
    return x;
}

static inline void sn_put_be64(uint8_t *p, uint64_t x)
{
    for (int i = 7; i >= 0; i--, x >>= 8)
        p[i] = (uint8_t)x;
}

extern const sn_format sn_fmt_leveldb, sn_fmt_leveldb_block, sn_fmt_leveldb_table,
    sn_fmt_guava, sn_fmt_guava32, sn_fmt_parquet, sn_fmt_parquet_v0,
    sn_fmt_parquet_file, sn_fmt_redisbloom, sn_fmt_rediscuckoo, sn_fmt_redis_bitmap,
    sn_fmt_scrapy, sn_fmt_bloom_go, sn_fmt_bloom_go_le, sn_fmt_bloom_go_json,
    sn_fmt_dcso, sn_fmt_libbloom, sn_fmt_libbloom1, sn_fmt_fnv_split,
    sn_fmt_crc32_shift, sn_fmt_mmh3_17;
#endif
