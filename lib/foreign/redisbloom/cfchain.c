/* cfchain.c - sn_cf: RedisBloom's chain of cuckoo filters, byte for byte.
 *
 * A key is one byte, its fingerprint, in one of two buckets of some filter of the
 * chain; 0 is an empty slot. The numbers of buckets are powers of two, each a multiple
 * of the one before. So a bucket number in a newer filter also gives the bucket in
 * every older one, and compaction can move bytes without knowing the keys. */
#include "base/untrusted_header.h"
#include "foreign/redisbloom/redis_chain.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/memory.h"
#include "hash/murmur2.h"
#include "kind/kind.h"

#define MAX_FILTERS 65536

typedef struct table {
    uint8_t *slots;
    uint64_t buckets;
    bool owned;
} table;

struct sn_cf {
    seen_allocator alloc;
    uint64_t items, deletes, buckets; /* buckets of the first table */
    uint32_t n, room;
    uint16_t bucket_size, max_iterations, expansion;
    table *tables; /* oldest first */
};

typedef struct spot {
    uint64_t one, two; /* buckets, before the modulus */
    uint8_t fp;
} spot;

static uint64_t other_bucket(uint64_t bucket, uint8_t fp)
{
    return bucket ^ (uint64_t)fp * 0x5bd1e995;
}

static spot spot_of(const void *key, size_t len)
{
    uint64_t h = sn_murmur64a(key, len, 0);
    uint8_t fp = (uint8_t)(h % 255 + 1);
    return (spot){h, other_bucket(h, fp), fp};
}

static uint8_t *bucket_at(const sn_cf *f, const table *t, uint64_t i)
{
    return t->slots + (i & (t->buckets - 1)) * f->bucket_size;
}

static uint64_t table_bytes(const sn_cf *f, const table *t)
{
    return t->buckets * f->bucket_size;
}

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

/* Buckets of table I; 0 if that is more than memory can hold. */
static uint64_t buckets_of(const sn_cf *f, uint32_t i)
{
    uint64_t b = f->buckets;
    while (i-- > 0 && f->expansion > 1) {
        if (b > SN_MAX_BYTES / f->expansion)
            return 0;
        b *= f->expansion;
    }
    return b > SN_MAX_BYTES / f->bucket_size ? 0 : b;
}

/* ---- the chain ------------------------------------------------------------------ */

static int chain_new(uint32_t room, const seen_allocator *a, sn_cf **out)
{
    static const seen_allocator system;
    a = a ? a : &system;
    sn_cf *f = sn_alloc(a, sizeof *f);
    if (!f)
        return sn_no_memory("no memory for a chain");
    f->alloc = *a;
    f->room = room;
    f->tables = sn_alloc(a, room * sizeof *f->tables);
    if (!f->tables) {
        sn_free(a, f, sizeof *f);
        return sn_no_memory("no memory for %u filters", room);
    }
    *out = f;
    return SEEN_OK;
}

static void table_drop(sn_cf *f, table *t)
{
    if (t->owned)
        sn_body_free(&f->alloc, t->slots, table_bytes(f, t));
    *t = (table){0};
}

void sn_cf_free(sn_cf *f)
{
    if (!f)
        return;
    seen_allocator a = f->alloc;
    for (uint32_t i = 0; i < f->n; i++)
        table_drop(f, &f->tables[i]);
    sn_free(&a, f->tables, f->room * sizeof *f->tables);
    sn_free(&a, f, sizeof *f);
}

/* Appends an empty table. */
static int chain_grow(sn_cf *f)
{
    table t = {.buckets = buckets_of(f, f->n), .owned = true};
    if (!t.buckets)
        return sn_fail(SEEN_ETOOBIG, "filter %u would be too large", f->n);
    if (f->n == f->room) {
        table *tables = sn_alloc(&f->alloc, f->room * 2 * sizeof *tables);
        if (!tables)
            return sn_no_memory("no memory for %u filters", f->room * 2);
        memcpy(tables, f->tables, f->n * sizeof *tables);
        sn_free(&f->alloc, f->tables, f->room * sizeof *tables);
        f->tables = tables;
        f->room *= 2;
    }
    t.slots = sn_body_alloc(&f->alloc, table_bytes(f, &t));
    if (!t.slots)
        return sn_no_memory("no memory for a filter of %llu buckets",
                            (unsigned long long)t.buckets);
    f->tables[f->n++] = t;
    return SEEN_OK;
}

