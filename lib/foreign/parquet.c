/* parquet.c - Parquet's split block filter: a Thrift header and a native split layer.
 *
 * The split kind tests and sets bits in the bitset in place, with Parquet's hash.
 * parquet-v0 is the withdrawn first version, read only: it has another header, another
 * hash, and chooses the block by a mask instead of a product. */
#include "foreign/sbbf.h"
#include "foreign/thrift.h"
#include "base/bytes.h"
#include "hash/murmur3.h"
#include "hash/foreign_hashes.h"
#include "kind/split.h"
#include <math.h>

#define GROUP 64

/* ---- the header ----------------------------------------------------------------- */

/* A union whose only accepted member is an empty structure with id 1. */
static int union_is_one(sn_thrift *t, const char *name)
{
    uint32_t id = 0;
    int type = sn_thrift_field(t, &id);
    if (t->bad || type != SN_T_STRUCT || id != 1)
        return sn_fail(SEEN_EFORMAT, "%s has an unknown value", name);
    sn_thrift_skip(t, type);
    while ((type = sn_thrift_field(t, &id)) > 0)
        sn_thrift_skip(t, type);
    return SEEN_OK;
}

int sn_sbbf_header(const uint8_t *p, uint64_t len, uint64_t *head, uint64_t *bytes)
{
    static const char *const names[] = {"", "numBytes", "algorithm", "hash",
                                        "compression"};
    sn_thrift t = {p, p + (len < 4096 ? len : 4096), false, 0};
    uint32_t id = 0, have = 0;
    int64_t size = 0;
    int rc = SEEN_OK;
    for (int type; rc == SEEN_OK && (type = sn_thrift_field(&t, &id)) > 0;) {
        bool known = id == 1 ? type == SN_T_I32 : id <= 4 && type == SN_T_STRUCT;
        if (!known)
            sn_thrift_skip(&t, type);
        else if (id == 1)
            size = sn_thrift_int(&t);
        else if (id)
            rc = union_is_one(&t, names[id]);
        have |= known ? 1u << id : 0;
    }
    if (rc < 0)
        return rc;
    if (t.bad)
        return sn_fail(SEEN_EFORMAT, "the header is not a Thrift structure");
    for (uint32_t i = 1; i <= 4; i++)
        if (!(have >> i & 1))
            return sn_fail(SEEN_EFORMAT, "the header lacks %s", names[i]);
    if (size < 32 || size > INT32_MAX || size % 32)
        return sn_fail(SEEN_EFORMAT,
                       "numBytes is %lld, not a multiple of 32 below 2^31",
                       (long long)size);
    *head = (uint64_t)(t.p - p);
    *bytes = (uint64_t)size;
    return SEEN_OK;
}

size_t sn_sbbf_put_header(uint8_t *p, uint64_t bytes)
{
    static const uint8_t unions[] = {0x1c, 0x1c, 0,    0, 0x1c, 0x1c, 0,
                                     0,    0x1c, 0x1c, 0, 0,    0};
    uint64_t x = bytes * 2;
    size_t n = 0;
    p[n++] = 0x15;
    for (; x >= 0x80; x >>= 7)
        p[n++] = (uint8_t)(x | 0x80);
    p[n++] = (uint8_t)x;
    memcpy(p + n, unions, sizeof unions);
    return n + sizeof unions;
}

/* ---- the bits ------------------------------------------------------------------- */

int sn_sbbf_layer(sn_layer *l, uint8_t *bitset, uint64_t bytes)
{
    sn_shape shape = {.kind = SEEN_SPLIT, .k = 8, .units = bytes / 32};
    if (bytes % 32 || sn_split.body_len(&shape) != bytes)
        return sn_fail(SEEN_EFORMAT, "a bitset of %llu bytes",
                       (unsigned long long)bytes);
    *l = (sn_layer){.kind = &sn_split, .shape = shape, .len = bytes, .body = bitset};
    enum sn_simd simd = sn_simd_best();
    l->variant = sn_split.variant(&shape, simd, false);
#if defined(__x86_64__)
    bool anywhere = simd >= SN_AVX2;
#else
    bool anywhere = false;
#endif
    if (!anywhere && (uintptr_t)bitset % 4)
        l->variant = NULL; /* only AVX2 and AVX-512 accept any address */
    return SEEN_OK;
}

