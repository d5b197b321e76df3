/* bloom_bytes.c - fast filters to bytes and back; every byte read is hostile. */
#include "bf/bloom_bytes.h"
#include "module_api.h"
#include <endian.h>
#include <string.h>

/* Enough for a filter grown forty times by one layer of its own size, and small enough
 * that a header cannot ask for a million tiny layers. */
enum { MAX_LAYERS = 65536 };

/* Keyed filters have a second word of their secret; the others are older. */
#define BF_MAGIC "seenBF2\n"
#define BF_XXH3_MAGIC "seenBF1\n"
#define CF_MAGIC "seenCF3\n"
#define CF_HOT_MAGIC "seenCF4\n" /* the same with hot items at the end */
#define CF_XXH3_MAGIC "seenCF1\n"
#define CF_HOT_XXH3_MAGIC "seenCF2\n"
enum { MAGIC = 8, HIGH = 8, BF_FIXED = 88, BF_LAYER = 56, CF_FIXED = 72, CF_SUB = 8, SUM = 8 };
enum { CF_HOT = 16 };
enum { FIXED_SIZE = 1, AUTOMATIC = 2, KNOWN = 4 }; /* how a BF grows */

/* ---- little-endian fields ---------------------------------------------------- */

typedef struct out {
    uint8_t *p;
} out;

static void put64(out *o, uint64_t v)
{
    v = htole64(v);
    memcpy(o->p, &v, 8);
    o->p += 8;
}

static void put_double(out *o, double d)
{
    uint64_t v;
    memcpy(&v, &d, 8);
    put64(o, v);
}

static uint64_t get64(const uint8_t **p)
{
    uint64_t v;
    memcpy(&v, *p, 8);
    *p += 8;
    return le64toh(v);
}

static double get_double(const uint8_t **p)
{
    uint64_t v = get64(p);
    double d;
    memcpy(&d, &v, 8);
    return d;
}

/* ---- BF ---------------------------------------------------------------------- */

bool bloom_is_header(const void *p, size_t len)
{
    return len >= MAGIC &&
           (!memcmp(p, BF_MAGIC, MAGIC) || !memcmp(p, BF_XXH3_MAGIC, MAGIC));
}

size_t bloom_header(const bloom *b, void *buf, size_t size)
{
    bool keyed = b->spec.secret.keyed;
    size_t need = BF_FIXED + (keyed ? HIGH : 0) + (size_t)b->nlayers * BF_LAYER + SUM;
    if (size < need)
        return need;
    out o = {buf};
    memcpy(o.p, keyed ? BF_MAGIC : BF_XXH3_MAGIC, MAGIC);
    o.p += MAGIC;
    put64(&o, b->nlayers);
    put64(&o, (b->spec.fixed ? FIXED_SIZE : 0) | (b->spec.automatic ? AUTOMATIC : 0) |
                  (b->spec.known ? KNOWN : 0));
    put64(&o, b->items);
    put_double(&o, b->spec.error);
    put64(&o, b->spec.capacity);
    put64(&o, b->spec.expansion);
    put_double(&o, b->spec.tightening);
    put64(&o, b->spec.secret.low);
    put64(&o, b->spec.window);
    put64(&o, b->owner);
    if (keyed)
        put64(&o, b->spec.secret.high);
    for (uint32_t i = 0; i < b->nlayers; i++) {
        const bloom_layer *l = &b->layers[i];
        put64(&o, (uint64_t)l->kind << 32 | l->probes);
        put64(&o, l->bits);
        put64(&o, l->bytes);
        put64(&o, l->capacity);
        put64(&o, l->count);
        put_double(&o, l->error);
        put64(&o, (uint64_t)l->born);
    }
    put64(&o, seen_hash_seeded(0, buf, need - SUM));
    return need;
}

static bool rate(double d)
{
    return d > 0 && d < 1;
}

