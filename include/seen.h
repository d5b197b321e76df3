/* seen.h - have I seen this before?
 *
 * The whole public interface of libseen. A filter remembers keys in a few bits
 * each and answers "have I seen this?": a "no" is certain, a "yes" is wrong with
 * a probability that you choose. You say how many keys and how sure; the library
 * picks the structure:
 *
 *     seen_spec spec = { .keys = 1000000, .error = 0.001 };
 *     seen_filter *f;
 *     int rc = seen_new(&spec, &f);
 *     if (rc < 0) { fprintf(stderr, "%s\n", seen_reason()); exit(2); }
 *     if (seen_add_str(f, "http://example.org/") == SEEN_NEW)
 *         puts("first visit");
 *     seen_save(f, "visited.seen");
 *     seen_free(f);
 *
 * Conventions. Functions that can fail return a negative code of enum seen_code
 * and leave their object unchanged; seen_strerror() says it in words, and
 * seen_reason() names the field, file or number that was wrong. The library never
 * prints, exits or aborts. Keys are bytes, are hashed at once and never kept.
 *
 * Threads. Calls that take a const filter may run at the same time on one filter;
 * the others need it alone, except adds to a filter made with SEEN_ATOMIC.
 */
#ifndef SEEN_H
#define SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SEEN_API __attribute__((visibility("default")))
#else
#define SEEN_API
#endif

#define SEEN_VERSION_MAJOR 0
#define SEEN_VERSION_MINOR 1
#define SEEN_VERSION_PATCH 0
#define SEEN_VERSION "0.1.0"

/* The version of the library in use, which may differ from SEEN_VERSION. */
SEEN_API const char *seen_version(void);

/* The instruction set that new filters will use: "avx512", "avx2", "neon" or
 * "scalar". All of them set and test the same bits. */
SEEN_API const char *seen_simd(void);

/* ---- results ---------------------------------------------------------------- */

enum seen_code {
    SEEN_NEW = 1,        /* the key was certainly absent */
    SEEN_DUP = 0,        /* the key was probably present */
    SEEN_OK = 0,         /* done */
    SEEN_EINVAL = -1,    /* an argument makes no sense */
    SEEN_ENOMEM = -2,    /* out of memory */
    SEEN_ETOOBIG = -3,   /* the size asked for cannot be had or addressed */
    SEEN_EFULL = -4,     /* the filter is fixed and full */
    SEEN_ERANGE = -5,    /* an integer is outside the bitmap */
    SEEN_EKIND = -6,     /* this kind of filter cannot do that */
    SEEN_EMISMATCH = -7, /* the two filters differ in shape or seed */
    SEEN_EREADONLY = -8, /* the filter was opened read-only */
    SEEN_EIO = -9,       /* the system refused; errno says why */
    SEEN_EFORMAT = -10,  /* not a filter file, or its header contradicts itself */
    SEEN_EVERSION = -11, /* the file was made by a newer version */
    SEEN_EDAMAGED = -12, /* a checksum does not fit: the file was damaged */
    SEEN_ECANCEL = -13,  /* the caller asked to stop */
    SEEN_EBUSY = -14     /* somebody else writes to the file */
};

/* The code in words; never NULL. */
SEEN_API const char *seen_strerror(int code);

/* What exactly was wrong in the last call that failed in this thread, as one
 * sentence without a final stop; never NULL, valid until the next failure. */
SEEN_API const char *seen_reason(void);

/* ---- kinds and specifications ------------------------------------------------ */

typedef enum seen_kind {
    SEEN_AUTO = 0,    /* let the library choose */
    SEEN_CLASSIC = 1, /* textbook Bloom: fewest bits below 1e-4, k cache misses */
    SEEN_BLOCKED = 2, /* blocked Bloom filter, one cache line a key: the default */
    SEEN_SPLIT = 3,   /* Parquet's split blocks: 32 bytes, eight bits a key */
    SEEN_SET = 4,     /* 64-bit fingerprints: exact in practice, removes */
    SEEN_CUCKOO = 5,  /* small fingerprints: removes */
    SEEN_RIBBON = 6,  /* static, 1-2% above the theoretical minimum */
    SEEN_FOREIGN = 7, /* another system's filter, asked and added to in place */
    SEEN_KINDS
} seen_kind;