int sn_cf_new(uint64_t capacity, uint32_t bucket_size, uint32_t max_iterations,
                uint32_t expansion, const seen_allocator *a, sn_cf **out)
{
    sn_cf *f;
    if (bucket_size < 1 || bucket_size > 255)
        return sn_fail(SEEN_EINVAL, "bucket size %u is not in 1 .. 255", bucket_size);
    if (max_iterations < 1 || max_iterations > 65535)
        return sn_fail(SEEN_EINVAL, "max iterations %u is not in 1 .. 65535",
                       max_iterations);
    if (expansion > 32768)
        return sn_fail(SEEN_EINVAL, "expansion %u is not in 0 .. 32768", expansion);
    if (capacity < 2 * bucket_size || capacity > (uint64_t)1 << 30)
        return sn_fail(SEEN_EINVAL, "capacity %llu is not in %u .. 1073741824",
                       (unsigned long long)capacity, 2 * bucket_size);
    int rc = chain_new(1, a, &f);
    if (rc < 0)
        return rc;
    f->buckets = power_of_two(capacity / bucket_size);
    f->bucket_size = (uint16_t)bucket_size;
    f->max_iterations = (uint16_t)max_iterations;
    f->expansion = (uint16_t)(expansion ? power_of_two(expansion) : 0);
    rc = chain_grow(f);
    if (rc < 0) {
        sn_cf_free(f);
        return rc;
    }
    *out = f;
    return SEEN_OK;
}

/* The numbers of F and N zeroed tables. */
static int chain_like(const sn_cf *f, uint32_t n, const seen_allocator *a,
                      sn_cf **out)
{
    sn_cf *g;
    int rc = chain_new(n, a, &g);
    if (rc < 0)
        return rc;
    g->items = f->items;
    g->deletes = f->deletes;
    g->buckets = f->buckets;
    g->bucket_size = f->bucket_size;
    g->max_iterations = f->max_iterations;
    g->expansion = f->expansion;
    while (g->n < n) {
        rc = chain_grow(g);
        if (rc < 0) {
            sn_cf_free(g);
            return rc;
        }
    }
    *out = g;
    return SEEN_OK;
}

int sn_cf_copy(const sn_cf *f, const seen_allocator *a, sn_cf **out)
{
    int rc = chain_like(f, f->n, a, out);
    for (uint32_t i = 0; rc == SEEN_OK && i < f->n; i++)
        memcpy((*out)->tables[i].slots, f->tables[i].slots,
               table_bytes(f, &f->tables[i]));
    return rc;
}

/* ---- keys ----------------------------------------------------------------------- */

/* A free slot in one of the spot's two buckets of T, or NULL. */
static uint8_t *find_free(const sn_cf *f, const table *t, spot s)
{
    uint8_t *free_slot = memchr(bucket_at(f, t, s.one), 0, f->bucket_size);
    return free_slot ? free_slot : memchr(bucket_at(f, t, s.two), 0, f->bucket_size);
}

static uint8_t *find_fp(const sn_cf *f, const table *t, spot s)
{
    uint8_t *slot = memchr(bucket_at(f, t, s.one), s.fp, f->bucket_size);
    return slot ? slot : memchr(bucket_at(f, t, s.two), s.fp, f->bucket_size);
}

static uint8_t swap(uint8_t *slot, uint8_t fp)
{
    uint8_t old = *slot;
    *slot = fp;
    return old;
}

/* Puts the fingerprint into its first bucket, the one it evicts into that one's other
 * bucket, and so on. After too many steps it undoes them all, in reverse. */
static bool kick(sn_cf *f, table *t, spot s)
{
    uint32_t victim = 0, size = f->bucket_size;
    uint64_t at = s.one;
    uint8_t fp = s.fp;
    for (uint32_t i = 0; i < f->max_iterations; i++) {
        fp = swap(bucket_at(f, t, at) + victim, fp);
        at = other_bucket(at, fp);
        uint8_t *slot = memchr(bucket_at(f, t, at), 0, size);
        if (slot) {
            *slot = fp;
            return true;
        }
        victim = (victim + 1) % size;
    }
    for (uint32_t i = 0; i < f->max_iterations; i++) {
        victim = (victim + size - 1) % size;
        at = other_bucket(at, fp);
        fp = swap(bucket_at(f, t, at) + victim, fp);
    }
    return false;
}

static int insert(sn_cf *f, spot s, uint32_t max_filters)
{
    uint8_t *slot = NULL;
    max_filters = max_filters ? max_filters : 32;
    for (uint32_t i = f->n; !slot && i-- > 0;)
        slot = find_free(f, &f->tables[i], s);
    if (!slot && !kick(f, &f->tables[f->n - 1], s)) {
        if (f->expansion == 0)
            return sn_fail(SEEN_EFULL, "the filter is full and may not grow");
        if (f->n >= max_filters)
            return sn_fail(SEEN_ETOOBIG, "maximum expansions reached: %u filters",
                           f->n);
        int rc = chain_grow(f);
        if (rc < 0)
            return rc;
        slot = find_free(f, &f->tables[f->n - 1], s);
    }
    if (slot)
        *slot = s.fp;
    f->items++;
    return SEEN_NEW;
}

