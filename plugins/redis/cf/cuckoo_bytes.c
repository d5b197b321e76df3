/* cuckoo_bytes.c - fast cuckoo filters to bytes and back; every byte read is hostile.
 */
#include "cf/cuckoo_bytes.h"
#include "server/header_fields.h"
#include "server/module_api.h"

#define CF_MAGIC "seenCF3\n"
#define CF_HOT_MAGIC "seenCF4\n" /* the same with hot items at the end */
#define CF_XXH3_MAGIC "seenCF1\n"
#define CF_HOT_XXH3_MAGIC "seenCF2\n"
enum { CF_FIXED = 72, CF_SUB = 8, CF_HOT = 16 };

bool cuckoo_is_header(const void *p, size_t len)
{
    return len >= HEADER_MAGIC && (!memcmp(p, CF_MAGIC, HEADER_MAGIC) ||
                                   !memcmp(p, CF_HOT_MAGIC, HEADER_MAGIC) ||
                                   !memcmp(p, CF_XXH3_MAGIC, HEADER_MAGIC) ||
                                   !memcmp(p, CF_HOT_XXH3_MAGIC, HEADER_MAGIC));
}

size_t cuckoo_header(const cuckoo *c, void *buf, size_t size)
{
    bool keyed = c->secret.keyed;
    size_t need = CF_FIXED + (keyed ? HEADER_HIGH : 0) + (size_t)c->nsubs * CF_SUB +
                  c->hot.n * CF_HOT + HEADER_SUM;
    if (size < need)
        return need;
    header_out o = {buf};
    memcpy(o.p,
           keyed      ? (c->hot.n ? CF_HOT_MAGIC : CF_MAGIC)
           : c->hot.n ? CF_HOT_XXH3_MAGIC
                      : CF_XXH3_MAGIC,
           HEADER_MAGIC);
    o.p += HEADER_MAGIC;
    put64(&o, c->nsubs);
    put64(&o, c->items);
    put64(&o, c->deletes);
    put64(&o, c->buckets);
    put64(&o, c->bucket_size);
    put64(&o, c->max_iterations);
    put64(&o, c->expansion);
    put64(&o, c->secret.low);
    if (keyed)
        put64(&o, c->secret.high);
    for (uint32_t i = 0; i < c->nsubs; i++)
        put64(&o, c->subs[i].buckets);
    if (c->hot.n) { /* by hash, so that equal filters have equal bytes */
        copy_count *hot = RM_Alloc(c->hot.n * sizeof *hot);
        copy_counts_sorted(&c->hot, hot);
        for (uint64_t i = 0; i < c->hot.n; i++) {
            put64(&o, hot[i].hash);
            put64(&o, hot[i].count);
        }
        RM_Free(hot);
    }
    put64(&o, seen_hash_seeded(0, buf, need - HEADER_SUM));
    return need;
}

static bool power(uint64_t n)
{
    return n && !(n & (n - 1)) && n <= (uint64_t)1 << 40;
}

int cuckoo_load(const void *bytes, size_t len, uint64_t max_bytes, cuckoo **result)
{
    const uint8_t *p = bytes;
    if (!cuckoo_is_header(p, len) || len < CF_FIXED + CF_SUB + HEADER_SUM)
        return SEEN_EFORMAT;
    const uint8_t *sum = p + len - HEADER_SUM;
    if (get64(&sum) != seen_hash_seeded(0, bytes, len - HEADER_SUM))
        return SEEN_EFORMAT;
    bool keyed =
        !memcmp(p, CF_MAGIC, HEADER_MAGIC) || !memcmp(p, CF_HOT_MAGIC, HEADER_MAGIC);
    bool with_hot = !memcmp(p, CF_HOT_MAGIC, HEADER_MAGIC) ||
                    !memcmp(p, CF_HOT_XXH3_MAGIC, HEADER_MAGIC);
    size_t fixed = CF_FIXED + (keyed ? HEADER_HIGH : 0);
    p += HEADER_MAGIC;
    uint64_t n = get64(&p), items = get64(&p), deletes = get64(&p), buckets = get64(&p);
    uint64_t bucket_size = get64(&p), iterations = get64(&p), expansion = get64(&p);
    filter_secret secret = {.low = get64(&p), .keyed = keyed};
    if (n < 1 || n > HEADER_MAX_LAYERS || len < fixed + n * CF_SUB + HEADER_SUM)
        return SEEN_EFORMAT;
    if (keyed)
        secret.high = get64(&p);
    size_t hot = len - fixed - n * CF_SUB - HEADER_SUM;
    if (hot % CF_HOT || (hot > 0) != with_hot || !power(buckets) || bucket_size < 1 ||
        bucket_size > 255 || iterations < 1 || iterations > 65535 || expansion > 32768)
        return SEEN_EFORMAT;
    cuckoo *c = cuckoo_shell(buckets, (uint32_t)bucket_size, (uint32_t)iterations,
                             (uint32_t)expansion, secret);
    int rc = SEEN_OK;
    for (uint64_t i = 0; i < n && rc == SEEN_OK; i++) {
        cuckoo_sub s = {.buckets = get64(&p)};
        if (!power(s.buckets))
            rc = SEEN_EFORMAT;
        else if (cuckoo_sub_bytes(c, &s) > max_bytes - cuckoo_bytes(c))
            rc = SEEN_ETOOBIG;
        else if (!cuckoo_append(c, s.buckets))
            rc = SEEN_ENOMEM;
    }
    /* The table of hot items is at most a quarter full after it has grown. */
    if (rc == SEEN_OK && hot && hot > (max_bytes - cuckoo_bytes(c)) / 4)
        rc = SEEN_ETOOBIG;
    for (uint64_t last = 0; hot && rc == SEEN_OK; hot -= CF_HOT) {
        uint64_t hash = get64(&p), count = get64(&p);
        if (!count || (hash <= last && c->hot.n) || count > items)
            rc = SEEN_EFORMAT;
        else if (!copy_counts_add(&c->hot, hash, count))
            rc = SEEN_ENOMEM;
        last = hash;
    }
    if (rc != SEEN_OK) {
        cuckoo_free(c);
        return rc;
    }
    c->items = items;
    c->deletes = deletes;
    secret_loaded(secret);
    *result = c;
    return SEEN_OK;
}
