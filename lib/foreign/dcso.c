/* dcso.c - DCSO's bloom (Go, the command `bloom` of Debian).
 *
 * The file has a header of 48 bytes, words, then any data the owner attached, which we
 * keep. The probe rule multiplies modulo 2^64 where it should multiply modulo m; for m
 * close to a power of two the probes repeat (23% false positives instead of 1% at
 * m = 2^20). */
#include "foreign/probe.h"
#include "base/bytes.h"
#include "hash/foreign_hashes.h"
#include <math.h>
#include <stdio.h>

#define HEAD 48
#define P 18446744073709551557u
#define G 18446744073709550147u

static sn_state start(const sn_foreign *f, const void *key, size_t len)
{
    return (sn_state){.a = sn_fnv1_64(key, len) % P};
}

static uint64_t next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    s->a = s->a * G % P;
    return sn_bits_mod(&f->bits, s->a);
}

static void has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    sn_scan_has(f, keys, n, found, start, next);
}

/* N in the header counts the adds that set a bit. */
static size_t add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    size_t taken = sn_scan_add(f, keys, n, dup, start, next);
    if (f->dirty)
        sn_put64(f->file + 40, f->added);
    return taken;
}

static uint64_t array_bytes(uint64_t m)
{
    return (m / 64 + (m % 64 != 0)) * 8;
}

static bool recognises(const uint8_t *p, uint64_t len)
{
    if (len < HEAD + 8 || sn_le64(p) != 1)
        return false;
    double error = sn_le_double(p + 16);
    uint64_t k = sn_le64(p + 24), m = sn_le64(p + 32);
    return error > 0 && error < 1 && k && k <= SN_MAX_PROBES && m &&
           array_bytes(m) <= len - HEAD;
}

static int open_filter(sn_foreign *f, const seen_params *params)
{
    const uint8_t *p = f->file;
    if (f->len >= 2 && p[0] == 0x1f && p[1] == 0x8b)
        return sn_fail(SEEN_EFORMAT, "compressed with gzip: decompress it first");
    if (f->len < HEAD)
        return sn_fail(SEEN_EFORMAT, "%llu bytes are too short for the header",
                       (unsigned long long)f->len);
    if (p[0] != 1)
        return sn_fail(SEEN_EFORMAT, "version is %u, not 1", p[0]);
    uint64_t k = sn_le64(p + 24), m = sn_le64(p + 32);
    int rc = sn_check_km(k, m);
    if (rc < 0)
        return rc;
    if (array_bytes(m) > f->len - HEAD)
        return sn_wrong_length(true, "m = %llu bits do not fit in %llu bytes",
                       (unsigned long long)m, (unsigned long long)(f->len - HEAD));
    f->rule = SN_RULE_DCSO;
    f->capacity = sn_le64(p + 8);
    f->error = sn_le_double(p + 16);
    if (!(f->error > 0 && f->error < 1))
        return sn_fail(SEEN_EFORMAT, "p is %g, not between 0 and 1", f->error);
    f->added = sn_le64(p + 40);
    f->counted = true;
    f->bits = (sn_bits){
        .at = f->file + HEAD, .have = array_bytes(m), .m = m, .k = (uint32_t)k};
    return SEEN_OK;
}

static int create(sn_foreign *f, const seen_params *params)
{
    double n = (double)params->keys, p = params->error;
    if (!sn_keys_and_error(params))
        return sn_needs("dcso", "keys and error");
    double bits =
        params->bits ? (double)params->bits : fabs(ceil(n * log(p) / pow(log(2), 2)));
    uint64_t m, k = params->probes ? params->probes : (uint64_t)ceil(log(2) * bits / n);
    int rc = sn_bits_from(bits, &m);
    if (rc == SEEN_OK)
        rc = sn_check_km(k, m);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, HEAD + array_bytes(m));
    if (rc < 0)
        return rc;
    sn_put64(f->file, 1);
    sn_put64(f->file + 8, params->keys);
    sn_put_double(f->file + 16, p);
    sn_put64(f->file + 24, k);
    sn_put64(f->file + 32, m);
    return open_filter(f, params);
}

static int describe(const sn_foreign *f, char *buf, size_t size)
{
    uint64_t data = f->len - HEAD - f->bits.have;
    return data ? snprintf(buf, size, ", %llu bytes of attached data",
                           (unsigned long long)data)
                : 0;
}

const sn_format sn_fmt_dcso = {
    .pub = {"dcso", "DCSO bloom, library and command (Go)", "", "keys, error",
            SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .recognises = recognises,
    .open = open_filter,
    .create = create,
    .has = has,
    .add = add,
    .describe = describe,
};