static bool block_bits(uint8_t *block, uint32_t x, bool set)
{
    bool all = true;
    for (int i = 0; i < 8; i++) {
        uint32_t bit = (x * sn_split_salt[i]) >> 27;
        uint8_t *byte = block + 4 * i + bit / 8, mask = (uint8_t)(1u << (bit & 7));
        all &= (*byte & mask) != 0;
        if (set)
            *byte |= mask;
    }
    return all;
}

void sn_sbbf_has(const sn_layer *l, const uint64_t *h, size_t n, bool *found)
{
    if (l->variant) {
        l->variant->has(l, h, n, found);
        return;
    }
    for (size_t i = 0; i < n; i++)
        found[i] = block_bits(sn_split_at(l, h[i]), (uint32_t)h[i], false);
}

void sn_sbbf_add(sn_layer *l, const uint64_t *h, size_t n, bool *dup)
{
    if (l->variant) {
        l->variant->add(l, h, n, dup);
        return;
    }
    for (size_t i = 0; i < n; i++)
        dup[i] = block_bits(sn_split_at(l, h[i]), (uint32_t)h[i], true);
}

static size_t hash_group(const sn_layer *l, const seen_key *keys, size_t n, uint64_t *h)
{
    n = n < GROUP ? n : GROUP;
    for (size_t i = 0; i < n; i++)
        h[i] = sn_xxh64(keys[i].data, keys[i].len, 0);
    sn_split_prefetch(l, h, n);
    return n;
}

static void has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    uint64_t h[GROUP];
    for (size_t c; n; keys += c, found += c, n -= c) {
        c = hash_group(f->own, keys, n, h);
        sn_sbbf_has(f->own, h, c, found);
    }
}

static size_t add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    uint64_t h[GROUP];
    for (size_t c, left = n; left; keys += c, dup += c, left -= c) {
        c = hash_group(f->own, keys, left, h);
        sn_sbbf_add(f->own, h, c, dup);
        for (size_t i = 0; i < c; i++)
            f->added += !dup[i];
    }
    f->dirty = true;
    return n;
}

/* ---- one filter with its header ------------------------------------------------- */

static void close_layer(sn_foreign *f)
{
    sn_free(&f->alloc, f->own, sizeof(sn_layer));
    f->own = NULL;
}

static int open_bits(sn_foreign *f, uint64_t head, uint64_t bytes)
{
    sn_layer *l = sn_alloc(&f->alloc, sizeof *l);
    if (!l)
        return sn_no_memory("no memory for a layer");
    int rc = sn_sbbf_layer(l, f->file + head, bytes);
    if (rc < 0) {
        sn_free(&f->alloc, l, sizeof *l);
        return rc;
    }
    f->own = l;
    f->bits = (sn_bits){.at = f->file + head, .have = bytes, .m = bytes * 8, .k = 8};
    f->rule = SN_RULE_SBBF;
    return SEEN_OK;
}

static bool recognises(const uint8_t *p, uint64_t len)
{
    uint64_t head, bytes;
    return len > 32 && p[0] == 0x15 && sn_sbbf_header(p, len, &head, &bytes) == 0 &&
           head + bytes == len;
}

static int open_filter(sn_foreign *f, const seen_params *params)
{
    uint64_t head, bytes;
    int rc = sn_sbbf_header(f->file, f->len, &head, &bytes);
    if (rc < 0)
        return rc;
    if (head + bytes != f->len)
        return sn_wrong_length(head + bytes > f->len,
                               "numBytes is %llu, %llu follow the header",
                               (unsigned long long)bytes,
                               (unsigned long long)(f->len - head));
    return open_bits(f, head, bytes);
}

/* The size that parquet-java chooses: a power of two between 32 bytes and 128 MiB,
 * which every reader accepts. */
