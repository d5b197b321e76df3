/* seen.h - have I seen this before?
 *
 * The public interface of libseen. A filter remembers keys in a few bits
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
 * Errors. Functions that can fail return a negative code of enum seen_code and leave
 * their object unchanged. seen_strerror() puts the code into words; seen_reason() names
 * the field, file or number that was wrong. Each call lists its codes. A call that
 * makes an object sets *out to NULL when it fails. The library never prints, exits or
 * aborts. Keys are bytes; they are hashed at once and never kept.
 *
 * Threads. Calls that take a const filter may run at the same time on one filter. Any
 * other call needs the filter to itself, except seen_add* on a filter made with
 * SEEN_ATOMIC: it may run in many threads at once, together with calls that take a
 * const filter. Those see every key whose add returned before they began, and perhaps
 * some whose add is still running; seen_save and seen_write produce a whole and valid
 * file. Different filters are independent. seen_reason() is kept for each thread.
 *
 * Machines. 64-bit, of either byte order, with the same files.
 *
 * Structures. Zero the structures you pass in, as the initialisers above do: reserved
 * fields, and bits of flags and modes that this version does not know, are refused
 * with SEEN_EINVAL, so that a later version can give them a meaning.
 *
 * Stability. From version 1.0 on, this header is stable: a program compiled with 1.x
 * runs with every later 1.y, and files of 1.x open in every later version. Until then a
 * minor version may change it; CHANGELOG.md lists each change. The promise does not
 * cover the words of messages (seen_strerror, seen_reason, seen_describe), which kind
 * SEEN_AUTO picks, the exact sizes and predictions, symbols that no header declares,
 * and two groups of calls: those behind SEEN_UNSTABLE, in seen_unstable.h, and the
 * sketches, in seen_sketch.h. */
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
#define SEEN_VERSION_MINOR 3
#define SEEN_VERSION_PATCH 0
#define SEEN_VERSION "0.3.0"
#define SEEN_VERSION_NUMBER                                                            \
    (SEEN_VERSION_MAJOR * 10000 + SEEN_VERSION_MINOR * 100 + SEEN_VERSION_PATCH)

/* Of the library in use, which may differ from the header's: "1.2.3" and 10203. */
SEEN_API const char *seen_version(void);
SEEN_API unsigned seen_version_number(void);

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
    SEEN_EDAMAGED = -12, /* a checksum does not match: the file is damaged */
    SEEN_ECANCEL = -13,  /* the caller asked to stop */
    SEEN_EBUSY = -14,    /* another process is writing to the file */
    SEEN_EFOREVER = -15  /* the key was added too often to be removed */
};

/* The code in words; never NULL. */
SEEN_API const char *seen_strerror(int code);
/* What was wrong in the last call that failed in this thread: one sentence without a
 * full stop. Never NULL; valid until the next failure. */
SEEN_API const char *seen_reason(void);

/* ---- kinds and specifications ------------------------------------------------ */

typedef enum seen_kind {
    SEEN_AUTO = 0,    /* let the library choose */
    SEEN_CLASSIC = 1, /* textbook Bloom, k cache misses */
    SEEN_BLOCKED = 2, /* blocked Bloom filter, one cache line a key: the default */
    SEEN_SPLIT = 3,   /* Parquet's split blocks: 32 bytes, eight bits a key */
    SEEN_SET = 4,     /* 64-bit fingerprints: exact in practice, removes */
    SEEN_CUCKOO = 5,  /* small fingerprints: removes; the default below 1e-4 */
    SEEN_RIBBON = 6,  /* static, some 1% above the theoretical minimum */
    SEEN_FOREIGN = 7, /* another system's filter, asked and added to in place */
    SEEN_QUOTIENT = 8, /* prefixes of hashes: grows in place, the default if the number
                          of keys is unknown; removes with SEEN_REMOVES */
    SEEN_KIND_UNKNOWN = 255 /* no kind */
} seen_kind;