/* What a kind can do, as bits of seen_kind_can(). */
enum {
    SEEN_CAN_ADD = 1,    /* keys can be added one by one */
    SEEN_CAN_REMOVE = 2, /* and removed */
    SEEN_CAN_MERGE = 4,  /* the union of two equal shapes */
    SEEN_CAN_GROW = 8,   /* takes more keys than expected */
    SEEN_CAN_ATOMIC = 16 /* adds from many threads at once */
};
SEEN_API unsigned seen_kind_can(seen_kind kind);
SEEN_API const char *seen_kind_name(seen_kind kind);  /* "blocked"; NULL if unknown */
SEEN_API seen_kind seen_kind_named(const char *name); /* SEEN_KINDS if unknown */

/* Memory for filters. All three or none; realloc is not needed. */
typedef struct seen_allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align); /* zeroed, or NULL */
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
} seen_allocator;

enum {
    SEEN_FIXED = 1,    /* refuse keys beyond .keys (SEEN_EFULL) instead of growing */
    SEEN_ATOMIC = 2,   /* adds may come from many threads; implies a fixed shape */
    SEEN_SCALAR = 4,   /* no vector instructions: the plain twin, for comparisons */
    SEEN_REMOVES = 8,  /* only kinds that can remove */
    SEEN_SMALLEST = 16 /* fewest bits, whatever the speed */
};

/* What you want. Zero everywhere is a growing filter with one error in a hundred.
 *
 * Give .keys and .error; or .keys and .memory (the smallest error that fits); or
 * .bits and .probes (textbook m and k, classic unless .kind says otherwise: then
 * it never grows and is never full). Without .keys the filter starts small and
 * grows; with .keys it is made to measure and grows only if more keys come, the
 * error staying below .error in both cases. No error below .keys / 2^64 can be had: a
 * key that has the 64-bit hash of another is taken for it. */
typedef struct seen_spec {
    seen_kind kind;       /* 0: choose */
    unsigned flags;       /* SEEN_FIXED, ... */
    uint64_t keys;        /* expected number of distinct keys; 0: unknown */
    double error;         /* chance that an absent key is called present; 0: 0.01 */
    uint64_t memory;      /* bytes the filter may take; 0: as many as needed */
    uint64_t bits;        /* m, exactly */
    uint32_t probes;      /* k; 0: the best */
    uint32_t reserved0;   /* 0 */
    uint64_t seed;        /* of the hash; seen_random_seed() for hostile keys */
    seen_allocator alloc; /* 0: the system's, with huge pages for large filters */
    uint64_t reserved[6]; /* 0 */
} seen_spec;

typedef struct seen_filter seen_filter;

/* A seed nobody can guess. Keys from strangers want one: with a known seed they
 * can be chosen so that they collide. */
SEEN_API uint64_t seen_random_seed(void);

/* ---- sizing -------------------------------------------------------------------- */

/* One line of a plan: a kind, and what it costs. */
typedef struct seen_size {
    seen_kind kind;
    uint32_t probes;     /* k, or fingerprint bits for kinds that store them */
    uint64_t keys;       /* n */
    double error;        /* with n keys in */
    uint64_t bits;       /* m, exactly as made */
    uint64_t bytes;      /* of the body in memory */
    double bits_per_key; /* bits / n */
} seen_size;

