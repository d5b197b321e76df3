/* guava.c - Guava's BloomFilter as writeTo writes it (Java).
 *
 * The file has a header of six bytes and big-endian 64-bit words. It does not record
 * the funnel, which turns objects into bytes: that is the `type` of the parameters. */
#include "foreign/probe.h"
#include "hash/murmur3.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD 6
#define MAX_WORDS 0x7fffffff

static sn_state start(const sn_foreign *f, const void *key, size_t len)
{
    uint64_t h[2];
    sn_murmur3_128(key, len, 0, h);
    return (sn_state){.a = h[0], .b = h[1]};
}

/* MURMUR128_MITZ_64: masked to 63 bits, then the modulus. */
static uint64_t next64(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_bits_mod(&f->bits, (s->a + i * s->b) & INT64_MAX);
}

/* MURMUR128_MITZ_32: uses the halves of the first word. Probes are numbered from 1, and
 * a negative number is inverted bit by bit, not negated. */
static uint64_t next32(const sn_foreign *f, sn_state *s, uint32_t i)
{
    uint32_t c = (uint32_t)s->a + (i + 1) * (uint32_t)(s->a >> 32);
    return sn_bits_mod(&f->bits, c >> 31 ? ~c : c);
}

static void has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    if (f->rule == SN_RULE_MITZ64)
        sn_scan_has(f, keys, n, found, start, next64);
    else
        sn_scan_has(f, keys, n, found, start, next32);
}

static size_t add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    if (f->rule == SN_RULE_MITZ64)
        return sn_scan_add(f, keys, n, dup, start, next64);
    return sn_scan_add(f, keys, n, dup, start, next32);
}

static uint32_t words_of(const uint8_t *p)
{
    return (uint32_t)p[2] << 24 | (uint32_t)p[3] << 16 | (uint32_t)p[4] << 8 | p[5];
}

static bool recognises(const uint8_t *p, uint64_t len)
{
    return len >= HEAD + 8 && p[0] <= 1 && p[1] && words_of(p) <= MAX_WORDS &&
           len == HEAD + 8 * (uint64_t)words_of(p);
}

static int open_filter(sn_foreign *f, const seen_params *params)
{
    const uint8_t *p = f->file;
    if (f->len < HEAD)
        return sn_fail(SEEN_EFORMAT, "%llu bytes are too short for a Guava header",
                       (unsigned long long)f->len);
    if (p[0] > 1)
        return sn_fail(SEEN_EFORMAT, "strategy is %d, not 0 or 1", (int8_t)p[0]);
    if (!p[1])
        return sn_fail(SEEN_EFORMAT, "k is 0");
    uint32_t words = words_of(p);
    if (words < 1 || words > MAX_WORDS)
        return sn_fail(SEEN_EFORMAT, "number of words is %d", (int32_t)words);
    if (f->len < HEAD + 8 * (uint64_t)words)
        return sn_wrong_length(true, "%u words do not fit in %llu bytes", words,
                               (unsigned long long)f->len);
    f->rule = p[0] ? SN_RULE_MITZ64 : SN_RULE_MITZ32;
    f->bits = (sn_bits){.at = f->file + HEAD,
                        .have = 8 * (uint64_t)words,
                        .m = 64 * (uint64_t)words,
                        .k = p[1],
                        .flip_byte = 7};
    return SEEN_OK;
}

static int create_as(sn_foreign *f, const seen_params *params, uint8_t strategy)
{
    if (!params->keys && !(params->error > 0) && !params->bits)
        return sn_needs("guava", "keys and error, or m and k");
    /* For 0 keys Guava makes room for one. */
    double n = params->keys ? (double)params->keys : 1;
    double p = params->error > 0 ? params->error : 0.03;
    double m = (double)params->bits, k = params->probes;
    if (!params->bits) {
        if (!(p < 1))
            return sn_fail(SEEN_EINVAL, "error %g is not between 0 and 1", p);
        m = trunc(-n * log(p) / (log(2) * log(2)));
    }
    if (!params->probes) {
        k = params->flags & SEEN_GUAVA_OLD ? m / n * log(2) : -log(p) / log(2);
        k = fmax(1, floor(k + 0.5));
    }
    double words = ceil(m / 64);
    if (!(m >= 1))
        return sn_fail(SEEN_EINVAL, "error %g with %.0f keys needs no bits at all", p,
                       n);
    if (k > 255)
        return sn_fail(SEEN_EINVAL, "k would be %.0f, at most 255", k);
    if (!(words <= MAX_WORDS))
        return sn_fail(SEEN_ETOOBIG, "%.0f words, at most 2^31 - 1", words);
    uint32_t w = (uint32_t)words;
    int rc = sn_foreign_room(f, HEAD + 8 * (uint64_t)w);
    if (rc < 0)
        return rc;
    uint8_t head[HEAD] = {strategy,           (uint8_t)k,        (uint8_t)(w >> 24),
                          (uint8_t)(w >> 16), (uint8_t)(w >> 8), (uint8_t)w};
    memcpy(f->file, head, HEAD);
    f->capacity = params->keys;
    f->error = params->bits ? 0 : p;
    return open_filter(f, params);
}

static int create64(sn_foreign *f, const seen_params *params)
{
    return create_as(f, params, 1);
}

static int create32(sn_foreign *f, const seen_params *params)
{
    return create_as(f, params, 0);
}

static int describe(const sn_foreign *f, char *buf, size_t size)
{
    return snprintf(buf, size, ", MURMUR128_MITZ_%s",
                    f->rule == SN_RULE_MITZ64 ? "64" : "32");
}

#define TYPES                                                                          \
    (1 << SN_KEY_UTF8 | 1 << SN_KEY_UTF16 | 1 << SN_KEY_INT32 | 1 << SN_KEY_INT64)

const sn_format sn_fmt_guava = {
    .pub = {"guava", "Guava BloomFilter.writeTo (Java)", "type", "keys, error, type",
            SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .types = TYPES,
    .recognises = recognises,
    .open = open_filter,
    .create = create64,
    .has = has,
    .add = add,
    .describe = describe,
};

const sn_format sn_fmt_guava32 = {
    .pub = {"guava-32", "Guava before 17.0: strategy MURMUR128_MITZ_32 (Java)", "type",
            "keys, error, type", SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .types = TYPES,
    .open = open_filter,
    .create = create32,
    .has = has,
    .add = add,
    .describe = describe,
};