/* What a kind can do, as bits of seen_kind_can(). */
enum {
    SEEN_CAN_ADD = 1,    /* keys can be added one by one */
    SEEN_CAN_REMOVE = 2, /* and removed */
    SEEN_CAN_MERGE = 4,  /* the union of two equal shapes */
    SEEN_CAN_GROW = 8,   /* takes more keys than expected */
    SEEN_CAN_ATOMIC = 16 /* adds from many threads at once */
};
SEEN_API unsigned seen_kind_can(seen_kind kind); /* 0 if unknown */

/* "blocked"; NULL if unknown. Kinds are numbered from 1 without gaps. */
SEEN_API const char *seen_kind_name(seen_kind kind);
/* The kind of that name, "auto" included; SEEN_KIND_UNKNOWN if there is none. */
SEEN_API seen_kind seen_kind_named(const char *name);

/* Where an object's memory comes from. Give both functions or neither: zeroes, or a
 * NULL pointer where one is taken, are the system's allocator, with huge pages for
 * large filters. The functions are called in the threads that call the library; a
 * builder also calls them in its own threads, one call at a time. */
typedef struct seen_allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align); /* zeroed, or NULL */
    void (*free)(void *ctx, void *p, size_t size); /* p is never NULL */
    void *ctx;
} seen_allocator;

enum {
    SEEN_FIXED = 1,    /* refuse keys beyond .keys (SEEN_EFULL) instead of growing */
    SEEN_ATOMIC = 2,   /* adds may come from many threads; implies a fixed shape */
    SEEN_SCALAR = 4,   /* no vector instructions, for comparisons */
    SEEN_REMOVES = 8,  /* only kinds that can remove */
    SEEN_SMALLEST = 16, /* fewest bits, whatever the speed */
    SEEN_ONCE = 32 /* cuckoo: keep a key once, however often it is added; no removes
                    * (as quotient does without SEEN_REMOVES) */
};

/* What you want. Zero everywhere is a growing filter with one error in a hundred.
 *
 * Give .keys and .error; or .keys and .memory (the smallest error that fits); or
 * .bits and .probes (textbook m and k, classic unless .kind says otherwise: then
 * it never grows and is never full). Without .keys the filter starts small and
 * grows; with .keys it is made to measure and grows only if more keys come. The error
 * stays below .error in both cases, in all but one of some 30,000 filters. Below 1e-4
 * the library picks cuckoo with SEEN_ONCE, smaller and faster than classic, unless
 * there is .memory or SEEN_ATOMIC; and SEEN_SET where .memory has room for whole
 * hashes. No error is below .keys / 2^64: keys of one 64-bit hash are one key. */
typedef struct seen_spec {
    seen_kind kind;       /* 0: choose */
    unsigned flags;       /* SEEN_FIXED, ... */
    uint64_t keys;        /* expected number of distinct keys; 0: unknown */
    double error;         /* chance that an absent key is called present; 0: 0.01 */
    uint64_t memory;      /* bytes the filter may take; 0: as many as needed */
    uint64_t bits;        /* m, exactly */
    uint32_t probes;      /* k; 0: the best */
    uint32_t hash;        /* of enum seen_hash_id; 0: the default */
    uint64_t seed;        /* of the hash: its low 64 bits */
    seen_allocator alloc; /* of the filter */
    uint64_t seed_high;   /* the high 64 bits, for SEEN_HASH_KEYED */
    const struct seen_hasher *hasher; /* instead of .hash and the seeds; NULL: those */
    uint64_t reserved[4];             /* 0 */
} seen_spec;

typedef struct seen_filter seen_filter;

typedef struct seen_key { /* any bytes */
    const void *data;
    size_t len;
} seen_key;

/* ---- hashing: a filter sees 64 bits of a key and nothing else ------------------- */

enum seen_hash_id {
    SEEN_HASH_DEFAULT = 0, /* the library's choice */
    SEEN_HASH_XXH3 = 1,    /* XXH3-64, with a seed of 64 bits */
    SEEN_HASH_XXH64 = 2,   /* XXH64: filters that came from Parquet */
    SEEN_HASH_KEYED = 3    /* a universal hash, with a secret seed of 128 bits */
};