static bool chain_has(const sn_cf *f, spot s)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (find_fp(f, &f->tables[i], s))
            return true;
    return false;
}

int sn_cf_add(sn_cf *f, const void *key, size_t len, uint32_t max_filters)
{
    return insert(f, spot_of(key, len), max_filters);
}

int sn_cf_addnx(sn_cf *f, const void *key, size_t len, uint32_t max_filters)
{
    spot s = spot_of(key, len);
    return chain_has(f, s) ? SEEN_DUP : insert(f, s, max_filters);
}

bool sn_cf_has(const sn_cf *f, const void *key, size_t len)
{
    return chain_has(f, spot_of(key, len));
}

static uint64_t bucket_count(const sn_cf *f, const uint8_t *bucket, uint8_t fp)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->bucket_size; i++)
        n += bucket[i] == fp;
    return n;
}

uint64_t sn_cf_count(const sn_cf *f, const void *key, size_t len)
{
    spot s = spot_of(key, len);
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        const uint8_t *one = bucket_at(f, &f->tables[i], s.one);
        const uint8_t *two = bucket_at(f, &f->tables[i], s.two);
        n += bucket_count(f, one, s.fp);
        n += one != two ? bucket_count(f, two, s.fp) : 0;
    }
    return n;
}

/* ---- removing ------------------------------------------------------------------- */

/* Moves as much of table I to older ones as it can; true if it is empty now. */
static bool table_empty(sn_cf *f, uint32_t i)
{
    table *t = &f->tables[i];
    bool empty = true;
    for (uint64_t b = 0; b < t->buckets; b++) {
        uint8_t *bucket = bucket_at(f, t, b);
        for (uint32_t j = 0; j < f->bucket_size; j++) {
            if (!bucket[j])
                continue;
            spot s = {b, other_bucket(b, bucket[j]), bucket[j]};
            uint8_t *slot = NULL;
            for (uint32_t older = 0; !slot && older < i; older++)
                slot = find_free(f, &f->tables[older], s);
            if (slot) {
                *slot = bucket[j];
                bucket[j] = 0;
            } else {
                empty = false;
            }
        }
    }
    return empty;
}

static void compact(sn_cf *f, bool all)
{
    for (uint32_t i = f->n; i-- > 1;) {
        bool empty = table_empty(f, i);
        if (empty && i == f->n - 1)
            table_drop(f, &f->tables[--f->n]);
        else if (!empty && !all)
            break; /* older tables are even fuller */
    }
    f->deletes = 0;
}

void sn_cf_compact(sn_cf *f)
{
    compact(f, true);
}

int sn_cf_del(sn_cf *f, const void *key, size_t len)
{
    spot s = spot_of(key, len);
    for (uint32_t i = f->n; i-- > 0;) {
        uint8_t *slot = find_fp(f, &f->tables[i], s);
        if (!slot)
            continue;
        *slot = 0;
        f->items -= f->items > 0;
        sn_count_up(&f->deletes, 1);
        if (f->n > 1 && (double)f->deletes > 0.1 * (double)f->items)
            compact(f, false);
        return 1;
    }
    return 0;
}

/* ---- what is in it -------------------------------------------------------------- */

void sn_cf_get_info(const sn_cf *f, sn_cf_info *out)
{
    *out = (sn_cf_info){.items = f->items,
                          .deletes = f->deletes,
                          .buckets = f->buckets,
                          .filters = f->n,
                          .bucket_size = f->bucket_size,
                          .max_iterations = f->max_iterations,
                          .expansion = f->expansion};
    for (uint32_t i = 0; i < f->n; i++) {
        out->buckets_all += f->tables[i].buckets;
        out->bytes += table_bytes(f, &f->tables[i]);
    }
    out->size = 40 + 16 * (uint64_t)f->n + out->bytes;
}

int sn_cf_get_filter(const sn_cf *f, uint32_t i, const void **data, uint64_t *bytes)
{
    if (i >= f->n)
        return sn_fail(SEEN_EINVAL, "filter %u of %u", i, f->n);
    *data = f->tables[i].slots;
    *bytes = table_bytes(f, &f->tables[i]);
    return SEEN_OK;
}

/* ---- dumps ---------------------------------------------------------------------- */

static uint16_t get16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static void put16(uint8_t *p, uint16_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
}

