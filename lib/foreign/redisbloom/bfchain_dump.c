/* bfchain_dump.c - sn_bf from bytes and back: headers of RedisBloom's dumps, and
 * chains that work on a whole dump in place. Every byte read is hostile. */
#include "foreign/redisbloom/bfchain.h"
#include "base/untrusted_header.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/memory.h"
#include "kind/kind.h"
#include <math.h>

#define HEAD 20
#define HEAD_LINK 53
#define MAX_HASHES 4096 /* an error rate of 1e-308 asks for 1024 */
#define ALL_OPTIONS                                                                    \
    (SN_BF_NOROUND | SN_BF_RAWBITS | SN_BF_FORCE64 | SN_BF_NOSCALING)

size_t sn_bf_header(const sn_bf *f, void *buf, size_t size)
{
    size_t len = HEAD + (size_t)f->n * HEAD_LINK;
    uint8_t *p = buf;
    if (size < len)
        return len;
    sn_put64(p, f->size);
    sn_put32(p + 8, f->n);
    sn_put32(p + 12, f->options);
    sn_put32(p + 16, f->growth);
    p += HEAD;
    for (uint32_t i = 0; i < f->n; i++, p += HEAD_LINK) {
        const sn_bf_link *l = &f->links[i];
        sn_put64(p, l->bits / 8);
        sn_put64(p + 8, l->bits);
        sn_put64(p + 16, l->size);
        sn_put_double(p + 24, l->error);
        sn_put_double(p + 32, l->bpe);
        sn_put32(p + 40, l->hashes);
        sn_put64(p + 44, l->entries);
        p[52] = l->n2;
    }
    return len;
}

/* Checks every number of an untrusted link. */
static int link_check(const sn_bf_link *l, uint32_t i)
{
    if (!(l->error > 0 && l->error < 1))
        return sn_fail(SEEN_EFORMAT, "link %u: error %g is not between 0 and 1", i,
                       l->error);
    if (l->bits == 0 || l->bits % 8 || l->bits / 8 > SN_MAX_BYTES)
        return sn_fail(SEEN_EFORMAT, "link %u: bits is %llu", i,
                       (unsigned long long)l->bits);
    if (l->n2 > 63 || (l->n2 && (uint64_t)1 << l->n2 > l->bits))
        return sn_fail(SEEN_EFORMAT, "link %u: n2 is %u with %llu bits", i, l->n2,
                       (unsigned long long)l->bits);
    if (l->hashes == 0 || l->hashes > MAX_HASHES ||
        (double)l->hashes != ceil(SN_BF_LN2 * l->bpe))
        return sn_fail(SEEN_EFORMAT, "link %u: hashes is %u with %g bits per entry", i,
                       l->hashes, l->bpe);
    return SEEN_OK;
}

/* Checks the untrusted link I and adds the length of its array to *BYTES. */
static int link_take(sn_bf *f, uint32_t i, uint64_t *bytes)
{
    sn_bf_link *l = &f->links[i];
    int rc = link_check(l, i);
    if (rc < 0)
        return rc;
    if (__builtin_add_overflow(*bytes, l->bits / 8, bytes))
        return sn_fail(SEEN_EFORMAT, "link %u: bytes overflow", i);
    if (__builtin_add_overflow(f->size, l->size, &f->size))
        return sn_fail(SEEN_EFORMAT, "link %u: size overflows", i);
    sn_bf_link_modulus(l);
    return SEEN_OK;
}

static int options_check(uint32_t options, uint64_t n)
{
    if (options & ~(uint32_t)ALL_OPTIONS)
        return sn_fail(SEEN_EFORMAT, "options %#x has unknown bits", options);
    if (n < 1)
        return sn_fail(SEEN_EFORMAT, "nfilters is 0");
    return SEEN_OK;
}

/* Reads and checks a header of exactly LEN bytes into a chain without arrays; *BYTES is
 * the total length of the arrays. */