/* Keys that strangers choose need a hash that they cannot aim at. With SEEN_HASH_KEYED
 * and a random secret seed of 128 bits (seen_random_bytes), any two given keys have the
 * same hash with probability at most 2^-59 up to 128 bytes, 2^-56 up to 1 KB and 2^-44
 * up to 4 MB (proof: lib/hash/keyed.h). This fails once the seed is known (it is in the
 * file of the filter) or keys are chosen by the answers to earlier ones. For XXH3,
 * colliding pairs are known for one seed in 2^27, and with a known seed any number can
 * be made. */

/* Fills P with random bytes from the system. SEEN_EIO if it has none. */
SEEN_API int seen_random_bytes(void *p, size_t len);

/* A hash with its seed, to hash outside of a filter: a plain value. */
typedef struct seen_hasher {
    uint64_t opaque[24];
} seen_hasher;

/* SEEN_EINVAL: no such hash, or SEED_HIGH for one of 64 bits. */
SEEN_API int seen_hasher_init(seen_hasher *h, uint32_t hash, uint64_t seed,
                              uint64_t seed_high);
/* How F hashes: filters made with .hasher = OUT give the same key the same hash.
 * SEEN_EKIND if F is foreign. */
SEEN_API int seen_get_hasher(const seen_filter *f, seen_hasher *out);
SEEN_API uint64_t seen_hasher_hash(const seen_hasher *h, const void *key, size_t len);
SEEN_API void seen_hasher_many(const seen_hasher *h, const seen_key *keys, size_t n,
                               uint64_t *out);
/* XXH3-64: for checksums, and for tables of keys that nobody chooses. */
SEEN_API uint64_t seen_hash_seeded(uint64_t seed, const void *key, size_t len);

/* ---- sizing -------------------------------------------------------------------- */

/* One line of a plan: a kind, and what it costs. */
typedef struct seen_size {
    seen_kind kind;
    uint32_t probes;     /* k, or bits of a fingerprint, rounded up */
    uint64_t keys;       /* n */
    double error;        /* with n keys in */
    uint64_t bits;       /* m, exactly as made */
    uint64_t bytes;      /* of the body in memory */
    double bits_per_key; /* bits / n */
    uint64_t reserved[5]; /* 0 */
} seen_size;

/* Completes S: from .kind and two of {.keys, .error, .bytes} it finds the third
 * and everything else (.probes may be given, 0 is the best). What comes out is what
 * seen_new would make with SEEN_FIXED: .error is what a filter with .keys in promises,
 * at most the one asked for. SEEN_AUTO chooses the kind.
 *
 * SEEN_EINVAL if not exactly two are given, or a number is impossible; SEEN_EKIND if
 * there is no such kind; SEEN_ETOOBIG. */
SEEN_API int seen_solve(seen_size *s);

/* The kind that seen_new would choose for SPEC, with its size. SEEN_EINVAL, SEEN_EKIND,
 * SEEN_ETOOBIG as seen_new. */
SEEN_API int seen_choose(const seen_spec *spec, seen_size *out);

/* ---- the filter ----------------------------------------------------------------- */

/* An empty filter for SPEC; NULL is all zeroes. SEEN_EINVAL names the field that is
 * wrong; SEEN_EKIND if .kind cannot do what .flags ask, is static or unknown;
 * SEEN_ETOOBIG; SEEN_ENOMEM. */
SEEN_API int seen_new(const seen_spec *spec, seen_filter **out);

/* Frees F; NULL is fine. A filter opened with SEEN_WRITE is flushed first; call
 * seen_flush to see whether that worked. */
SEEN_API void seen_free(seen_filter *f);

/* Adds KEY and says whether it was there before: SEEN_NEW if it was certainly absent,
 * SEEN_DUP if it was probably present.
 *
 * SEEN_EFULL if F is fixed and full, or mapped and would have to grow; SEEN_ENOMEM if
 * it cannot grow; SEEN_EKIND if F is static; SEEN_EREADONLY; SEEN_EIO if the file
 * behind F could not be marked as changed. Foreign filters also: SEEN_EINVAL if the
 * key is not of the format's type; SEEN_ETOOBIG. */
SEEN_API int seen_add(seen_filter *f, const void *key, size_t len);

/* Whether KEY was added: false is certain, true is wrong with the filter's error.
 * Cannot fail. A key that is not of the type of F (text that is no number, in a foreign
 * filter of integers) cannot have been added: false. seen_ask tells the two apart. */
