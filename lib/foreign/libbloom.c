/* libbloom.c - jvirkki's libbloom (C): 2.x files, and 1.x arrays, which have no header.
 *
 * Both use the same hashes, but in 1.x the sum wraps at 32 bits and in 2.x it does not,
 * so neither can read the other's bits. A 2.x file is an image of libbloom's struct on
 * 64-bit little-endian machines. */
#include "foreign/probe.h"
#include "foreign/raw.h"
#include "base/bytes.h"
#include "hash/murmur2.h"
#include <float.h>
#include <math.h>

#define MAGIC "libbloom2"
#define STRUCTURE 64
#define HEAD (9 + 2 + STRUCTURE)

static sn_state start(const sn_foreign *f, const void *key, size_t len)
{
    uint32_t a = sn_murmur2_32(key, len, 0x9747b28c);
    return (sn_state){.a = a, .b = sn_murmur2_32(key, len, a)};
}

static uint64_t next2(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_bits_mod(&f->bits, s->a + i * s->b);
}

static uint64_t next1(const sn_foreign *f, sn_state *s, uint32_t i)
{
    return sn_bits_mod(&f->bits, (uint32_t)(s->a + i * s->b));
}

SN_PROBES(two, start, next2)
SN_PROBES(one, start, next1)

/* N * X, rounded down, as computed with a mantissa of 64 bits: libbloom uses the long
 * double of x86. If long double differs or needs a library, uses the full product. */
static uint64_t times(uint64_t n, double x)
{
#if LDBL_MANT_DIG == 64
    return (uint64_t)((long double)n * (long double)x);
#else
    uint64_t bits;
    memcpy(&bits, &x, 8);
    uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int down =
        1075 - (int)(bits >> 52 & 0x7ff); /* x = mantissa / 2^down, and below 2^20 */
    uint64_t high = sn_mulhi(n, mantissa), low = n * mantissa;
    return down >= 128  ? 0
           : down >= 64 ? high >> (down - 64)
                        : high << (64 - down) | low >> down;
#endif
}

/* Bits, hashes and bits per entry as both versions compute them. 2.x multiplies in long
 * double; below 2^53 bits the truncated result is the same or one more. */
static int size_of(const seen_params *params, bool wide, uint64_t *m, uint64_t *k,
                   double *bpe)
{
    double p = params->error;
    *m = params->bits;
    *k = params->probes;
    *bpe = 0;
    if (*m && *k && !wide)
        return SEEN_OK;
    if (!params->keys || params->error == 0)
        return sn_needs("libbloom",
                        wide ? "keys and error" : "keys and error, or m and k");
    if (params->keys < 1000 || params->keys > UINT32_MAX)
        return sn_fail(SEEN_EINVAL, "libbloom takes 1000 to 2^32 - 1 keys, not %llu",
                       (unsigned long long)params->keys);
    if (!(p > 0 && p < 1))
        return sn_fail(SEEN_EINVAL, "error %g is not between 0 and 1", p);
    *bpe = -(log(p) / 0.480453013918201);
    if (!*m)
        *m = wide ? times(params->keys, *bpe) : (uint64_t)((double)params->keys * *bpe);
    if (!*k)
        *k = (uint64_t)ceil(0.693147180559945 * *bpe);
    return sn_check_km(*k, *m);
}

/* ---- 2.x ------------------------------------------------------------------------ */

static bool recognises(const uint8_t *p, uint64_t len)
{
    return len >= HEAD && !memcmp(p, MAGIC, 9);
}

static int open_two(sn_foreign *f, const seen_params *params)
{
    const uint8_t *p = f->file, *s = p + 11;
    if (f->len < HEAD)
        return sn_wrong_length(f->len >= 9 && !memcmp(p, MAGIC, 9),
                               "%llu bytes are too short for the header",
                               (unsigned long long)f->len);
    if (memcmp(p, MAGIC, 9))
        return sn_fail(SEEN_EFORMAT, "the magic is not " MAGIC);
    if ((p[9] | p[10] << 8) != STRUCTURE)
        return sn_fail(SEEN_EFORMAT, "structure size is %d, not %d", p[9] | p[10] << 8,
                       STRUCTURE);
    if (s[41] != 2)
        return sn_fail(SEEN_EFORMAT, "major version is %u, not 2", s[41]);
    uint64_t bits = sn_le64(s + 8), bytes = sn_le64(s + 16), hashes = s[24];
    int rc = sn_check_km(hashes, bits);
    if (rc < 0)
        return rc;
    if (bytes != sn_bytes_of(bits))
        return sn_fail(SEEN_EFORMAT, "bytes is %llu with %llu bits",
                       (unsigned long long)bytes, (unsigned long long)bits);
    if (bytes != f->len - HEAD)
        return sn_fail(SEEN_EFORMAT, "bytes is %llu, %llu follow the header",
                       (unsigned long long)bytes, (unsigned long long)(f->len - HEAD));
    f->rule = SN_RULE_MURMUR2_64;
    f->capacity = sn_le32(s);
    f->error = sn_le_double(s + 32);
    if (!(f->error > 0 && f->error < 1))
        return sn_fail(SEEN_EFORMAT, "error is %g, not between 0 and 1", f->error);
    f->bits = (sn_bits){
        .at = f->file + HEAD, .have = bytes, .m = bits, .k = (uint32_t)hashes};
    return SEEN_OK;
}

static int create_two(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    double bpe;
    int rc = size_of(params, true, &m, &k, &bpe);
    if (rc == SEEN_OK && k > 255)
        rc = sn_fail(SEEN_EINVAL, "k is %llu, at most 255", (unsigned long long)k);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, HEAD + sn_bytes_of(m));
    if (rc < 0)
        return rc;
    uint8_t *s = f->file + 11;
    memcpy(f->file, MAGIC, 9);
    f->file[9] = STRUCTURE;
    sn_put32(s, (uint32_t)params->keys);
    sn_put64(s + 8, m);
    sn_put64(s + 16, sn_bytes_of(m));
    s[24] = (uint8_t)k;
    sn_put_double(s + 32, params->error);
    s[40] = 1; /* ready */
    s[41] = 2; /* major */
    sn_put_double(s + 48, bpe);
    return open_two(f, params);
}

const sn_format sn_fmt_libbloom = {
    .pub = {"libbloom", "libbloom 2.x, bloom_save (C)", "", "keys, error",
            SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .recognises = recognises,
    .open = open_two,
    .create = create_two,
    .has = two_has,
    .add = two_add,
};

/* ---- 1.x ------------------------------------------------------------------------ */

static int open_one(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    double bpe;
    int rc = size_of(params, false, &m, &k, &bpe);
    if (rc < 0)
        return rc;
    f->rule = SN_RULE_MURMUR2_32;
    f->capacity = params->keys;
    f->error = params->error;
    return sn_raw_open(f, params, m, k, false, false);
}

static int create_one(sn_foreign *f, const seen_params *params)
{
    uint64_t m, k;
    double bpe;
    int rc = size_of(params, false, &m, &k, &bpe);
    if (rc == SEEN_OK)
        rc = sn_check_km(k, m);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, sn_bytes_of(m));
    return rc < 0 ? rc : open_one(f, params);
}

const sn_format sn_fmt_libbloom1 = {
    .pub = {"libbloom1", "libbloom 1.x, the bit array alone (C)", "keys, error or m, k",
            "keys, error or m, k",
            SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE},
    .open = open_one,
    .create = create_one,
    .has = one_has,
    .add = one_add,
};
