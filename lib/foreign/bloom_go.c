/* bloom_go.c - bits-and-blooms/bloom (Go, once willf/bloom), binary and JSON.
 *
 * The file has m, k and the length of the bit set, then 64-bit words. Usually all are
 * big-endian; after bitset.LittleEndian() a program writes the bit set little-endian,
 * which shows only in its length. The JSON form has the bit set in base64: we keep it
 * in binary and encode it again when writing. */
#include "foreign/probe.h"
#include "base/bytes.h"
#include "foreign/bloom_json.h"
#include "hash/murmur3.h"
#include <math.h>
#include <stdio.h>

#define HEAD 24

static sn_state start(const sn_foreign *f, const void *key, size_t len)
{
    uint64_t h[4];
    sn_murmur3_256(key, len, h);
    return (sn_state){h[0], h[1], h[2], h[3]};
}

/* h[i % 2] + i * h[2 + ((i + i % 2) % 4) / 2] */
static uint64_t next(const sn_foreign *f, sn_state *s, uint32_t i)
{
    uint64_t base = i % 2 ? s->b : s->a;
    uint64_t step = (i + i % 2) % 4 / 2 ? s->d : s->c;
    return sn_bits_mod(&f->bits, base + i * step);
}

static uint64_t set_len(const uint8_t *p, bool little)
{
    return little ? sn_le64(p + 16) : sn_be64(p + 16);
}

static uint64_t words_of(uint64_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

/* New(0, k) makes m = 1 with a bit set of length 0; the first add makes it longer. */
static int grow(sn_foreign *f, uint64_t bit)
{
    int rc = sn_foreign_room(f, HEAD + 8 * words_of(bit + 1));
    if (rc < 0)
        return rc;
    if (f->bits.flip_byte)
        sn_put_be64(f->file + 16, bit + 1);
    else
        sn_put64(f->file + 16, bit + 1);
    f->bits.at = f->file + HEAD;
    f->bits.have = f->len - HEAD;
    return SEEN_OK;
}

static void has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    sn_scan_has(f, keys, n, found, start, next);
}

static size_t add(sn_foreign *f, const seen_key *keys, size_t n, bool *dup, int *rc)
{
    if (f->bits.have >= sn_bytes_of(f->bits.m))
        return sn_scan_add(f, keys, n, dup, start, next);
    return sn_scan_grow(f, keys, n, dup, rc, start, next, grow);
}

static int open_as(sn_foreign *f, bool little)
{
    const uint8_t *p = f->file;
    if (f->len < HEAD)
        return sn_fail(SEEN_EFORMAT, "%llu bytes are too short for the header",
                       (unsigned long long)f->len);
    uint64_t m = sn_be64(p), k = sn_be64(p + 8), len = set_len(p, little);
    int rc = sn_check_km(k, m);
    if (rc < 0)
        return rc;
    if (len < m && !(m == 1 && len == 0))
        return sn_fail(SEEN_EFORMAT, "the bit set's length is %llu, m is %llu",
                       (unsigned long long)len, (unsigned long long)m);
    if ((f->len - HEAD) % 8 || (f->len - HEAD) / 8 != words_of(len))
        return sn_wrong_length(len == m && (f->len - HEAD) / 8 < words_of(len),
                               "a bit set of length %llu in %llu bytes",
                               (unsigned long long)len,
                               (unsigned long long)(f->len - HEAD));
    f->rule = SN_RULE_BLOOM_GO;
    f->bits = (sn_bits){.at = f->file + HEAD,
                        .have = f->len - HEAD,
                        .m = m,
                        .k = (uint32_t)k,
                        .flip_byte = little ? 0 : 7};
    return SEEN_OK;
}

/* Only the length shows the byte order; it equals m in all known files. */
static bool fits(const uint8_t *p, uint64_t len, bool little)
{
    if (len < HEAD + 8)
        return false;
    uint64_t m = sn_be64(p), k = sn_be64(p + 8);
    return m && k && k <= SN_MAX_PROBES && set_len(p, little) == m &&
           (len - HEAD) % 8 == 0 && (len - HEAD) / 8 == words_of(m);
}

static bool recognises(const uint8_t *p, uint64_t len)
{
    return fits(p, len, false);
}

static bool recognises_le(const uint8_t *p, uint64_t len)
{
    return fits(p, len, true);
}

static int open_be(sn_foreign *f, const seen_params *params)
{
    return open_as(f, f->len >= HEAD && !recognises(f->file, f->len) &&
                          recognises_le(f->file, f->len));
}

static int open_le(sn_foreign *f, const seen_params *params)
{
    return open_as(f, true);
}