SEEN_API bool seen_has(const seen_filter *f, const void *key, size_t len);
/* The same with a check: 1, 0, or SEEN_EINVAL if KEY is not of the type of F, with the
 * reason in seen_reason(); SEEN_ENOMEM. */
SEEN_API int seen_ask(const seen_filter *f, const void *key, size_t len);

/* Removes one earlier add of KEY: 1 if a copy is gone, 0 if KEY was certainly absent. A
 * set holds a key once, however often it was added; a cuckoo or quotient filter holds a
 * copy for each add, up to eight. A quotient filter refuses the ninth (SEEN_EFULL); a
 * cuckoo filter takes it, and KEY stays for ever from the eighth on: SEEN_EFOREVER.
 * Removing a key that was never added may take away another one. SEEN_EKIND if F cannot
 * remove, as with SEEN_ONCE, or is a quotient filter 500 times larger than when KEY
 * came; SEEN_EREADONLY; SEEN_EIO; SEEN_EINVAL as for seen_add. */
SEEN_API int seen_remove(seen_filter *f, const void *key, size_t len);

/* Batches: several times faster than one by one, because memory is fetched for
 * many keys at once. Any N; a few hundred are enough for full speed.
 *
 * seen_add_many adds the keys in order and sets dup[i] to whether key i was there
 * before: of two equal keys in one batch only the first is new. dup may be NULL;
 * then a large batch may be added in the order of memory, which is faster still.
 * Returns SEEN_OK if all N were taken. Otherwise the code of seen_add for the first key
 * that was not: those before it are in, those after it were not looked at. *TAKEN is
 * the number of keys taken; NULL if not wanted. */
SEEN_API int seen_add_many(seen_filter *f, const seen_key *keys, size_t n, bool *dup,
                           size_t *taken);
/* Sets found[i] to what seen_has says to key i. */
SEEN_API void seen_has_many(const seen_filter *f, const seen_key *keys, size_t n,
                            bool *found);
/* The same with a check: SEEN_OK, or the code of seen_ask for the last key that it
 * refuses. All other keys are answered. */
SEEN_API int seen_ask_many(const seen_filter *f, const seen_key *keys, size_t n,
                           bool *found);

/* The same for callers that keep the hash: one hash serves all native filters of one
 * seen_hasher. These return what the calls above return; seen_has_hash returns 1 or 0,
 * and seen_has_hashes SEEN_OK. Foreign filters take no hashes: seen_hash is 0, and the
 * other calls return SEEN_EKIND (found[i] is then true, because false is a promise). */
SEEN_API uint64_t seen_hash(const seen_filter *f, const void *key, size_t len);
SEEN_API int seen_add_hash(seen_filter *f, uint64_t hash);
SEEN_API int seen_has_hash(const seen_filter *f, uint64_t hash);
SEEN_API int seen_remove_hash(seen_filter *f, uint64_t hash);
SEEN_API int seen_add_hashes(seen_filter *f, const uint64_t *h, size_t n, bool *dup,
                             size_t *taken);
SEEN_API int seen_has_hashes(const seen_filter *f, const uint64_t *h, size_t n,
                             bool *found);

/* Strings without their NUL, and integers as their eight little-endian bytes. */
SEEN_API int seen_add_str(seen_filter *f, const char *s);
SEEN_API bool seen_has_str(const seen_filter *f, const char *s);
SEEN_API int seen_add_u64(seen_filter *f, uint64_t x);
SEEN_API bool seen_has_u64(const seen_filter *f, uint64_t x);

/* Forgets every key and every exception. The shape and the memory stay; a grown filter
 * shrinks to its newest layer. SEEN_EKIND if F is static or its format cannot;
 * SEEN_EREADONLY; SEEN_EIO. */
SEEN_API int seen_clear(seen_filter *f);

/* An independent copy in memory, also of a mapped filter, from F's allocator.
 * SEEN_ENOMEM; SEEN_EKIND for a foreign filter that is part of a file. */
SEEN_API int seen_copy(const seen_filter *f, seen_filter **out);