static int size_for(const seen_params *params, uint64_t *bytes)
{
    double n = (double)params->keys, p = params->error > 0 ? params->error : 0.01;
    if (params->bits) {
        *bytes = params->bits / 8;
        if (params->bits % 256 || *bytes > INT32_MAX)
            return sn_fail(SEEN_EINVAL, "m = %llu is not a multiple of 256 below 2^34",
                           (unsigned long long)params->bits);
        return SEEN_OK;
    }
    if (!(n >= 1) || !(p < 1))
        return sn_needs("parquet", "keys and error, or m");
    double a_key = -8 / log(1 - pow(p, 1.0 / 8)), m = a_key * n;
    const uint64_t most = (uint64_t)128 << 20;
    if (m > (double)most * 8)
        return sn_fail(
            SEEN_ETOOBIG,
            "%.0f keys at error %g take %.0f bytes, but a Parquet filter has at "
            "most %llu (one filter for each row group): use at most %.0f "
            "keys at this error, or give m",
            n, p, m / 8, (unsigned long long)most, floor((double)most * 8 / a_key));
    /* As parquet-java rounds: it clears a single bit, so this is no multiple of 256. */
    uint64_t bits = m < (double)most * 8 ? (uint64_t)m : most * 8;
    uint64_t want = ((bits + 255) & ~(uint64_t)256) / 8;
    want = want < most ? want : most;
    for (*bytes = 32; *bytes < want;)
        *bytes *= 2;
    return SEEN_OK;
}

static int create(sn_foreign *f, const seen_params *params)
{
    uint8_t head[32];
    uint64_t bytes = 0;
    int rc = size_for(params, &bytes);
    if (rc < 0)
        return rc;
    size_t n = sn_sbbf_put_header(head, bytes);
    rc = sn_foreign_room(f, n + bytes);
    if (rc < 0)
        return rc;
    memcpy(f->file, head, n);
    f->capacity = params->keys;
    f->error = params->bits ? 0 : params->error;
    return open_bits(f, n, bytes);
}

static void stats(const sn_foreign *f, seen_stats *out)
{
    sn_measure m;
    sn_split.measure(f->own, &m); /* reads single bytes: needs no alignment */
    out->bits_set = m.bits_set;
    out->fill = (double)m.bits_set / (double)m.bits;
    out->error_now = m.error;
    out->keys_estimate = m.keys;
}

const sn_format sn_fmt_parquet = {
    .pub = {"parquet", "Parquet split block filter with its header", "type",
            "keys, error, type",
            SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .types = SN_SBBF_TYPES,
    .recognises = recognises,
    .open = open_filter,
    .create = create,
    .has = has,
    .add = add,
    .stats = stats,
    .close = close_layer,
};

/* ---- the withdrawn form --------------------------------------------------------- */

#define V0_HEAD 12
#define V0_SEED 1361930890

static bool v0_recognises(const uint8_t *p, uint64_t len)
{
    return len >= V0_HEAD + 32 && !sn_le32(p + 4) && !sn_le32(p + 8) &&
           sn_le32(p) == len - V0_HEAD && sn_le32(p) % 32 == 0;
}

static int v0_open(sn_foreign *f, const seen_params *params)
{
    if (f->len < V0_HEAD + 32)
        return sn_fail(SEEN_EFORMAT, "%llu bytes are too short",
                       (unsigned long long)f->len);
    uint64_t bytes = sn_le32(f->file), z = bytes / 32;
    if (bytes != f->len - V0_HEAD || bytes % 32 || z & (z - 1))
        return sn_fail(SEEN_EFORMAT, "numBytes is %llu, %llu follow the header",
                       (unsigned long long)bytes,
                       (unsigned long long)(f->len - V0_HEAD));
    if (sn_le32(f->file + 4) || sn_le32(f->file + 8))
        return sn_fail(SEEN_EFORMAT, "hash and algorithm are %u and %u, not 0",
                       sn_le32(f->file + 4), sn_le32(f->file + 8));
    int rc = open_bits(f, V0_HEAD, bytes);
    f->rule = SN_RULE_SBBF_V0;
    return rc;
}

static void v0_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    const sn_layer *l = f->own;
    for (size_t i = 0; i < n; i++) {
        uint64_t h[2];
        sn_murmur3_128(keys[i].data, keys[i].len, V0_SEED, h);
        uint64_t block = (h[0] >> 32) & (l->shape.units - 1);
        found[i] = block_bits(l->body + 32 * block, (uint32_t)h[0], false);
    }
}

const sn_format sn_fmt_parquet_v0 = {
    .pub = {"parquet-v0", "Parquet's withdrawn version 0 (Murmur3), read only", "type",
            "", SEEN_FORMAT_KNOWN},
    .types = SN_SBBF_TYPES,
    .recognises = v0_recognises,
    .open = v0_open,
    .has = v0_has,
    .stats = stats,
    .close = close_layer,
};