/* Completes S: from .kind and two of {.keys, .error, .bytes} it finds the third
 * and everything else (.probes may be given, 0 is the best). What comes out is
 * what seen_new would make with SEEN_FIXED: .error is the error with .keys in, at
 * most the one asked for (classic: the textbook's m, whose rounded k costs up to 1%
 * more, in filters of a few keys more than that). SEEN_AUTO chooses the kind.
 * SEEN_EINVAL if fewer or more are given. */
SEEN_API int seen_solve(seen_size *s);

/* The kind that seen_new would choose for SPEC, with its size. */
SEEN_API int seen_choose(const seen_spec *spec, seen_size *out);

/* The textbook formulas: m = ceil(-n ln p / ln^2 2), k = round(m/n ln 2) >= 1,
 * and p = (1 - (1 - 1/m)^(kn))^k. */
SEEN_API uint64_t seen_classic_bits(uint64_t keys, double error);
SEEN_API uint32_t seen_classic_probes(uint64_t bits, uint64_t keys);
SEEN_API double seen_classic_error(uint64_t bits, uint32_t probes, uint64_t keys);

/* ---- the filter ----------------------------------------------------------------- */

SEEN_API int seen_new(const seen_spec *spec, seen_filter **out);
SEEN_API void seen_free(seen_filter *f); /* NULL is fine */

/* Adds KEY and says whether it was there before.
 *
 * Returns SEEN_NEW if KEY was certainly absent, SEEN_DUP if it was probably
 * present, SEEN_EFULL if F is fixed and full (F is then unchanged). */
SEEN_API int seen_add(seen_filter *f, const void *key, size_t len);

/* Whether KEY was added: false is certain, true is wrong with the filter's error.
 * Cannot fail. */
SEEN_API bool seen_has(const seen_filter *f, const void *key, size_t len);

/* Removes one earlier add of KEY, in kinds that can. Returns 1 if something was
 * removed, 0 if KEY was certainly absent, SEEN_EKIND. A set holds a key once, however
 * often it was added; a cuckoo filter holds a copy for each add, up to eight. Removing
 * a key that was never added may take away another key that shares its fingerprint. */
SEEN_API int seen_remove(seen_filter *f, const void *key, size_t len);

typedef struct seen_key {
    const void *data;
    size_t len;
} seen_key;

/* Batches: several times faster than one by one, because memory is fetched for
 * many keys at once. Any N; a few hundred are enough for full speed.
 *
 * seen_add_many adds the keys in order and sets dup[i] to whether key i was there
 * before: of two equal keys in one batch only the first is new. dup may be NULL;
 * then a large batch may be added in the order of memory, which is faster still.
 * Returns the number of keys taken: N, or fewer if F is fixed and got full or
 * memory ran out (the first that many are in, in order; seen_reason() says why). */
SEEN_API size_t seen_add_many(seen_filter *f, const seen_key *keys, size_t n,
                              bool *dup);
SEEN_API void seen_has_many(const seen_filter *f, const seen_key *keys, size_t n,
                            bool *found);

/* The same for callers that keep the hash. seen_hash depends on the seed only, so
 * one hash serves all native filters of one seed. Not for foreign filters, nor for
 * native ones that came from Parquet: these hash with XXH64. */
SEEN_API uint64_t seen_hash(const seen_filter *f, const void *key, size_t len);
SEEN_API uint64_t seen_hash_seeded(uint64_t seed, const void *key, size_t len);
SEEN_API int seen_add_hash(seen_filter *f, uint64_t hash);
SEEN_API bool seen_has_hash(const seen_filter *f, uint64_t hash);
SEEN_API int seen_remove_hash(seen_filter *f, uint64_t hash);
SEEN_API size_t seen_add_hashes(seen_filter *f, const uint64_t *h, size_t n, bool *dup);
SEEN_API void seen_has_hashes(const seen_filter *f, const uint64_t *h, size_t n,
                              bool *found);

