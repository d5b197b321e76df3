/* leveldb_filter.c - LevelDB's builtin filter: bits, and k in the last byte.
 *
 * The filter records k and its size, but not the number of keys. The filter block of a
 * table consists of such filters (leveldb_table.c). Adding keys does not change the
 * size: LevelDB makes each filter for a known number of keys. */
#include "foreign/probe.h"
#include "foreign/leveldb_filter.h"
#include "hash/foreign_hashes.h"
#include <string.h>

#define SEED 0xbc9f1d34

static sn_state start(const sn_foreign *f, const void *key, size_t len)
{
    uint32_t h = sn_leveldb_hash(key, len, SEED);
    return (sn_state){.a = h, .b = h >> 17 | h << 15};
}

static uint64_t next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_bits_mod(&f->bits, (uint32_t)(s->a + i * s->b));
}

bool sn_leveldb_match(const uint8_t *filter, uint64_t len, const void *key, size_t klen)
{
    sn_foreign f = {.bits = {.at = (uint8_t *)filter}};
    if (len < 2)
        return false;
    if (filter[len - 1] > 30)
        return true;
    f.bits.have = len - 1;
    f.bits.m = (len - 1) * 8;
    f.bits.inverse = sn_inverse(f.bits.m);
    f.bits.k = filter[len - 1];
    return sn_probe_all(&f, start(&f, key, klen), next);
}

bool seen_leveldb_match(const void *filter, size_t len, const void *key, size_t klen)
{
    return sn_leveldb_match(filter, len, key, klen);
}

static void has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    if (f->bits.m)
        sn_scan_has(f, keys, n, found, start, next);
    else /* an empty array, or a reserved k */
        memset(found, f->len >= 2, n);
}

static size_t add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    if (f->bits.m)
        return sn_scan_add(f, keys, n, dup, start, next);
    *rc = sn_fail(SEEN_EKIND, f->len < 2
                                  ? "the filter has no bits"
                                  : "the filter's k is reserved for other encodings");
    return 0;
}

static int open_filter(sn_foreign *f, const seen_params *params)
{
    f->rule = SN_RULE_LEVELDB;
    if (f->len >= 2 && f->file[f->len - 1] <= 30)
        f->bits = (sn_bits){.at = f->file,
                            .have = f->len - 1,
                            .m = (f->len - 1) * 8,
                            .k = f->file[f->len - 1]};
    return SEEN_OK;
}

static int create(sn_foreign *f, const seen_params *params)
{
    uint64_t bits = params->bits;
    uint32_t b = params->bits_per_key ? params->bits_per_key : 10, k = params->probes;
    if (!bits && !params->keys)
        return sn_needs("leveldb", "keys, and bits per key (10)");
    if (!bits && __builtin_mul_overflow(params->keys, (uint64_t)b, &bits))
        return sn_fail(SEEN_ETOOBIG, "keys times bits per key is over 2^64");
    /* LevelDB rounds ln 2 to 0.69. */
    k = k ? k : b > 43 ? 30 : (uint32_t)((double)b * 0.69);
    k = k < 1 ? 1 : k > 30 ? 30 : k;
    bits = bits < 64 ? 64 : bits;
    int rc = sn_check_km(k, bits);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, sn_bytes_of(bits) + 1);
    if (rc < 0)
        return rc;
    f->file[f->len - 1] = (uint8_t)k;
    f->capacity = params->keys;
    return open_filter(f, params);
}

const sn_format sn_fmt_leveldb = {
    .pub = {"leveldb", "LevelDB builtin filter, one filter (C++)", "",
            "keys, bits per key",
            SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = open_filter,
    .create = create,
    .has = has,
    .add = add,
};
