/* distinct.c - HyperLogLog: how many different keys?
 *
 * The top bits of a hash choose a register, which keeps the longest run of zeroes seen
 * in the rest. The estimate is Ertl's (New cardinality estimation algorithms for
 * HyperLogLog sketches, 2017): one formula from empty to saturated registers, without
 * tables of corrections and without a jump between two ranges. */
#include "base/fail.h"
#include "seen_sketch.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "sketch/sketch_bytes.h"
#include <inttypes.h>
#include <math.h>

struct seen_distinct {
    seen_allocator alloc;
    unsigned precision;
    uint64_t seed;
    uint8_t *reg; /* 0: no key; otherwise 1 + leading zeroes, at most 65 - precision */
};

static const char name[] = "seenHL1\n";
enum { W_PRECISION, W_SEED, WORDS };
enum { LEAST = 4, USUAL = 14, MOST = 24 };

static size_t registers(const seen_distinct *d)
{
    return (size_t)1 << d->precision;
}

int seen_distinct_new(unsigned precision, uint64_t seed, const seen_allocator *a,
                      seen_distinct **out)
{
    *out = NULL;
    precision = precision ? precision : USUAL;
    if (precision < LEAST || precision > MOST)
        return sn_fail(SEEN_EINVAL, "precision %u is not in %d .. %d", precision, LEAST,
                       MOST);
    int rc = sn_check_allocator(a);
    if (rc < 0)
        return rc;
    seen_allocator alloc = sn_allocator(a);
    seen_distinct *d = sn_alloc(&alloc, sizeof *d);
    if (d) {
        *d = (seen_distinct){.alloc = alloc, .precision = precision, .seed = seed};
        d->reg = sn_body_alloc(&alloc, registers(d));
    }
    if (!d || !d->reg) {
        sn_free(&alloc, d, sizeof *d);
        return sn_fail(SEEN_ENOMEM, "no memory for a sketch");
    }
    *out = d;
    return SEEN_OK;
}

void seen_distinct_free(seen_distinct *d)
{
    if (!d)
        return;
    seen_allocator a = d->alloc;
    sn_body_free(&a, d->reg, registers(d));
    sn_free(&a, d, sizeof *d);
}

void seen_distinct_add_hashes(seen_distinct *d, const uint64_t *h, size_t n)
{
    unsigned p = d->precision;
    for (size_t i = 0; i < n; i++) {
        /* The bit after the rest ends the run. */
        uint64_t rest = h[i] << p | (uint64_t)1 << (p - 1);
        uint8_t run = (uint8_t)(1 + __builtin_clzll(rest));
        uint8_t *r = d->reg + (h[i] >> (64 - p));
        if (run > *r)
            *r = run;
    }
}

void seen_distinct_add(seen_distinct *d, const void *key, size_t len)
{
    uint64_t h = sn_hash(d->seed, key, len);
    seen_distinct_add_hashes(d, &h, 1);
}

/* x + sum over k of x^(2^k) 2^(k-1): the term of the empty registers. */
static double empty_share(double x)
{
    if (x == 1)
        return INFINITY;
    double y = 1, z = x, was;
    do {
        x *= x;
        was = z;
        z += x * y;
        y += y;
    } while (z != was);
    return z;
}

/* (1 - x - sum over k of (1 - x^(2^-k))^2 2^-k) / 3: the term of the saturated ones. */
static double full_share(double x)
{
    if (x == 0 || x == 1)
        return 0;
    double y = 1, z = 1 - x, was;
    do {
        x = sqrt(x);
        was = z;
        y /= 2;
        z -= (1 - x) * (1 - x) * y;
    } while (z != was);
    return z / 3;
}

double seen_distinct_count(const seen_distinct *d)
{
    unsigned q = 64 - d->precision;
    uint64_t have[66] = {0};
    double m = (double)registers(d);
    for (size_t i = 0; i < registers(d); i++)
        have[d->reg[i]]++;
    double z = m * full_share(1 - (double)have[q + 1] / m);
    for (unsigned k = q; k >= 1; k--)
        z = (z + (double)have[k]) / 2;
    z += m * empty_share((double)have[0] / m);
    return m * m / (2 * M_LN2) / z;
}

double seen_distinct_error(const seen_distinct *d)
{
    return 1.04 / sqrt((double)registers(d));
}

uint64_t seen_distinct_bytes(const seen_distinct *d)
{
    return sizeof *d + registers(d);
}

int seen_distinct_merge(seen_distinct *dst, const seen_distinct *src)
{
    if (dst->precision != src->precision)
        return sn_fail(SEEN_EMISMATCH, "precision %u and %u differ", dst->precision,
                       src->precision);
    if (dst->seed != src->seed)
        return sn_fail(SEEN_EMISMATCH, "the seeds differ");
    for (size_t i = 0; i < registers(dst); i++)
        if (src->reg[i] > dst->reg[i])
            dst->reg[i] = src->reg[i];
    return SEEN_OK;
}

size_t seen_distinct_write(const seen_distinct *d, void *buf, size_t size)
{
    size_t len = sn_sketch_len(WORDS, registers(d));
    if (size < len)
        return len;
    const uint64_t words[WORDS] = {d->precision, d->seed};
    memcpy(sn_sketch_begin(buf, len, name, words, WORDS), d->reg, registers(d));
    sn_sketch_end(buf, len);
    return len;
}

int seen_distinct_read(const void *bytes, size_t len, uint64_t max_bytes,
                       const seen_allocator *a, seen_distinct **out)
{
    uint64_t w[WORDS];
    const uint8_t *body;
    size_t n;
    *out = NULL;
    int rc = sn_sketch_open(bytes, len, name, w, WORDS, &body, &n);
    if (rc < 0)
        return rc;
    if (w[W_PRECISION] < LEAST || w[W_PRECISION] > MOST ||
        n != (size_t)1 << w[W_PRECISION])
        return sn_fail(SEEN_EFORMAT, "precision %" PRIu64 " with %zu registers",
                       w[W_PRECISION], n);
    for (size_t i = 0; i < n; i++)
        if (body[i] > 65 - w[W_PRECISION])
            return sn_fail(SEEN_EFORMAT, "register %zu holds %u", i, body[i]);
    if ((rc = sn_sketch_fits(sizeof **out + n, max_bytes)) < 0 ||
        (rc = seen_distinct_new((unsigned)w[W_PRECISION], w[W_SEED], a, out)) < 0)
        return rc;
    memcpy((*out)->reg, body, n);
    return SEEN_OK;
}