/* An empty filter of the same kind, shape and hash: what F and it take can be merged.
 * SEEN_ENOMEM; SEEN_EKIND if F is static, or foreign and cannot be cleared. */
SEEN_API int seen_new_like(const seen_filter *f, seen_filter **out);

/* Adds to DST all keys of SRC. Both must have the same kind, shape and seed, layer
 * by layer; sets and quotient filters need only the same seed. Bloom filters take any
 * number of keys. Errors rise, and error_wanted if a quotient filter cannot keep its
 * promise. A full cuckoo filter with SEEN_ONCE grows, unless it is fixed.
 *
 * SEEN_EMISMATCH: seen_reason() says what differs; SEEN_EKIND if this kind cannot
 * merge; SEEN_EREADONLY; SEEN_EIO; SEEN_EFULL if the keys do not fit a fixed set, or a
 * cuckoo filter that is fixed, mapped or removes keys; SEEN_ENOMEM: some may be in. */
SEEN_API int seen_merge(seen_filter *dst, const seen_filter *src);

/* Turns a filter that holds whole hashes (SEEN_SET) into one made for SPEC, with
 * all its keys and its seed. SEEN_EKIND for other kinds; SEEN_EFULL if SPEC asks for a
 * fixed filter that is too small; the codes of seen_new or of a builder. */
SEEN_API int seen_rebuild(const seen_filter *f, const seen_spec *spec,
                          seen_filter **out);

/* ---- what is in it --------------------------------------------------------------- */

typedef struct seen_stats {
    seen_kind kind;  /* of the newest layer */
    uint32_t probes; /* of the newest layer */
    uint32_t layers;
    uint32_t flags; /* SEEN_FIXED, SEEN_ATOMIC, SEEN_ONCE as made */
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
    uint64_t removes_missed; /* removes that found nothing, in this process */
    uint64_t seed_high;
    uint32_t hash;        /* of enum seen_hash_id; 0 if foreign */
    uint32_t reserved0;   /* 0 */
    uint64_t reserved[1]; /* 0 */
    /* Later versions append fields. */
} seen_stats;

/* Reads the bits (a sample of them in large filters), so it takes a moment. Call
 * seen_get_stats(f, &out): it passes the size of the caller's structure, which grows in
 * later versions; fields that the library does not know are 0. (The function of that
 * name, behind the macro, is for programs of 0.2.0.) */
SEEN_API void seen_get_stats_sized(const seen_filter *f, seen_stats *out, size_t size);
SEEN_API void seen_get_stats(const seen_filter *f, seen_stats *out);
#define seen_get_stats(f, out) seen_get_stats_sized((f), (out), sizeof(seen_stats))

/* These read no bits. */
SEEN_API seen_kind seen_kind_of(const seen_filter *f); /* of the newest layer */
SEEN_API uint64_t seen_seed(const seen_filter *f);
SEEN_API uint64_t seen_added(const seen_filter *f);
SEEN_API uint64_t seen_bytes(const seen_filter *f);
SEEN_API double seen_error_predicted(const seen_filter *f); /* from counts, not bits */

/* New keys taken for old ones so far, by prediction, for a filter whose keys were all
 * distinct or asked for in the order they came. Older layers of a grown filter are
 * measured once, up to 16 MiB each; the newest is not read. */
SEEN_API double seen_lost_expected(const seen_filter *f);
/* An interval that contains the number of lost keys in at least 99 of 100 filters with
 * random seeds. BEFORE is subtracted from the expectation: pass an earlier result of
 * seen_lost_expected to get the losses since then, or 0. Both ends are 0 for a foreign
 * filter, whose past is unknown. */
SEEN_API void seen_lost_range(const seen_filter *f, double before, double *low,
                              double *high);

/* One line, "blocked, 1 layer, k=7, 998586 of 1000000 keys, 1.3 MB, 48.8% of bits set,
 * error 0.00802 now, 0.01 promised", as snprintf does; returns the length it wants. */
SEEN_API int seen_describe(const seen_filter *f, char *buf, size_t size);

/* ---- what the keys are ----------------------------------------------------------- */