/* Strings without their NUL, and integers as their eight little-endian bytes. */
SEEN_API int seen_add_str(seen_filter *f, const char *s);
SEEN_API bool seen_has_str(const seen_filter *f, const char *s);
SEEN_API int seen_add_u64(seen_filter *f, uint64_t x);
SEEN_API bool seen_has_u64(const seen_filter *f, uint64_t x);

/* Forgets every key; the shape and the memory stay (a grown filter shrinks to its
 * newest layer). */
SEEN_API int seen_clear(seen_filter *f);

/* The bytes of layer LAYER (0 is the oldest) themselves, for callers that keep shape
 * and bytes apart: with the same kind, bits, probes and seed they mean the same keys.
 * *LEN is their number; NULL and 0 beyond the last layer. Writing to them is setting
 * bits by hand. Valid until the next call that is not const. */
SEEN_API void *seen_body(seen_filter *f, uint32_t layer, size_t *len);

/* An independent copy in memory, also of a mapped filter. */
SEEN_API int seen_copy(const seen_filter *f, seen_filter **out);

/* Adds to DST all keys of SRC. Both must have the same kind, shape and seed, layer
 * by layer; SEEN_EMISMATCH otherwise, and seen_reason() says what differs. Sets need
 * only the same seed; of those a DST that ran out of memory may have taken some keys.
 */
SEEN_API int seen_merge(seen_filter *dst, const seen_filter *src);

/* Turns a filter that holds whole hashes (SEEN_SET) into one made for SPEC, with
 * all its keys and its seed; SEEN_EKIND for other kinds. */
SEEN_API int seen_rebuild(const seen_filter *f, const seen_spec *spec,
                          seen_filter **out);

/* ---- what is in it --------------------------------------------------------------- */

typedef struct seen_stats {
    seen_kind kind;  /* of the newest layer */
    uint32_t probes; /* of the newest layer */
    uint32_t layers;
    uint32_t flags; /* SEEN_FIXED, SEEN_ATOMIC as made */
    uint64_t seed;
    uint64_t added;       /* keys that were new when added, less the removed */
    uint64_t capacity;    /* keys for which the promise holds; 0: no bound was given */
    uint64_t bits;        /* m of all layers */
    uint64_t bits_set;    /* measured; sampled in bodies over 64 MiB */
    uint64_t bytes;       /* of all bodies in memory */
    double fill;          /* bits_set / bits */
    double error_wanted;  /* as promised */
    double error_now;     /* of the moment, from the bits */
    double keys_estimate; /* distinct keys, estimated from the bits */
    double lost_expected; /* new keys taken for old so far, by prediction */
    bool mapped, writable, dirty;
    uint64_t
        removes_missed; /* removes of absent keys, where it showed, in this process */
    uint64_t reserved[3];
} seen_stats;

/* Looks at the bits (a sample of them in large filters), so it takes a moment. */
SEEN_API void seen_get_stats(const seen_filter *f, seen_stats *out);

/* The cheap ones: no bits are looked at. */
SEEN_API seen_kind seen_kind_of(const seen_filter *f); /* of the newest layer */
SEEN_API uint64_t seen_seed(const seen_filter *f);
SEEN_API uint64_t seen_added(const seen_filter *f);
SEEN_API uint64_t seen_bytes(const seen_filter *f);
SEEN_API double seen_lost_expected(const seen_filter *f);
SEEN_API double seen_error_predicted(const seen_filter *f); /* from counts, not bits */

/* One line, such as
 *     blocked, 1 layer, k=7, 998586 of 1000000 keys, 1.3 MB, 48.8% of bits set,
 *     error 0.00802 now, 0.01 promised
 * written as snprintf does; returns the length it wants. */
SEEN_API int seen_describe(const seen_filter *f, char *buf, size_t size);

/* ---- files ----------------------------------------------------------------------- */

/* Writes F to PATH, replacing it whole: at any moment PATH is the old file or the
 * new one. (A filter opened from PATH with SEEN_WRITE stays in the old file, which then
 * has no name: seen_flush is for those.) */
