/* redis_bitmap.c - Redis strings filled with SETBIT by Python programs.
 *
 * The string ends with the byte of the highest bit that was ever set; bits beyond it
 * are zero. For each seed, redis-bitmap uses one mmh3.hash, scrapy-redis a polynomial
 * over the code points of the text. */
#include "foreign/probe.h"
#include "foreign/keytype.h"
#include "foreign/raw.h"
#include "hash/murmur3.h"
#include "foreign/redisbloom/redisbloom.h"

#define REDIS_MAX_BITS ((uint64_t)1 << 32)

uint32_t seen_mmh3(const void *key, size_t len, uint32_t seed)
{
    return sn_murmur3_32(key, len, seed);
}

/* The state is the key: every probe hashes it again. */
static sn_state key_start(const sn_foreign *f, const void *key, size_t len)
{
    return (sn_state){.a = (uintptr_t)key, .b = len};
}

/* ---- redis-bitmap --------------------------------------------------------------- */

static uint64_t signed_next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_mmh3_index((const void *)(uintptr_t)s->a, s->b, f->seeds[i], f->bits.m,
                         true);
}

static uint64_t unsigned_next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_mmh3_index((const void *)(uintptr_t)s->a, s->b, f->seeds[i], f->bits.m,
                         false);
}

static void bitmap_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    if (f->rule == SN_RULE_MMH3_SIGNED)
        sn_scan_has(f, keys, n, found, key_start, signed_next);
    else
        sn_scan_has(f, keys, n, found, key_start, unsigned_next);
}

static size_t bitmap_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup,
                         int *rc)
{
    if (f->rule == SN_RULE_MMH3_SIGNED)
        return sn_scan_grow(f, keys, n, dup, rc, key_start, signed_next, sn_raw_grow);
    return sn_scan_grow(f, keys, n, dup, rc, key_start, unsigned_next, sn_raw_grow);
}

static int bitmap_open(sn_foreign *f, const seen_params *params)
{
    uint32_t k = params->seeds ? params->seeds_n : params->probes;
    if (!params->bits || !k)
        return sn_needs("redis-bitmap", "m, and the seeds or k");
    if (params->bits > REDIS_MAX_BITS)
        return sn_fail(SEEN_EINVAL, "m = %llu: Redis has no bits beyond 2^32",
                       (unsigned long long)params->bits);
    if (k > SN_MAX_SEEDS)
        return sn_fail(SEEN_EINVAL, "%u seeds, at most %d", k, SN_MAX_SEEDS);
    for (uint32_t i = 0; i < k; i++)
        f->seeds[i] = params->seeds ? params->seeds[i] : i;
    f->nseeds = k;
    f->rule = params->flags & SEEN_HASH_UNSIGNED ? SN_RULE_MMH3_UNSIGNED
                                                 : SN_RULE_MMH3_SIGNED;
    return sn_raw_open(f, params, params->bits, k, true, true);
}

const sn_format sn_fmt_redis_bitmap = {
    .pub = {"redis-bitmap", "Redis string: SETBIT of mmh3.hash(key, seed) % m (Python)",
            "m, seeds or k", "m, seeds or k",
            SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = bitmap_open,
    .create = bitmap_open, /* the empty string */
    .has = bitmap_has,
    .add = bitmap_add,
};

/* ---- scrapy-redis --------------------------------------------------------------- */

static uint64_t scrapy_next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    const uint8_t *p = (const uint8_t *)(uintptr_t)s->a;
    uint64_t h = 0;
    size_t took;
    for (size_t at = 0; at < s->b; at += took)
        h = h * (i + (uint64_t)1) + sn_code_point(p + at, s->b - at, &took);
    return h & (f->bits.m - 1);
}

/* The original never finds the empty text, even if it was added. */
static void scrapy_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    sn_scan_has(f, keys, n, found, key_start, scrapy_next);
    for (size_t i = 0; i < n; i++)
        found[i] &= keys[i].len > 0;
}

static size_t scrapy_add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup,
                         int *rc)
{
    size_t taken =
        sn_scan_grow(f, keys, n, dup, rc, key_start, scrapy_next, sn_raw_grow);
    for (size_t i = 0; i < taken; i++)
        dup[i] &= keys[i].len > 0;
    return taken;
}

static int scrapy_open(sn_foreign *f, const seen_params *params)
{
    uint64_t m = params->bits ? params->bits : (uint64_t)1 << 30;
    if (m & (m - 1) || m > REDIS_MAX_BITS)
        return sn_fail(SEEN_EINVAL, "m = %llu is not a power of two up to 2^32",
                       (unsigned long long)m);
    f->rule = SN_RULE_POLYNOMIAL;
    return sn_raw_open(f, params, m, params->probes ? params->probes : 6, true, true);
}

const sn_format sn_fmt_scrapy = {
    .pub = {"scrapy-redis", "Redis string of ScrapyRedisBloomFilter (Python)",
            "m (2^30), k (6)", "m (2^30), k (6)",
            SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = scrapy_open,
    .create = scrapy_open,
    .has = scrapy_has,
    .add = scrapy_add,
};