/* A filter sees bytes: to an integer, a filter of text would always say no. So it can
 * know the type of its keys. The command, the bindings and the SQL functions say which
 * type they add or ask with, and refuse what cannot match (docs/keys.md). The calls
 * that take keys check nothing: a program that says no type has mixed keys. */
typedef enum seen_keys {
    SEEN_KEYS_UNSAID = 0, /* the first typed add decides; with other keys in: mixed */
    SEEN_KEYS_MIXED = 1,  /* any */
    SEEN_KEYS_TEXT = 2,   /* UTF-8 */
    SEEN_KEYS_BYTES = 3,  /* the same bytes as text: the two match */
    SEEN_KEYS_INT64 = 4,  /* eight little-endian bytes, two's complement */
    SEEN_KEYS_UINT64 = 5, /* the same: the two match */
    SEEN_KEYS_FLOAT = 6,  /* the eight bytes of a double; no -0, one NaN */
    SEEN_KEYS_UUID = 7,   /* sixteen bytes, in the order they are written */
    SEEN_KEYS_DATE = 8,   /* days since 1970-01-01, as an integer */
    SEEN_KEYS_TIMESTAMP = 9, /* microseconds since 1970-01-01, as an integer */
    SEEN_KEYS_TUPLE = 10, /* of each member its length as an integer, then its bytes */
    SEEN_KEYS_OWN = 11    /* only the program that made it can ask: 'seen dedup' */
} seen_keys;

/* "int64"; NULL if unknown. Types are numbered from 0 without gaps. */
SEEN_API const char *seen_keys_name(seen_keys type);
/* SEEN_KEYS_MIXED for a foreign filter, which checks keys by a rule of its own. */
SEEN_API seen_keys seen_keys_of(const seen_filter *f);
/* Whether keys of TYPE can be in F: SEEN_OK, or SEEN_EMISMATCH with a reason that names
 * both types; SEEN_EINVAL if there is no such type. */
SEEN_API int seen_check_keys(const seen_filter *f, seen_keys type);
/* The same before keys of TYPE are added; an empty filter of no type gets it. */
SEEN_API int seen_take_keys(seen_filter *f, seen_keys type);
/* Says of what TYPE the keys of F are, also those that are in: once. Only
 * SEEN_KEYS_MIXED can be said of any filter, also of one opened read-only, which is
 * then mixed in memory. SEEN_EMISMATCH, SEEN_EINVAL as above; SEEN_EREADONLY. */
SEEN_API int seen_set_keys(seen_filter *f, seen_keys type);

/* Every native filter has a random id, which its copies share, and a generation, which
 * changes with every save or flush: together they tell two states of files apart. Its
 * high 32 bits count, so an older copy has a lower number. */
typedef struct seen_identity {
    unsigned char id[16];
    uint64_t generation;
} seen_identity;

/* The state that was last read or written. False if it stands for nothing: the file is
 * open for writing, was made by 0.2 or earlier, or is foreign. */
SEEN_API bool seen_get_identity(const seen_filter *f, seen_identity *out);

/* ---- files ----------------------------------------------------------------------- */

/* Writes F to PATH, replacing it whole: at any moment PATH is the old file or the new
 * one. (A filter opened from PATH with SEEN_WRITE stays in the old file, which loses
 * its name: use seen_flush.) SEEN_EBUSY if the command, or a filter opened with
 * SEEN_WRITE or SEEN_SHARED, is writing PATH: try again later. SEEN_EIO, with errno;
 * SEEN_ENOMEM; SEEN_EKIND if this format cannot be written. When it fails, PATH is the
 * old file. */
SEEN_API int seen_save(const seen_filter *f, const char *path);