static int create_as(sn_foreign *f, const seen_params *params, bool little)
{
    double n = (double)params->keys, p = params->error;
    uint64_t m = params->bits, k = params->probes;
    if (!m) {
        if (!sn_keys_and_error(params))
            return sn_needs("bits-and-blooms", "keys and error, or m and k");
        double bits = ceil(-1 * n * log(p) / pow(log(2), 2));
        int rc = sn_bits_from(bits, &m);
        if (rc < 0)
            return rc;
        k = k ? k : (uint64_t)ceil(log(2) * bits / n);
    }
    k = k ? k : 1;
    int rc = sn_check_km(k, m);
    if (rc == SEEN_OK)
        rc = sn_foreign_room(f, HEAD + 8 * words_of(m));
    if (rc < 0)
        return rc;
    sn_put_be64(f->file, m);
    sn_put_be64(f->file + 8, k);
    if (little)
        sn_put64(f->file + 16, m);
    else
        sn_put_be64(f->file + 16, m);
    f->capacity = params->keys;
    f->error = params->error;
    return open_as(f, little);
}

static int create(sn_foreign *f, const seen_params *params)
{
    return create_as(f, params, false);
}

static int create_le(sn_foreign *f, const seen_params *params)
{
    return create_as(f, params, true);
}

#define ALL (SEEN_FORMAT_KNOWN | SEEN_FORMAT_ADD | SEEN_FORMAT_NEW | SEEN_FORMAT_WRITE)

const sn_format sn_fmt_bloom_go = {
    .pub = {"bits-and-blooms", "bits-and-blooms/bloom, WriteTo (Go)", "",
            "keys, error or m, k", ALL},
    .recognises = recognises,
    .open = open_be,
    .create = create,
    .has = has,
    .add = add,
};

const sn_format sn_fmt_bloom_go_le = {
    .pub = {"bits-and-blooms-le", "the same with bitset.LittleEndian() (Go)", "",
            "keys, error or m, k", ALL},
    .recognises = recognises_le,
    .open = open_le,
    .create = create_le,
    .has = has,
    .add = add,
};

/* ---- JSON: {"m":M,"k":K,"b":"base64"} ------------------------------------------- */

static bool recognises_json(const uint8_t *p, uint64_t len)
{
    sn_json_parts parts;
    return len >= 20 && p[0] == '{' && sn_json_read(p, len, &parts) == SEEN_OK;
}

static int open_json(sn_foreign *f, const seen_params *params)
{
    sn_json_parts parts;
    uint8_t *text = f->file;
    uint64_t len = f->len, room = f->room;
    bool owned = f->owned;
    int rc = sn_json_read(text, len, &parts);
    if (rc < 0)
        return rc;
    /* The binary form replaces the text in F; the caller's bytes are unchanged. */
    f->file = NULL;
    f->len = f->room = 0;
    f->owned = true;
    rc = sn_foreign_room(f, 16 + sn_base64_len(parts.set_len));
    if (rc == SEEN_OK) {
        sn_put_be64(f->file, parts.m);
        sn_put_be64(f->file + 8, parts.k);
        uint64_t got = sn_base64_read(parts.set, parts.set_len, f->file + 16);
        if (got == UINT64_MAX)
            rc = sn_fail(SEEN_EFORMAT, "b is not base64");
        else
            f->len = 16 + got;
    }
    if (rc == SEEN_OK)
        rc = open_as(f, f->len >= HEAD && !recognises(f->file, f->len) &&
                            recognises_le(f->file, f->len));
    if (rc < 0) {
        sn_body_free(&f->alloc, f->file, f->room);
        f->file = text;
        f->len = len;
        f->room = room;
        f->owned = owned;
        return rc;
    }
    return SEEN_OK; /* f->file has changed: the caller frees its text */
}

static int write_json(const sn_foreign *f, const sn_sink *to)
{
    char head[96], text[1024];
    int n = snprintf(head, sizeof head, "{\"m\":%llu,\"k\":%u,\"b\":\"",
                     (unsigned long long)f->bits.m, f->bits.k);
    int rc = to->put(to->ctx, head, (size_t)n);
    /* 3 bytes become 4 letters, so every piece but the last has whole triples. */
    for (uint64_t at = 16; rc == SEEN_OK && at < f->len;) {
        uint64_t c = f->len - at < 765 ? f->len - at : 765;
        rc = to->put(to->ctx, text, sn_base64_write(f->file + at, c, text));
        at += c;
    }
    return rc < 0 ? rc : to->put(to->ctx, "\"}", 2);
}

const sn_format sn_fmt_bloom_go_json = {
    .pub = {"bits-and-blooms-json", "bits-and-blooms/bloom as JSON (Go)", "",
            "keys, error or m, k", ALL},
    .recognises = recognises_json,
    .open = open_json,
    .create = create,
    .has = has,
    .add = add,
    .write = write_json,
};