int bloom_load(const void *bytes, size_t len, uint64_t max_bytes, bloom **result)
{
    const uint8_t *p = bytes;
    if (!bloom_is_header(p, len) || len < BF_FIXED + BF_LAYER + SUM)
        return SEEN_EFORMAT;
    const uint8_t *sum = p + len - SUM;
    if (get64(&sum) != seen_hash_seeded(0, bytes, len - SUM))
        return SEEN_EFORMAT;
    bool keyed = !memcmp(p, BF_MAGIC, MAGIC);
    size_t fixed = BF_FIXED + (keyed ? HIGH : 0);
    p += MAGIC;
    uint64_t n = get64(&p), flags = get64(&p), items = get64(&p);
    bloom_spec spec = {.fixed = flags & FIXED_SIZE,
                       .automatic = flags & AUTOMATIC,
                       .known = flags & KNOWN,
                       .error = get_double(&p)};
    spec.capacity = get64(&p);
    uint64_t expansion = get64(&p);
    spec.expansion = (uint32_t)expansion;
    spec.tightening = get_double(&p);
    spec.secret = (filter_secret){.low = get64(&p), .keyed = keyed};
    spec.window = get64(&p);
    uint64_t owner = get64(&p);
    if (keyed)
        spec.secret.high = get64(&p);
    if (n < 1 || n > MAX_LAYERS || len != fixed + n * BF_LAYER + SUM ||
        flags > (FIXED_SIZE | AUTOMATIC | KNOWN) || !rate(spec.error) ||
        !spec.capacity || expansion > UINT32_MAX || (!spec.fixed && !expansion) ||
        !(spec.tightening >= 0 && spec.tightening < 1) || spec.window > INT64_MAX / 4 ||
        spec.capacity > (uint64_t)1 << 60 ||
        (spec.automatic && (spec.fixed || spec.window)))
        return SEEN_EFORMAT;
    bloom *b = bloom_shell(&spec);
    int rc = SEEN_OK;
    uint64_t total = 0, counted = 0;
    int64_t born = INT64_MIN;
    for (uint64_t i = 0; i < n && rc == SEEN_OK; i++) {
        bloom_layer l = {0};
        uint64_t word = get64(&p);
        l.kind = (uint32_t)(word >> 32);
        l.probes = (uint32_t)word;
        l.bits = get64(&p);
        l.bytes = get64(&p);
        l.capacity = get64(&p);
        l.count = get64(&p);
        l.error = get_double(&p);
        l.born = (int64_t)get64(&p);
        if (l.bytes > max_bytes - total || l.bytes > (uint64_t)1 << 46)
            rc = SEEN_ETOOBIG;
        else if (!rate(l.error) || !l.capacity || !l.bits || l.born < born ||
                 l.born > INT64_MAX / 4 || l.born < 0 ||
                 __builtin_add_overflow(counted, l.count, &counted))
            rc = SEEN_EFORMAT;
        else {
            int made = bloom_append(b, &l);
            rc = made == BLOOM_OK      ? SEEN_OK
                 : made == BLOOM_NOMEM ? SEEN_ENOMEM
                                       : SEEN_EFORMAT;
        }
        total += l.bytes;
        born = l.born;
    }
    if (rc == SEEN_OK && counted != items)
        rc = SEEN_EFORMAT;
    if (rc != SEEN_OK) {
        bloom_free(b);
        return rc;
    }
    b->items = items;
    b->owner = owner;
    secret_loaded(spec.secret);
    *result = b;
    return SEEN_OK;
}

/* ---- CF ---------------------------------------------------------------------- */

bool cuckoo_is_header(const void *p, size_t len)
{
    return len >= MAGIC &&
           (!memcmp(p, CF_MAGIC, MAGIC) || !memcmp(p, CF_HOT_MAGIC, MAGIC) ||
            !memcmp(p, CF_XXH3_MAGIC, MAGIC) || !memcmp(p, CF_HOT_XXH3_MAGIC, MAGIC));
}

size_t cuckoo_header(const cuckoo *c, void *buf, size_t size)
{
    bool keyed = c->secret.keyed;
    size_t need = CF_FIXED + (keyed ? HIGH : 0) + (size_t)c->nsubs * CF_SUB +
                  c->hot.n * CF_HOT + SUM;
    if (size < need)
        return need;
    out o = {buf};
    memcpy(o.p,
           keyed      ? (c->hot.n ? CF_HOT_MAGIC : CF_MAGIC)
           : c->hot.n ? CF_HOT_XXH3_MAGIC
                      : CF_XXH3_MAGIC,
           MAGIC);
    o.p += MAGIC;
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
    put64(&o, seen_hash_seeded(0, buf, need - SUM));
    return need;
}

static bool power(uint64_t n)
{
    return n && !(n & (n - 1)) && n <= (uint64_t)1 << 40;
}

int cuckoo_load(const void *bytes, size_t len, uint64_t max_bytes, cuckoo **result)
{
    const uint8_t *p = bytes;
    if (!cuckoo_is_header(p, len) || len < CF_FIXED + CF_SUB + SUM)
        return SEEN_EFORMAT;
    const uint8_t *sum = p + len - SUM;
    if (get64(&sum) != seen_hash_seeded(0, bytes, len - SUM))
        return SEEN_EFORMAT;
    bool keyed = !memcmp(p, CF_MAGIC, MAGIC) || !memcmp(p, CF_HOT_MAGIC, MAGIC);
    bool with_hot =
        !memcmp(p, CF_HOT_MAGIC, MAGIC) || !memcmp(p, CF_HOT_XXH3_MAGIC, MAGIC);
    size_t fixed = CF_FIXED + (keyed ? HIGH : 0);
    p += MAGIC;
    uint64_t n = get64(&p), items = get64(&p), deletes = get64(&p), buckets = get64(&p);
    uint64_t bucket_size = get64(&p), iterations = get64(&p), expansion = get64(&p);
    filter_secret secret = {.low = get64(&p), .keyed = keyed};
    if (n < 1 || n > MAX_LAYERS || len < fixed + n * CF_SUB + SUM)
        return SEEN_EFORMAT;
    if (keyed)
        secret.high = get64(&p);
    size_t hot = len - fixed - n * CF_SUB - SUM;
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