SEEN_API int seen_save(const seen_filter *f, const char *path);

/* The same bytes, piece by piece, to SINK, which returns 0 or a negative code that
 * ends the writing and is handed on. */
SEEN_API int seen_write(const seen_filter *f,
                        int (*sink)(void *ctx, const void *p, size_t len), void *ctx);

enum {
    SEEN_READ = 0,   /* map it read-only; nothing is read until it is asked */
    SEEN_WRITE = 1,  /* check it, then map it: adds go to the file, see seen_flush */
    SEEN_LOAD = 2,   /* read it into memory and check it; the file is then free */
    SEEN_SHARED = 4, /* as SEEN_WRITE, in many processes at once: see below */
    SEEN_VERIFY = 16 /* check every checksum before returning */
};

/* Opens a native file. The header is checked completely; bodies on demand, with
 * SEEN_VERIFY, SEEN_LOAD, SEEN_WRITE or seen_verify(). With SEEN_WRITE the filter may
 * not grow (SEEN_EFULL): load and save those. There is one writer at a time, whose
 * descriptor stays open: a second one, also one that shares, gets SEEN_EBUSY.
 *
 * SEEN_SHARED is for several processes that add to one file at the same time, each
 * seeing the others' keys at once: the filter must have been made with SEEN_ATOMIC
 * (SEEN_EKIND otherwise). The file stays "dirty", because no process can vouch for
 * what the others add, and each process counts only its own keys. */
SEEN_API int seen_open(const char *path, unsigned mode, seen_filter **out);

/* The same from LEN bytes in memory, which must stay and be aligned to 64. */
SEEN_API int seen_open_bytes(const void *bytes, size_t len, seen_filter **out);

/* Writes back counts and checksums of a filter opened with SEEN_WRITE. Without it
 * (or seen_free, which calls it) the bits are safe but the file says "dirty": its
 * checksums cannot vouch until the next flush. */
SEEN_API int seen_flush(seen_filter *f);

/* Recomputes the checksums of the file behind F; SEEN_EDAMAGED names the piece. 0 also
 * where nothing vouches for the bits: in memory, in another system's file, and while
 * the file is dirty (seen_stats). */
SEEN_API int seen_verify(const seen_filter *f);

/* ---- other systems' filters ------------------------------------------------------ */

/* Filters of other systems are opened, asked and added to where they stand, bit for
 * bit as their own library would, and written back in their own form: the calls above
 * work on them (seen_add, seen_has, seen_get_stats, seen_merge, seen_save, ...; not
 * those that take hashes, nor seen_rebuild). docs/foreign.md lists the formats. */

enum {                         /* what can be done with a format */
       SEEN_FORMAT_KNOWN = 1,  /* recognised from its bytes */
       SEEN_FORMAT_ADD = 2,    /* keys can be added */
       SEEN_FORMAT_NEW = 4,    /* made fresh */
       SEEN_FORMAT_WRITE = 8,  /* written back */
       SEEN_FORMAT_REMOVE = 16 /* keys can be removed */
};

typedef struct seen_format {
    const char *name;    /* "guava" */
    const char *about;   /* "Guava BloomFilter.writeTo (Java)" */
    const char *to_open; /* what must be said to open it, "m, seeds"; "" if nothing */
    const char *to_make; /* and to make it, "keys, error"; "" if it cannot be made */
    unsigned can;        /* SEEN_FORMAT_* */
} seen_format;

/* All formats, in an array of *N. */
SEEN_API const seen_format *const *seen_formats(size_t *n);

enum {                         /* flags of seen_params */
       SEEN_HASH_UNSIGNED = 1, /* mmh3.hash(..., signed=False) */
       SEEN_BITS_MSB = 2,      /* raw arrays: bit 0 is the top bit of byte 0 */
       SEEN_BITS_LSB = 4,      /* raw arrays: bit 0 is the low bit of byte 0 */
       SEEN_GUAVA_OLD = 8,     /* k as Guava up to 33.3 chose it */
       SEEN_NONSCALING = 16    /* RedisBloom: never append a link */
};

