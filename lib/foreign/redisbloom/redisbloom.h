/* redisbloom.h - RedisBloom's structures in memory, bit for bit.
 *
 * sn_bf is the value that BF.RESERVE creates: a chain of Bloom filters. sn_cf is the
 * value that CF.RESERVE creates: a chain of cuckoo filters. Both map keys to the same
 * bits as RedisBloom 2.x to 8.x, and read and write the bytes of its SCANDUMP and
 * LOADCHUNK commands. seen_hk is the value that TOPK.RESERVE creates. They know nothing
 * else of Redis. seen_open_foreign() of seen.h opens files of such dumps as ordinary
 * filters.
 *
 * Errors are those of seen.h: a negative code, the object unchanged, the message in
 * seen_reason(). Memory comes from the given allocator (NULL or zeroes: the system's);
 * freeing touches nothing but that memory, so another thread may do it.
 */
#ifndef SN_REDISBLOOM_H
#define SN_REDISBLOOM_H
#include "seen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A dump is sent in chunks of at most this many bytes. */
#define SEEN_REDIS_CHUNK ((size_t)16 << 20)

/* ---- BF: a chain of Bloom filters ----------------------------------------------- */

typedef struct sn_bf sn_bf;

enum {                       /* the options word of a dump */
       SN_BF_NOROUND = 1,  /* bit counts need not be powers of two */
       SN_BF_RAWBITS = 2,  /* historic; kept, but has no effect on the bits */
       SN_BF_FORCE64 = 4,  /* 64-bit hashes */
       SN_BF_NOSCALING = 8 /* never appends a link */
};

/* One link of the chain, as the dump describes it. */
typedef struct sn_bf_link_info {
    uint64_t bytes;   /* of the bit array */
    uint64_t bits;    /* bytes * 8 */
    uint64_t size;    /* items added to this link */
    double error;     /* its own error rate */
    double bpe;       /* bits per entry */
    uint32_t hashes;  /* k */
    uint64_t entries; /* its capacity in items */
    uint8_t n2;       /* log2 of the bits, 0 if not a power of two */
    const void *data; /* the bit array, `bytes` long */
} sn_bf_link_info;

typedef struct sn_bf_info {
    uint64_t items;    /* BF.CARD */
    uint64_t capacity; /* entries of all links */
    uint64_t bytes;    /* of all bit arrays */
    uint64_t size;     /* what BF.INFO calls Size */
    uint32_t links;
    uint32_t options;   /* SN_BF_* */
    uint32_t expansion; /* as stored */
} sn_bf_info;

/* BF.RESERVE: ERROR in (0, 1), at most 0.25 is used; CAPACITY 1 .. 2^30; EXPANSION
 * 0 .. 32768, where 0 means NONSCALING. SEEN_EINVAL names the argument. */
int sn_bf_new(double error, uint64_t capacity, uint32_t expansion,
                         bool nonscaling, const seen_allocator *a, sn_bf **out);
void sn_bf_free(sn_bf *f);
int sn_bf_copy(const sn_bf *f, const seen_allocator *a, sn_bf **out);

/* BF.ADD: SEEN_NEW, SEEN_DUP, SEEN_EFULL (non scaling filter is full), SEEN_ENOMEM. */
int sn_bf_add(sn_bf *f, const void *key, size_t len);
bool sn_bf_has(const sn_bf *f, const void *key, size_t len);

/* BF.MADD and BF.MEXISTS: batches, which prefetch memory for many keys at once. Keys
 * are added in order, and dup[i] is true if key i was there before. Returns how many
 * were added; if fewer than N, *WHY is the error code of the next one. */
size_t sn_bf_add_many(sn_bf *f, const seen_key *keys, size_t n, bool *dup,
                                 int *why);
void sn_bf_has_many(const sn_bf *f, const seen_key *keys, size_t n,
                               bool *found);

void sn_bf_get_info(const sn_bf *f, sn_bf_info *out);
/* Link I, 0 the oldest; SEEN_EINVAL beyond the last. data points into F. */
int sn_bf_get_link(const sn_bf *f, uint32_t i, sn_bf_link_info *out);

/* The header that SCANDUMP sends with iterator 1. Returns its length, 20 + 53 * links;
 * writes it only if SIZE is large enough. */
size_t sn_bf_header(const sn_bf *f, void *buf, size_t size);

/* LOADCHUNK with iterator 1 and a key that does not exist: makes an empty chain with
 * the shape in HEADER. SEEN_EFORMAT if RedisBloom would call it bad data, SEEN_ETOOBIG
 * if the bit arrays together exceed MAX_BYTES, which is checked before anything is
 * allocated. */
int sn_bf_load(const void *header, size_t len, uint64_t max_bytes,
                          const seen_allocator *a, sn_bf **out);

/* Makes a chain from its parts, for callers that store the fields themselves (RDB).
 * Reads entries, error, hashes, bpe, bits, n2 and size of each link and checks them as
 * in a header; copies data, where NULL means all zero. */
int sn_bf_make(uint32_t options, uint32_t expansion,
                          const sn_bf_link_info *links, uint32_t n, uint64_t max_bytes,
                          const seen_allocator *a, sn_bf **out);

/* ---- bitmaps that scripts fill with SETBIT -------------------------------------- */

/* Python's mmh3.hash(key, seed, signed=False): MurmurHash3, x86, 32 bits. */
uint32_t seen_mmh3(const void *key, size_t len, uint32_t seed);

