/* textbook.c - three schemes from tutorials, whose files are bare bit arrays.
 *
 * fnv-split: Go, both halves of FNV-1 64. crc32-shift: Go, CRC-32 and its upper half;
 * its error exceeds its formula because the second hash depends on the first. mmh3-17:
 * Python, one Murmur3 per probe with seeds from 17 on. */
#include "foreign/probe.h"
#include "foreign/raw.h"
#include "hash/foreign_hashes.h"
#include <math.h>

/* ---- fnv-split ------------------------------------------------------------------ */

static sn_state fnv_start(const sn_foreign *f, const void *key, size_t len)
{
    uint64_t h = sn_fnv1_64(key, len);
    return (sn_state){.a = (uint32_t)h, .b = h >> 32};
}

/* Wraps at 2^32 before the modulus. */
static uint64_t fnv_next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_bits_mod(&f->bits, (uint32_t)(s->a + i * s->b));
}

SN_PROBES(fnv, fnv_start, fnv_next)

static int fnv_check(const seen_params *params)
{
    if (!params->bits || !params->probes)
        return sn_needs("fnv-split", "m and k");
    return sn_check_km(params->probes, params->bits);
}

static int fnv_open(sn_foreign *f, const seen_params *params)
{
    int rc = fnv_check(params);
    f->rule = SN_RULE_FNV_SPLIT;
    return rc < 0 ? rc
                  : sn_raw_open(f, params, params->bits, params->probes, false, false);
}

static int fnv_create(sn_foreign *f, const seen_params *params)
{
    int rc = fnv_check(params);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, sn_bytes_of(params->bits));
    return rc < 0 ? rc : fnv_open(f, params);
}

const sn_format sn_fmt_fnv_split = {
    .pub = {"fnv-split", "Go textbook: FNV-1 64 split in two halves, raw bits", "m, k",
            "m, k", SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = fnv_open,
    .create = fnv_create,
    .has = fnv_has,
    .add = fnv_add,
};

/* ---- crc32-shift ---------------------------------------------------------------- */

static sn_state crc_start(const sn_foreign *f, const void *key, size_t len)
{
    return (sn_state){.a = sn_crc32(key, len)};
}

/* Probes are numbered from 1; 64 bits, no wrap. */
static uint64_t crc_next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_bits_mod(&f->bits, s->a + (i + (uint64_t)1) * (s->a >> 16));
}

SN_PROBES(crc, crc_start, crc_next)

static int crc_size(const seen_params *params, uint64_t *m, uint64_t *k)
{
    double n = (double)params->keys, p = params->error;
    *m = params->bits;
    *k = params->probes;
    if (*m && *k)
        return SEEN_OK;
    if (!sn_keys_and_error(params) || *m)
        return sn_needs("crc32-shift", "keys and error, or m and k");
    double bits = -trunc(n * log(p) / pow(log(2), 2));
    *k = params->probes ? params->probes : (uint64_t)trunc(bits * log(2) / n);
    return sn_bits_from(bits, m);
}

static int crc_open(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    int rc = crc_size(params, &m, &k);
    if (rc < 0)
        return rc;
    f->rule = SN_RULE_CRC_SHIFT;
    f->capacity = params->keys;
    f->error = params->error;
    rc = sn_raw_open(f, params, m, k ? k : 1, false, false);
    f->bits.k = (uint32_t)k; /* the formula gives 0 for large p: every key is found */
    return rc;
}

static int crc_create(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    int rc = crc_size(params, &m, &k);
    if (rc == SEEN_OK)
        rc = sn_check_km(k ? k : 1, m);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, sn_bytes_of(m));
    return rc < 0 ? rc : crc_open(f, params);
}

const sn_format sn_fmt_crc32_shift = {
    .pub = {"crc32-shift", "Go textbook: CRC-32 and CRC-32 >> 16, raw bits",
            "keys, error or m, k", "keys, error or m, k",
            SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = crc_open,
    .create = crc_create,
    .has = crc_has,
    .add = crc_add,
};

/* ---- mmh3-17 -------------------------------------------------------------------- */

/* Every probe hashes the key again, so the state is the key. */
static sn_state py_start(const sn_foreign *f, const void *key, size_t len)
{
    return (sn_state){.a = (uintptr_t)key, .b = len};
}

static uint64_t py_next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_mmh3_index((const void *)(uintptr_t)s->a, s->b, i + 17, f->bits.m, true);
}

SN_PROBES(py, py_start, py_next)

static int py_size(const seen_params *params, uint64_t *m, uint64_t *k)
{
    double n = (double)params->keys, p = params->error;
    *m = params->bits;
    *k = params->probes;
    if (*m && *k)
        return SEEN_OK;
    if (!sn_keys_and_error(params) || *m)
        return sn_needs("mmh3-17", "keys and error, or m and k");
    double probes = *k ? (double)*k : ceil(-1.43 * log(p));
    *k = (uint64_t)probes;
    return sn_bits_from(ceil(1.43 * probes * n), m);
}

static int py_open(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    int rc = py_size(params, &m, &k);
    if (rc < 0)
        return rc;
    rc = sn_raw_open(f, params, m, k, true, false);
    f->capacity = params->keys;
    f->error = params->error;
    f->rule = SN_RULE_MMH3_SIGNED;
    for (f->nseeds = 0; f->nseeds < k && f->nseeds < SN_MAX_SEEDS; f->nseeds++)
        f->seeds[f->nseeds] = f->nseeds + 17;
    return rc;
}

static int py_create(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    int rc = py_size(params, &m, &k);
    if (rc == SEEN_OK)
        rc = sn_check_km(k, m);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, sn_bytes_of(m));
    return rc < 0 ? rc : py_open(f, params);
}

const sn_format sn_fmt_mmh3_17 = {
    .pub = {"mmh3-17", "Python textbook: mmh3 with seeds 17, 18, ..., bitarray",
            "keys, error or m, k", "keys, error or m, k",
            SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = py_open,
    .create = py_create,
    .has = py_has,
    .add = py_add,
};