/* Writes the same bytes, piece by piece, to SINK, which returns 0, or a negative code
 * that ends the writing and is returned. SEEN_ENOMEM, SEEN_EKIND. A SEEN_ATOMIC filter
 * is copied in memory first. */
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
 * SEEN_VERIFY, SEEN_LOAD, SEEN_WRITE or seen_verify(). With SEEN_WRITE the filter
 * cannot grow (SEEN_EFULL): load and save instead. There is one writer at a time, whose
 * descriptor stays open: a second one, also one that shares, gets SEEN_EBUSY.
 *
 * SEEN_SHARED is for several processes that add to one file at the same time, each
 * seeing the others' keys at once: the filter must have been made with SEEN_ATOMIC
 * (SEEN_EKIND otherwise). The file stays "dirty", because no process can vouch for
 * what the others add, and each process counts only its own keys.
 *
 * SEEN_EIO, with errno, if PATH cannot be opened or mapped; SEEN_EFORMAT if it is not a
 * filter file; SEEN_EVERSION; SEEN_EDAMAGED; SEEN_EBUSY; SEEN_ENOMEM; SEEN_EINVAL if
 * MODE has unknown bits, or SEEN_LOAD together with SEEN_WRITE or SEEN_SHARED. */
SEEN_API int seen_open(const char *path, unsigned mode, seen_filter **out);
/* The same with memory from A (the handle; with SEEN_LOAD also the filter). */
SEEN_API int seen_open_with(const char *path, unsigned mode, const seen_allocator *a,
                            seen_filter **out);

/* The same from LEN bytes in memory, aligned to 64: read in place, so they must outlive
 * the filter, or copied with SEEN_LOAD. A may be NULL. SEEN_EINVAL also for other modes
 * than SEEN_LOAD and SEEN_VERIFY, and for bytes that are not aligned. */
SEEN_API int seen_open_bytes(const void *bytes, size_t len, unsigned mode,
                             const seen_allocator *a, seen_filter **out);

/* Writes back the counts and checksums of a filter opened with SEEN_WRITE. Without it
 * (or seen_free, which calls it) the bits are safe but the file says "dirty": its
 * checksums prove nothing until the next flush. SEEN_EIO, with errno; SEEN_ENOMEM. */
SEEN_API int seen_flush(seen_filter *f);

/* Recomputes the checksums of the file behind F; SEEN_EDAMAGED names the piece. SEEN_OK
 * also where there are no checksums to compare: in memory, in another system's file,
 * and while the file is dirty (seen_stats). */
SEEN_API int seen_verify(const seen_filter *f);

/* ---- other systems' filters ------------------------------------------------------ */

/* Filters of other systems are opened, asked and added to in place, bit for
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
    seen_allocator alloc; /* of the filter */
    uint64_t reserved[4]; /* 0 */
} seen_params;

/* Opens PATH as FORMAT, or as the format its bytes show if FORMAT is NULL. PARAMS may
 * be NULL. MODE as in seen_open, without SEEN_SHARED (SEEN_EKIND); with SEEN_WRITE an
 * add that would lengthen the file is SEEN_EFULL (load and save instead).
 *
 * SEEN_EFORMAT names the field that is wrong, or says that no format was recognised;
 * SEEN_EINVAL names the parameter that is missing or wrong, or an unknown format;
 * SEEN_EKIND if it cannot be written in place; SEEN_ETOOBIG; SEEN_EIO, with errno;
 * SEEN_EBUSY; SEEN_ENOMEM. */
SEEN_API int seen_open_foreign(const char *path, const char *format,
                               const seen_params *params, unsigned mode,
                               seen_filter **out);
/* The same from memory: read-only in place without SEEN_LOAD, a copy with it; other
 * modes are SEEN_EINVAL. */
SEEN_API int seen_open_foreign_bytes(const void *bytes, size_t len, const char *format,
                                     const seen_params *params, unsigned mode,
                                     seen_filter **out);
/* An empty filter of that format. The default error of redisbloom and parquet is 0.01,
 * of guava 0.03, as in their own libraries; the others need one. SEEN_EINVAL names the
 * parameter; SEEN_EKIND if the format can only be opened; SEEN_ETOOBIG; SEEN_ENOMEM. */
SEEN_API int seen_new_foreign(const char *format, const seen_params *params,
                              seen_filter **out);

/* The format whose bytes these are, NULL if they do not show one. */
SEEN_API const seen_format *seen_recognise(const void *bytes, size_t len);
/* The format of F, NULL if it is a native filter. */
SEEN_API const seen_format *seen_format_of(const seen_filter *f);

/* F's bits in the container of another FORMAT, "native" for our own (Parquet only),
 * where the same keys go to the same bits in both. SEEN_EKIND otherwise: bits cannot be
 * converted without the keys, and seen_reason() says what to do. SEEN_EINVAL if there
 * is no such format; SEEN_ENOMEM. */
