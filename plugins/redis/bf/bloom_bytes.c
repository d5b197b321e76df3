/* bloom_bytes.c - fast Bloom filters to bytes and back; every byte read is hostile. */
#include "bf/bloom_bytes.h"
#include "server/header_fields.h"

#define BF_MAGIC "seenBF2\n"
#define BF_XXH3_MAGIC "seenBF1\n"
enum { BF_FIXED = 88, BF_LAYER = 56 };
enum { FIXED_SIZE = 1, AUTOMATIC = 2, KNOWN = 4 }; /* how a BF grows */

bool bloom_is_header(const void *p, size_t len)
{
    return len >= HEADER_MAGIC && (!memcmp(p, BF_MAGIC, HEADER_MAGIC) ||
                                   !memcmp(p, BF_XXH3_MAGIC, HEADER_MAGIC));
}

size_t bloom_header(const bloom *b, void *buf, size_t size)
{
    bool keyed = b->spec.secret.keyed;
    size_t need = BF_FIXED + (keyed ? HEADER_HIGH : 0) + (size_t)b->nlayers * BF_LAYER +
                  HEADER_SUM;
    if (size < need)
        return need;
    header_out o = {buf};
    memcpy(o.p, keyed ? BF_MAGIC : BF_XXH3_MAGIC, HEADER_MAGIC);
    o.p += HEADER_MAGIC;
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
    put64(&o, seen_hash_seeded(0, buf, need - HEADER_SUM));
    return need;
}

static bool rate(double d)
{
    return d > 0 && d < 1;
}

int bloom_load(const void *bytes, size_t len, uint64_t max_bytes, bloom **result)
{
    const uint8_t *p = bytes;
    if (!bloom_is_header(p, len) || len < BF_FIXED + BF_LAYER + HEADER_SUM)
        return SEEN_EFORMAT;
    const uint8_t *sum = p + len - HEADER_SUM;
    if (get64(&sum) != seen_hash_seeded(0, bytes, len - HEADER_SUM))
        return SEEN_EFORMAT;
    bool keyed = !memcmp(p, BF_MAGIC, HEADER_MAGIC);
    size_t fixed = BF_FIXED + (keyed ? HEADER_HIGH : 0);
    p += HEADER_MAGIC;
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
    if (n < 1 || n > HEADER_MAX_LAYERS || len != fixed + n * BF_LAYER + HEADER_SUM ||
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