/* What the bytes do not say, or how a new filter shall be. Zero: not given. */
typedef struct seen_params {
    uint64_t keys;         /* n: capacity, entries, expected insertions */
    double error;          /* p */
    uint64_t bits;         /* m */
    uint32_t probes;       /* k */
    uint32_t bits_per_key; /* LevelDB */
    const uint32_t *seeds; /* mmh3: one hash each; NULL: 0 .. k-1 */
    uint32_t seeds_n;
    uint32_t expansion; /* RedisBloom; 0: 2 */
    unsigned flags;     /* SEEN_HASH_UNSIGNED, ... */
    int row_group;      /* of a Parquet file, 1 is the first; 0: all */
    /* How a key becomes the bytes that are hashed: "bytes" (default) as they are;
     * from text: "utf8", "utf16" (Java's chars), "int32", "int64", "float", "double".
     */
    const char *type;
    const char *column; /* of a Parquet file, "a.b" for nested ones */
    seen_allocator alloc;
    uint64_t reserved[4];
} seen_params;

/* Opens PATH as FORMAT, or as the format its bytes show if FORMAT is NULL. PARAMS may
 * be NULL. MODE as in seen_open; with SEEN_WRITE what would lengthen the file is
 * SEEN_EFULL (load and save instead). SEEN_EFORMAT names the field that is wrong. */
SEEN_API int seen_open_foreign(const char *path, const char *format,
                               const seen_params *params, unsigned mode,
                               seen_filter **out);
/* The same from memory: read-only in place without SEEN_LOAD, a copy with it. */
SEEN_API int seen_open_foreign_bytes(const void *bytes, size_t len, const char *format,
                                     const seen_params *params, unsigned mode,
                                     seen_filter **out);
/* An empty filter of that format. */
SEEN_API int seen_new_foreign(const char *format, const seen_params *params,
                              seen_filter **out);

/* What LevelDB's reader answers for KEY on the LEN bytes of one builtin filter,
 * whatever they are: one question, without making a handle. */
SEEN_API bool seen_leveldb_match(const void *filter, size_t len, const void *key,
                                 size_t klen);

/* The format whose bytes these are, NULL if they do not show one. */
SEEN_API const seen_format *seen_recognise(const void *bytes, size_t len);
/* The format of F, NULL if it is a native filter. */
SEEN_API const seen_format *seen_format_of(const seen_filter *f);

/* F's bits in the container of another FORMAT, "native" for our own (Parquet only),
 * where the same keys go to the same bits in both. SEEN_EKIND otherwise: bits cannot be
 * converted without the keys, and seen_reason() says what to do. */
SEEN_API int seen_convert(const seen_filter *f, const char *format, seen_filter **out);

/* ---- static filters: built from all keys at once --------------------------------- */

typedef struct seen_builder seen_builder;

/* How far a builder is. */
enum seen_build_phase {
    SEEN_BUILD_TAKING, /* keys are coming in */
    SEEN_BUILD_SOLVING /* the filter is being made of them */
};
typedef struct seen_build_progress {
    enum seen_build_phase phase;
    uint64_t keys;      /* taken so far, duplicates included */
    uint64_t temporary; /* bytes in the temporary folder */
    uint64_t done, of;  /* keys solved, of how many; while taking 0 of 0 */
} seen_build_progress;