/* ---- CF: a chain of cuckoo filters ---------------------------------------------- */

typedef struct sn_cf sn_cf;

typedef struct sn_cf_info {
    uint64_t items;       /* added and not deleted */
    uint64_t deletes;     /* since the last compaction */
    uint64_t buckets;     /* of the first filter */
    uint64_t buckets_all; /* of all filters */
    uint64_t bytes;       /* of all filters */
    uint64_t size;        /* what CF.INFO calls Size */
    uint32_t filters;
    uint16_t bucket_size;
    uint16_t max_iterations;
    uint16_t expansion; /* as stored: 0 or a power of two */
} sn_cf_info;

/* CF.RESERVE: BUCKET_SIZE 1 .. 255, CAPACITY 2 * bucket size .. 2^30,
 * MAX_ITERATIONS 1 .. 65535, EXPANSION 0 .. 32768 (rounded up to a power of two; 0:
 * never grows). SEEN_EINVAL names the argument. */
int sn_cf_new(uint64_t capacity, uint32_t bucket_size,
                         uint32_t max_iterations, uint32_t expansion,
                         const seen_allocator *a, sn_cf **out);
void sn_cf_free(sn_cf *f);
int sn_cf_copy(const sn_cf *f, const seen_allocator *a, sn_cf **out);

/* CF.ADD: always SEEN_NEW, or SEEN_EFULL (it may not grow), SEEN_ETOOBIG (it would need
 * more than MAX_FILTERS filters; 0: 32, RedisBloom's default) or SEEN_ENOMEM. */
int sn_cf_add(sn_cf *f, const void *key, size_t len, uint32_t max_filters);
/* CF.ADDNX: SEEN_DUP, without adding, if the key is present. */
int sn_cf_addnx(sn_cf *f, const void *key, size_t len,
                           uint32_t max_filters);
bool sn_cf_has(const sn_cf *f, const void *key, size_t len);
uint64_t sn_cf_count(const sn_cf *f, const void *key, size_t len);
/* CF.DEL: 1 if a copy was removed (newest filter first), 0 if there is none. Compacts
 * automatically when a tenth of a grown filter was deleted. */
int sn_cf_del(sn_cf *f, const void *key, size_t len);
/* CF.COMPACT: moves as many items as it can from newer filters to older ones and drops
 * the newest filters if they are empty. */
void sn_cf_compact(sn_cf *f);

void sn_cf_get_info(const sn_cf *f, sn_cf_info *out);
/* Filter I, 0 the oldest: its bytes, one fingerprint each, and their number. */
int sn_cf_get_filter(const sn_cf *f, uint32_t i, const void **data,
                                uint64_t *bytes);

/* The 38-byte header and its loading, as for BF. */
#define SN_CF_HEADER 38
void sn_cf_header(const sn_cf *f, void *buf);
int sn_cf_load(const void *header, size_t len, uint64_t max_bytes,
                          const seen_allocator *a, sn_cf **out);

/* ---- TOPK: HeavyKeeper ----------------------------------------------------------- */

typedef struct seen_hk seen_hk;

typedef struct seen_hk_info {
    uint32_t k, width, depth;
    double decay;
    uint64_t bytes; /* of memory, items included */
} seen_hk_info;

/* TOPK.RESERVE; DECAY in (0, 1]. SEEN_EINVAL names the argument; SEEN_ETOOBIG,
 * SEEN_ENOMEM. */
int seen_hk_new(uint32_t k, uint32_t width, uint32_t depth, double decay,
                         const seen_allocator *a, seen_hk **out);
void seen_hk_free(seen_hk *h); /* NULL is fine */
int seen_hk_copy(const seen_hk *h, seen_hk **out);

/* TOPK.INCRBY: SEEN_OK, SEEN_EINVAL (longer than UINT32_MAX), SEEN_ENOMEM. *EXPELLED is
 * the item that lost its place to this one, valid until the next call; data is NULL if
 * there is none. */
int seen_hk_add(seen_hk *h, const void *item, size_t len, uint32_t inc,
                         seen_key *expelled);
bool seen_hk_has(const seen_hk *h, const void *item, size_t len);
uint32_t seen_hk_count(const seen_hk *h, const void *item, size_t len);
/* TOPK.LIST: the places of the items in the heap, largest count first; returns their
 * number. Valid until the next call. */
uint32_t seen_hk_list(seen_hk *h, const uint32_t **places);
/* The item at PLACE 0 .. k-1 of the heap, with its count; false if the slot is empty.
 */
bool seen_hk_item(const seen_hk *h, uint32_t place, seen_key *item,
                           uint32_t *count);

void seen_hk_get_info(const seen_hk *h, seen_hk_info *out);

/* The RDB holds the buckets, the heap in k entries of this many bytes, and the items in
 * heap order. */
#define SEEN_HK_HEAP_ENTRY 24
const void *seen_hk_buckets(const seen_hk *h, size_t *len);
void seen_hk_write_heap(const seen_hk *h, uint8_t *buf);
/* Fill a new H: first buckets and heap, then each item. Length 0 is an empty slot, or
 * the empty item if it has that fingerprint. SEEN_EFORMAT, SEEN_ENOMEM. */
int seen_hk_set(seen_hk *h, const void *buckets, size_t buckets_bytes,
                         const void *heap, size_t heap_bytes);
int seen_hk_set_item(seen_hk *h, uint32_t place, const void *item, size_t len);

#ifdef __cplusplus
}
#endif
#endif