SEEN_API int seen_convert(const seen_filter *f, const char *format, seen_filter **out);

/* ---- exceptions ------------------------------------------------------------------ */

/* A false positive can be excused: the filter then says no to that key, and to no
 * other. The keys are kept whole in a file PATH.excused beside the filter's file PATH:
 * seen_open* reads it, seen_save and seen_flush write it. Adding a key takes it off the
 * list. The list belongs to the file as it is; if another program changes or replaces
 * the file, the list is ignored. Calls with hashes excuse by the hash. A list costs one
 * lookup after a yes, and nothing after a no.
 *
 * Excuse only keys that were certainly never added. A SEEN_ATOMIC filter has exceptions
 * only while it is opened with SEEN_READ. */

/* SEEN_NEW if KEY is excused now; SEEN_DUP if F says no to it anyway. SEEN_ETOOBIG if
 * the list would exceed 64 MiB; SEEN_EKIND if others may add to F; SEEN_ENOMEM. */
SEEN_API int seen_excuse(seen_filter *f, const void *key, size_t len);
/* 1 if KEY was excused and is not any more, 0 if it was not. Cannot fail. */
SEEN_API int seen_unexcuse(seen_filter *f, const void *key, size_t len);
SEEN_API uint64_t seen_excused(const seen_filter *f); /* how many */
/* Calls EACH for every one, in no order, until it returns something other than 0, which
 * is then returned. */
SEEN_API int seen_excused_each(const seen_filter *f,
                               int (*each)(void *ctx, const void *key, size_t len),
                               void *ctx);
/* Writes the list beside the file that F was opened from with SEEN_READ, together with
 * what others have put there meanwhile. SEEN_EINVAL if F was not opened from a file or
 * was changed; SEEN_EMISMATCH if the file was; SEEN_EBUSY; SEEN_EIO, with errno; the
 * codes of seen_open for a damaged list. */
SEEN_API int seen_excused_save(seen_filter *f);

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
    uint64_t reserved[4];
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
    uint32_t hash;    /* as in seen_spec */
    /* Called now and then in the thread that called the library; anything but 0 stops
     * the work with SEEN_ECANCEL. NULL: not called. */
    int (*progress)(void *ctx, const seen_build_progress *p);
    void *ctx;
    seen_allocator alloc; /* of the builder and of the filter it makes */
    uint64_t seed_high;
    const seen_hasher *hasher; /* as in seen_spec */
    uint64_t reserved[2];      /* 0 */
} seen_build_spec;

/* A builder takes any number of keys, in any order, as often as they come, and keeps
 * eight bytes of each, on disk if they do not fit its memory: in one file without a
 * name, which the system removes whatever happens to the process. SPEC may be NULL.
 * SEEN_EINVAL names the field that is wrong; SEEN_EIO if .keys do not fit the disk;
 * SEEN_ENOMEM. */
SEEN_API int seen_builder_new(const seen_build_spec *spec, seen_builder **out);

/* SEEN_EIO, with errno; SEEN_ENOMEM; SEEN_ECANCEL. After a failure the builder can
 * only be freed. */
SEEN_API int seen_builder_add(seen_builder *b, const seen_key *keys, size_t n);
SEEN_API int seen_builder_add_hashes(seen_builder *b, const uint64_t *h, size_t n);

/* Makes the filter: it can be asked and saved, and never changes. The same keys make
 * the same bytes, in whatever order and however often they came. B can then only be
 * freed. SEEN_EINVAL if the keys do not fit .memory; SEEN_ETOOBIG if .work is too
 * small; SEEN_EIO, with errno; SEEN_ENOMEM; SEEN_ECANCEL. */
SEEN_API int seen_builder_finish(seen_builder *b, seen_filter **out);
SEEN_API void seen_builder_free(seen_builder *b); /* NULL is fine */

#include "seen_bitmap.h"
#ifdef SEEN_UNSTABLE /* for our front ends */
#include "seen_unstable.h"
#endif

#ifdef __cplusplus
}
#endif
#endif