/* What to build: a ribbon, smaller than anything that takes keys one by one. */
typedef struct seen_build_spec {
    double error;     /* 0: 0.01, or what .memory allows; at least 2^-32 */
    uint64_t memory;  /* bytes that the file of the filter may have; 0: as needed */
    uint64_t seed;    /* of the hash */
    uint64_t keys;    /* expected number, to see early if the disk is too small; 0: ? */
    uint64_t work;    /* memory to work with, at least 64 MiB; 0: 1 GiB */
    const char *tmp;  /* folder for what does not fit; NULL: $TMPDIR or /tmp */
    unsigned threads; /* to solve with; 0: one for each processor */
    unsigned reserved0; /* 0 */
    /* Called now and then in the thread that called the library; anything but 0 stops
     * the work with SEEN_ECANCEL. NULL: nobody looks. */
    int (*progress)(void *ctx, const seen_build_progress *p);
    void *ctx;
    uint64_t reserved[4]; /* 0 */
} seen_build_spec;

/* A builder takes any number of keys, in any order, as often as they come, and keeps
 * eight bytes of each, on disk if they do not fit its memory: in one file without a
 * name, which the system removes whatever happens to the process. */
SEEN_API int seen_builder_new(const seen_build_spec *spec, seen_builder **out);

/* Returns 0, or a negative code after which the builder can only be freed. */
SEEN_API int seen_builder_add(seen_builder *b, const seen_key *keys, size_t n);
SEEN_API int seen_builder_add_hashes(seen_builder *b, const uint64_t *h, size_t n);

/* Makes the filter: it can be asked and saved, and never changes. The same keys make
 * the same bytes, in whatever order and however often they came. B can then only be
 * freed. */
SEEN_API int seen_builder_finish(seen_builder *b, seen_filter **out);
SEEN_API void seen_builder_free(seen_builder *b); /* NULL is fine */

/* ---- bitmap: an exact set of integers below a bound ------------------------------ */

typedef struct seen_bitmap seen_bitmap;

/* Integers 0 .. bound-1, one bit each. Indices outside are SEEN_ERANGE everywhere,
 * never a silent no. */
SEEN_API int seen_bitmap_new(uint64_t bound, seen_bitmap **out);
SEEN_API void seen_bitmap_free(seen_bitmap *b);
SEEN_API uint64_t seen_bitmap_bound(const seen_bitmap *b);
SEEN_API int seen_bitmap_set(seen_bitmap *b, uint64_t i);       /* SEEN_NEW, SEEN_DUP */
SEEN_API int seen_bitmap_clear(seen_bitmap *b, uint64_t i);     /* 1 was set, 0 not */
SEEN_API int seen_bitmap_get(const seen_bitmap *b, uint64_t i); /* 1, 0 */
/* Sets N integers; returns how many were taken (less than N: the next is outside). */
SEEN_API size_t seen_bitmap_set_many(seen_bitmap *b, const uint64_t *i, size_t n);
SEEN_API uint64_t seen_bitmap_count(const seen_bitmap *b);
/* Set bits in from .. to-1. */
SEEN_API int seen_bitmap_count_range(const seen_bitmap *b, uint64_t from, uint64_t to,
                                     uint64_t *out);
/* The first set bit at or after FROM, or the bound if there is none. */
SEEN_API uint64_t seen_bitmap_next(const seen_bitmap *b, uint64_t from);
/* The last set bit at or before FROM, or the bound if there is none. */
SEEN_API uint64_t seen_bitmap_prev(const seen_bitmap *b, uint64_t from);
/* Fills OUT with up to N set bits from *FROM on, below TO, and moves *FROM behind
 * the last; returns how many. Loop until it returns 0. */
SEEN_API size_t seen_bitmap_list(const seen_bitmap *b, uint64_t *from, uint64_t to,
                                 uint64_t *out, size_t n);
/* DST becomes the union, intersection or difference; bounds must be equal. */
SEEN_API int seen_bitmap_or(seen_bitmap *dst, const seen_bitmap *src);
SEEN_API int seen_bitmap_and(seen_bitmap *dst, const seen_bitmap *src);
SEEN_API int seen_bitmap_andnot(seen_bitmap *dst, const seen_bitmap *src);

#ifdef __cplusplus
}
#endif
#endif