void sn_cf_header(const sn_cf *f, void *buf)
{
    uint8_t *p = buf;
    uint64_t slots = 0;
    for (uint32_t i = 0; i < f->n; i++)
        slots += table_bytes(f, &f->tables[i]);
    /* A wrong count in a loaded dump must not be written as an impossible one. */
    sn_put64(p, f->items < slots ? f->items : slots);
    sn_put64(p + 8, f->buckets);
    sn_put64(p + 16, f->deletes);
    sn_put64(p + 24, f->n);
    put16(p + 32, f->bucket_size);
    put16(p + 34, f->max_iterations);
    put16(p + 36, f->expansion);
}

/* Reads and checks a header; *N is the number of filters, *BYTES that of all slots. */
static int header_read(const uint8_t *p, size_t len, sn_cf *f, uint32_t *n,
                       uint64_t *bytes)
{
    if (len != SN_CF_HEADER)
        return sn_fail(SEEN_EFORMAT, "a header of %zu bytes, not %d", len,
                       SN_CF_HEADER);
    uint64_t filters = sn_le64(p + 24);
    *f = (sn_cf){.items = sn_le64(p),
                   .buckets = sn_le64(p + 8),
                   .deletes = sn_le64(p + 16),
                   .bucket_size = get16(p + 32),
                   .max_iterations = get16(p + 34),
                   .expansion = get16(p + 36)};
    if (filters < 1 || filters > MAX_FILTERS)
        return sn_fail(SEEN_EFORMAT, "numFilters is %llu", (unsigned long long)filters);
    if (!f->buckets || f->buckets & (f->buckets - 1))
        return sn_fail(SEEN_EFORMAT, "numBuckets %llu is not a power of two",
                       (unsigned long long)f->buckets);
    if (f->bucket_size < 1 || f->bucket_size > 255)
        return sn_fail(SEEN_EFORMAT, "bucketSize is %u", f->bucket_size);
    if (f->max_iterations < 1)
        return sn_fail(SEEN_EFORMAT, "maxIterations is 0");
    if (f->expansion & (f->expansion - 1))
        return sn_fail(SEEN_EFORMAT, "expansion %u is not a power of two",
                       f->expansion);
    if (f->expansion == 0 && filters > 1)
        return sn_fail(SEEN_EFORMAT, "numFilters is %llu though expansion is 0",
                       (unsigned long long)filters);
    *bytes = 0;
    for (uint32_t i = 0; i < filters; i++) {
        uint64_t b = buckets_of(f, i) * f->bucket_size;
        if (!b || __builtin_add_overflow(*bytes, b, bytes))
            return sn_fail(SEEN_EFORMAT,
                           "numBuckets %llu times expansion %u is too large",
                           (unsigned long long)f->buckets, f->expansion);
    }
    if (f->items > *bytes)
        return sn_fail(SEEN_EFORMAT, "numItems %llu do not fit in %llu slots",
                       (unsigned long long)f->items, (unsigned long long)*bytes);
    *n = (uint32_t)filters;
    return SEEN_OK;
}

int sn_cf_load(const void *header, size_t len, uint64_t max_bytes,
                 const seen_allocator *a, sn_cf **out)
{
    sn_cf shape;
    uint32_t n;
    uint64_t bytes;
    int rc = header_read(header, len, &shape, &n, &bytes);
    if (rc < 0)
        return rc;
    if (bytes > max_bytes)
        return sn_fail(SEEN_ETOOBIG, "filters of %llu bytes, %llu allowed",
                       (unsigned long long)bytes, (unsigned long long)max_bytes);
    return chain_like(&shape, n, a, out);
}

int sn_cf_over(uint8_t *dump, size_t len, const seen_allocator *a, sn_cf **out)
{
    sn_cf shape, *f;
    uint32_t n;
    uint64_t bytes;
    if (len < SN_CF_HEADER)
        return sn_fail(SEEN_EFORMAT, "%zu bytes are too short for a dump", len);
    int rc = header_read(dump, SN_CF_HEADER, &shape, &n, &bytes);
    if (rc < 0)
        return rc;
    if (bytes != len - SN_CF_HEADER)
        return sn_wrong_length(
            bytes > len - SN_CF_HEADER,
            "the header promises %llu slots, %llu bytes follow",
            (unsigned long long)bytes, (unsigned long long)(len - SN_CF_HEADER));
    rc = chain_new(n, a, &f);
    if (rc < 0)
        return rc;
    shape.alloc = f->alloc;
    shape.tables = f->tables;
    shape.room = f->room;
    shape.n = n;
    *f = shape;
    uint8_t *p = dump + SN_CF_HEADER;
    for (uint32_t i = 0; i < n; i++) {
        f->tables[i] = (table){.slots = p, .buckets = buckets_of(f, i)};
        p += table_bytes(f, &f->tables[i]);
    }
    *out = f;
    return SEEN_OK;
}
