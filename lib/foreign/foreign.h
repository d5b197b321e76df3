/* foreign.h - other systems' filters, as the rest of the library sees them.
 *
 * A format is a const table: a probe rule (which bits a key touches) and a container
 * (where the file has its bits and numbers). The container is one piece of memory; bits
 * are tested and set in place, and writing the filter means writing that memory.
 * Formats know nothing of files or handles: lib/filter opens, maps and saves. */
#ifndef SN_FOREIGN_H
#define SN_FOREIGN_H
#include "base/memory.h"
#include "base/untrusted_header.h"
#include "seen.h"

#define SN_MAX_PROBES 4096 /* 1e-308 asks for 1024; more is a broken header */
#define SN_MAX_SEEDS 64

typedef struct sn_foreign sn_foreign;
typedef struct sn_format sn_format;

/* Probe rules. Two filters with the same rule, modulus, k and seeds have the same bits
 * for the same keys, whatever their containers. */
typedef enum sn_rule {
    SN_RULE_OWN = 0, /* no plain bit array: a rule of this format alone */
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

/* How a key becomes the bytes to hash; see keytype.h. */
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

/* The order of bits: bit i is bit (i & 7) ^ flip_bit of byte (i >> 3) ^ flip_byte.
 * Both 0: least significant first. flip_bit 7: most significant first (Redis).
 * flip_byte 7: in big-endian 64-bit words (Java, Go). */
typedef struct sn_bits {
    uint8_t *at;
    uint64_t have;    /* bytes present; bits beyond them read as 0 */
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

    /* Numbers recorded in the container; 0: not recorded. */
    uint64_t capacity, added;
    bool counted; /* added counts all keys, not only those since opening */
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
    unsigned types; /* accepted keytypes, 1 << SN_KEY_...; bytes are always accepted */

    /* True if these bytes have this format, with enough certainty to open them without
     * a name. NULL: the bytes do not show it. */
    bool (*recognises)(const uint8_t *p, uint64_t len);

    /* Checks the whole container in f->file and f->len and fills in the rest.
     * PARAMS is never NULL. SEEN_EFORMAT names the field. */
    int (*open)(sn_foreign *f, const seen_params *params);

    /* Makes an empty container with sn_foreign_room and fills in F as open does. */
    int (*create)(sn_foreign *f, const seen_params *params);

    /* found[i] is set if the filter has keys[i]. */
    void (*has)(const sn_foreign *f, const seen_key *keys, size_t n, bool *found);

    /* Adds in order and sets dup[i]; returns how many keys were added. If fewer than
     * N, *rc has the reason. NULL: opens read-only. */
    size_t (*add)(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc);

    /* The rest may be NULL: then the generic code is used. */
    int (*remove)(sn_foreign *f, const void *key, size_t len);
    int (*write)(const sn_foreign *f, const sn_sink *to); /* NULL: the bytes as held */
    void (*sync)(sn_foreign *f); /* writes counts to the header of a mapped file */
    void (*stats)(const sn_foreign *f, seen_stats *out);
    int (*describe)(const sn_foreign *f, char *buf, size_t size); /* after the name */
    void (*close)(sn_foreign *f);
};

/* All formats, in the order in which recognition tries them. */
extern const sn_format *const sn_formats[];
extern const unsigned sn_formats_n;
const sn_format *sn_format_named(const char *name);
const sn_format *sn_format_of(const uint8_t *p,
                              uint64_t len); /* NULL: not recognised */

/* Opens the container in BYTES. NAME NULL: recognise it. With OWNED the bytes came from
 * sn_body_alloc and belong to F, unless this fails. */
int sn_foreign_open(uint8_t *bytes, uint64_t len, bool owned, bool writable,
                    const char *name, const seen_params *params,
                    const seen_allocator *alloc, sn_foreign **out);
int sn_foreign_new(const char *name, const seen_params *params,
                   const seen_allocator *alloc, sn_foreign **out);
void sn_foreign_free(sn_foreign *f);

/* These take any number of keys, in the caller's form. */
int sn_foreign_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found);
size_t sn_foreign_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup,
                      int *rc);
int sn_foreign_remove(sn_foreign *f, const void *key, size_t len);
int sn_foreign_write(const sn_foreign *f, const sn_sink *to);
void sn_foreign_stats(const sn_foreign *f, seen_stats *out);
int sn_foreign_describe(const sn_foreign *f, char *buf, size_t size);

/* Adds the keys of SRC to DST: the OR of the bits, if both have the same rule, m, k
 * and order. SEEN_EMISMATCH says what differs. */
int sn_foreign_merge(sn_foreign *dst, const sn_foreign *src);

/* Puts the same bits into a container of format NAME, if its rule can be the same;
 * otherwise fails with SEEN_EKIND and says what to do instead. */
int sn_foreign_convert(const sn_foreign *f, const char *name, sn_foreign **out);

/* ---- for the formats ------------------------------------------------------------ */

/* Grows the container to LEN bytes, new ones zero, and sets f->len. Offsets stay valid,
 * pointers into f->file do not. SEEN_EFULL if F does not own the memory. */
int sn_foreign_room(sn_foreign *f, uint64_t len);

/* Checks k and m from untrusted input. */
int sn_check_km(uint64_t k, uint64_t m);

/* True if PARAMS has keys and an error from which a size can be computed. */
bool sn_keys_and_error(const seen_params *params);
/* Fails with SEEN_EINVAL: a new FORMAT needs WHAT. */
int sn_needs(const char *format, const char *what);
/* Sets *M to BITS, the result of a formula; SEEN_ETOOBIG if that exceeds all memory. */
int sn_bits_from(double bits, uint64_t *m);

/* The number of bits set in N bytes. */
uint64_t sn_bits_set(const uint8_t *p, uint64_t n);
/* The number of keys, with K probes each, that set a share FILL of M bits. */
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