static int header_read(const uint8_t *p, size_t len, const seen_allocator *a,
                       uint64_t *bytes, sn_bf **out)
{
    sn_bf *f;
    if (len < HEAD)
        return sn_fail(SEEN_EFORMAT, "a header of %zu bytes is too short", len);
    uint64_t size = sn_le64(p);
    uint32_t n = sn_le32(p + 8), options = sn_le32(p + 12);
    int rc = options_check(options, n);
    if (rc < 0)
        return rc;
    if ((len - HEAD) % HEAD_LINK || (len - HEAD) / HEAD_LINK != n)
        return sn_fail(SEEN_EFORMAT, "nfilters is %u in a header of %zu bytes", n, len);
    rc = sn_bf_chain(n, a, &f);
    if (rc < 0)
        return rc;
    f->options = options;
    f->growth = sn_le32(p + 16);
    f->n = n;
    *bytes = 0;
    p += HEAD;
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++, p += HEAD_LINK) {
        sn_bf_link *l = &f->links[i];
        *l = (sn_bf_link){.bits = sn_le64(p + 8),
                          .size = sn_le64(p + 16),
                          .error = sn_le_double(p + 24),
                          .bpe = sn_le_double(p + 32),
                          .hashes = sn_le32(p + 40),
                          .entries = sn_le64(p + 44),
                          .n2 = p[52]};
        rc = link_take(f, i, bytes);
        if (rc == SEEN_OK && sn_le64(p) != l->bits / 8)
            rc = sn_fail(SEEN_EFORMAT, "link %u: bytes is %llu, bits %llu", i,
                         (unsigned long long)sn_le64(p), (unsigned long long)l->bits);
    }
    if (rc == SEEN_OK && f->size != size)
        rc = sn_fail(SEEN_EFORMAT, "size is %llu but the links add up to %llu",
                     (unsigned long long)size, (unsigned long long)f->size);
    if (rc < 0) {
        sn_bf_free(f);
        return rc;
    }
    *out = f;
    return SEEN_OK;
}

/* Allocates the array of every link of F, all zero, if the total is within
 * MAX_BYTES. */
static int arrays_alloc(sn_bf *f, uint64_t bytes, uint64_t max_bytes)
{
    if (bytes > max_bytes)
        return sn_fail(SEEN_ETOOBIG, "bit arrays of %llu bytes, %llu allowed",
                       (unsigned long long)bytes, (unsigned long long)max_bytes);
    for (uint32_t i = 0; i < f->n; i++) {
        int rc = sn_bf_link_alloc(&f->links[i], &f->alloc);
        if (rc < 0)
            return rc;
    }
    return SEEN_OK;
}

int sn_bf_load(const void *header, size_t len, uint64_t max_bytes,
                 const seen_allocator *a, sn_bf **out)
{
    sn_bf *f;
    uint64_t bytes;
    int rc = header_read(header, len, a, &bytes, &f);
    if (rc < 0)
        return rc;
    rc = arrays_alloc(f, bytes, max_bytes);
    if (rc < 0) {
        sn_bf_free(f);
        return rc;
    }
    *out = f;
    return SEEN_OK;
}

int sn_bf_make(uint32_t options, uint32_t expansion, const sn_bf_link_info *links,
                 uint32_t n, uint64_t max_bytes, const seen_allocator *a, sn_bf **out)
{
    sn_bf *f;
    uint64_t bytes = 0;
    int rc = options_check(options, n);
    if (rc < 0)
        return rc;
    rc = sn_bf_chain(n, a, &f);
    if (rc < 0)
        return rc;
    f->options = options;
    f->growth = expansion;
    f->n = n;
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++) {
        sn_bf_link *l = &f->links[i];
        *l = (sn_bf_link){.bits = links[i].bits,
                          .size = links[i].size,
                          .error = links[i].error,
                          .bpe = links[i].bpe,
                          .hashes = links[i].hashes,
                          .entries = links[i].entries,
                          .n2 = links[i].n2};
        rc = link_take(f, i, &bytes);
    }
    if (rc == SEEN_OK)
        rc = arrays_alloc(f, bytes, max_bytes);
    if (rc < 0) {
        sn_bf_free(f);
        return rc;
    }
    for (uint32_t i = 0; i < n; i++)
        if (links[i].data)
            memcpy(f->links[i].data, links[i].data, f->links[i].bits / 8);
    *out = f;
    return SEEN_OK;
}

int sn_bf_over(uint8_t *dump, size_t len, const seen_allocator *a, sn_bf **out)
{
    sn_bf *f;
    uint64_t bytes;
    if (len < HEAD)
        return sn_fail(SEEN_EFORMAT, "%zu bytes are too short for a dump", len);
    uint64_t head = HEAD + (uint64_t)sn_le32(dump + 8) * HEAD_LINK;
    if (head > len)
        return sn_fail(SEEN_EFORMAT, "nfilters is %u in a dump of %zu bytes",
                       sn_le32(dump + 8), len);
    int rc = header_read(dump, head, a, &bytes, &f);
    if (rc < 0)
        return rc;
    if (bytes != len - head) {
        sn_bf_free(f);
        return sn_wrong_length(
            bytes > len - head, "the header promises %llu bytes of bits, %llu follow",
            (unsigned long long)bytes, (unsigned long long)(len - head));
    }
    uint8_t *p = dump + head;
    for (uint32_t i = 0; i < f->n; i++) {
        f->links[i].data = p;
        p += f->links[i].bits / 8;
    }
    *out = f;
    return SEEN_OK;
}
