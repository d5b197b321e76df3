/* bfchain.c - seen_bf: RedisBloom's chain of Bloom filters, bit for bit.
 *
 * New keys go to the newest link, questions to all of them; a full link is followed
 * by a larger one with half its error rate. A key is hashed once for all links. */
#include "foreign/modulo.h"
#include "foreign/redis_chain.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/memory.h"
#include "hash/murmur2.h"
#include "kind/kind.h"
#include <math.h>

#define HEAD 20
#define HEAD_LINK 53
#define LN2 0.693147180559945
#define LN2_SQUARED 0.480453013918201
#define MAX_HASHES 4096 /* an error rate of 1e-308 asks for 1024 */
#define MAX_GROWTH 32768
#define ALL_OPTIONS                                                                    \
    (SEEN_BF_NOROUND | SEEN_BF_RAWBITS | SEEN_BF_FORCE64 | SEEN_BF_NOSCALING)

typedef struct link {
    uint8_t *data;
    uint64_t bits, modulus, inverse, size, entries;
    double error, bpe;
    uint32_t hashes;
    uint8_t n2;
    bool owned;
} link;

struct seen_bf {
    seen_allocator alloc;
    uint64_t size; /* of all links */
    uint32_t options, growth;
    uint32_t n, room; /* links used, links allocated */
    link *links;      /* oldest first */
};

/* ---- links ---------------------------------------------------------------------- */

static void modulus_set(link *l)
{
    l->modulus = l->n2 ? (uint64_t)1 << l->n2 : l->bits;
    l->inverse = sn_inverse(l->modulus);
}

/* The numbers of a link for E entries at error R; no memory yet. */
static int link_shape(link *l, uint64_t e, double r, uint32_t options)
{
    double bpe = fabs(log(r) / LN2_SQUARED);
    double want = (double)e * bpe;
    if (!(r > 0) || !(bpe < 4096))
        return sn_fail(SEEN_ETOOBIG, "the error rate of the next link would be %g", r);
    if (options & SEEN_BF_RAWBITS)
        return sn_fail(SEEN_EKIND,
                       "a chain with option 2 (entries are bits) cannot grow");
    if (!(want < (double)SN_MAX_BYTES * 8))
        return sn_fail(SEEN_ETOOBIG, "a link for %llu entries would take %.0f bits",
                       (unsigned long long)e, want);
    *l = (link){.error = r, .bpe = bpe, .entries = e};
    uint64_t raw;
    if (options & SEEN_BF_NOROUND) {
        raw = want < 1 ? 1 : (uint64_t)want;
    } else {
        l->n2 = want < 1 ? 1 : (uint8_t)(floor(log2(want)) + 1);
        raw = (uint64_t)1 << l->n2;
        l->entries += (uint64_t)(trunc((double)raw - want) / bpe);
    }
    l->bits = (raw + 63) / 64 * 64;
    l->hashes = (uint32_t)ceil(LN2 * bpe);
    modulus_set(l);
    return SEEN_OK;
}

/* Checks a link that came from outside, number by number. */
static int link_check(const link *l, uint32_t i)
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
        (double)l->hashes != ceil(LN2 * l->bpe))
        return sn_fail(SEEN_EFORMAT, "link %u: hashes is %u with %g bits per entry", i,
                       l->hashes, l->bpe);
    return SEEN_OK;
}

static int link_alloc(link *l, const seen_allocator *a)
{
    l->data = sn_body_alloc(a, l->bits / 8);
    if (!l->data)
        return sn_fail(SEEN_ENOMEM, "no memory for a link of %llu bytes",
                       (unsigned long long)(l->bits / 8));
    l->owned = true;
    return SEEN_OK;
}

/* ---- the chain ------------------------------------------------------------------ */

/* An empty chain with room for N links; LINKS are zeroed. */
static int chain_new(uint32_t n, const seen_allocator *a, seen_bf **out)
{
    static const seen_allocator system;
    a = a ? a : &system;
    seen_bf *f = sn_alloc(a, sizeof *f);
    if (!f)
        return sn_fail(SEEN_ENOMEM, "no memory for a chain");
    f->alloc = *a;
    f->room = n;
    f->links = sn_alloc(a, n * sizeof *f->links);
    if (!f->links) {
        sn_free(a, f, sizeof *f);
        return sn_fail(SEEN_ENOMEM, "no memory for %u links", n);
    }
    *out = f;
    return SEEN_OK;
}

void seen_bf_free(seen_bf *f)
{
    if (!f)
        return;
    seen_allocator a = f->alloc;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->links[i].owned)
            sn_body_free(&a, f->links[i].data, f->links[i].bits / 8);
    sn_free(&a, f->links, f->room * sizeof *f->links);
    sn_free(&a, f, sizeof *f);
}

int seen_bf_new(double error, uint64_t capacity, uint32_t expansion, bool nonscaling,
                const seen_allocator *a, seen_bf **out)
{
    seen_bf *f;
    if (!(error > 0 && error < 1))
        return sn_fail(SEEN_EINVAL, "error rate %g is not between 0 and 1", error);
    if (capacity < 1 || capacity > (uint64_t)1 << 30)
        return sn_fail(SEEN_EINVAL, "capacity %llu is not in 1 .. 1073741824",
                       (unsigned long long)capacity);
    if (expansion > MAX_GROWTH)
        return sn_fail(SEEN_EINVAL, "expansion %u is not in 0 .. 32768", expansion);
    nonscaling |= expansion == 0;
    error = error > 0.25 ? 0.25 : error;
    int rc = chain_new(1, a, &f);
    if (rc < 0)
        return rc;
    f->options = SEEN_BF_NOROUND | SEEN_BF_FORCE64;
    f->options |= nonscaling ? SEEN_BF_NOSCALING : 0;
    f->growth = expansion;
    rc = link_shape(&f->links[0], capacity, nonscaling ? error : error * 0.5,
                    f->options);
    if (rc == SEEN_OK)
        rc = link_alloc(&f->links[0], &f->alloc);
    if (rc < 0) {
        seen_bf_free(f);
        return rc;
    }
    f->n = 1;
    *out = f;
    return SEEN_OK;
}

int seen_bf_copy(const seen_bf *f, const seen_allocator *a, seen_bf **out)
{
    seen_bf *g;
    int rc = chain_new(f->n, a, &g);
    if (rc < 0)
        return rc;
    g->size = f->size;
    g->options = f->options;
    g->growth = f->growth;
    for (; g->n < f->n; g->n++) {
        link *l = &g->links[g->n];
        *l = f->links[g->n];
        rc = link_alloc(l, &g->alloc);
        if (rc < 0) {
            seen_bf_free(g);
            return rc;
        }
        memcpy(l->data, f->links[g->n].data, l->bits / 8);
    }
    *out = g;
    return SEEN_OK;
}

/* Appends the link that follows the newest; the chain is unchanged on failure. */
static int chain_grow(seen_bf *f)
{
    const link *last = &f->links[f->n - 1];
    link next;
    uint64_t entries;
    if (f->options & SEEN_BF_NOSCALING || f->growth == 0)
        return sn_fail(SEEN_EFULL, "non scaling filter is full: %llu entries",
                       (unsigned long long)last->entries);
    /* A header is taken as it is for asking, but its lies must not cost memory: what
     * a link holds follows from its bits. */
    if (f->growth > MAX_GROWTH ||
        (double)last->entries * last->bpe > (double)last->bits + 64)
        return sn_fail(SEEN_EFORMAT,
                       "growth %u of %llu entries in %llu bits: no chain that "
                       "can grow",
                       f->growth, (unsigned long long)last->entries,
                       (unsigned long long)last->bits);
    if (__builtin_mul_overflow(last->entries, (uint64_t)f->growth, &entries))
        return sn_fail(SEEN_ETOOBIG, "the next link would have over 2^64 entries");
    if (f->n == f->room) {
        uint32_t room = f->room * 2;
        link *links = room > f->room ? sn_alloc(&f->alloc, room * sizeof *links) : NULL;
        if (!links)
            return sn_fail(SEEN_ENOMEM, "no memory for %u links", room);
        memcpy(links, f->links, f->n * sizeof *links);
        sn_free(&f->alloc, f->links, f->room * sizeof *links);
        f->links = links;
        f->room = room;
        last = &f->links[f->n - 1];
    }
    int rc = link_shape(&next, entries, last->error * 0.5, f->options);
    if (rc == SEEN_OK)
        rc = link_alloc(&next, &f->alloc);
    if (rc < 0)
        return rc;
    f->links[f->n++] = next;
    return SEEN_OK;
}

/* ---- keys ----------------------------------------------------------------------- */

typedef struct pair {
    uint64_t a, b;
} pair;

static pair hash_of(const seen_bf *f, const void *key, size_t len)
{
    pair h;
    if (f->options & SEEN_BF_FORCE64) {
        h.a = sn_murmur64a(key, len, 0xc6a4a7935bd1e995);
        h.b = sn_murmur64a(key, len, h.a);
    } else {
        h.a = sn_murmur2_32(key, len, 0x9747b28c);
        h.b = sn_murmur2_32(key, len, (uint32_t)h.a);
    }
    return h;
}

static bool link_has(const link *l, pair h)
{
    for (uint32_t i = 0; i < l->hashes; i++) {
        uint64_t at = sn_modulo(h.a + i * h.b, l->modulus, l->inverse);
        if (!(l->data[at >> 3] >> (at & 7) & 1))
            return false;
    }
    return true;
}

static bool chain_has(const seen_bf *f, pair h)
{
    for (uint32_t i = f->n; i-- > 0;)
        if (link_has(&f->links[i], h))
            return true;
    return false;
}

bool seen_bf_has(const seen_bf *f, const void *key, size_t len)
{
    return chain_has(f, hash_of(f, key, len));
}

bool sn_bf_full(const seen_bf *f)
{
    const link *l = &f->links[f->n - 1];
    return l->size >= l->entries;
}

/* Puts an absent key into the newest link, or into a new one. */
static int chain_set(seen_bf *f, pair h)
{
    if (sn_bf_full(f)) {
        int rc = chain_grow(f);
        if (rc < 0)
            return rc;
    }
    link *l = &f->links[f->n - 1];
    for (uint32_t i = 0; i < l->hashes; i++) {
        uint64_t at = sn_modulo(h.a + i * h.b, l->modulus, l->inverse);
        l->data[at >> 3] |= (uint8_t)(1u << (at & 7));
    }
    l->size++;
    f->size++;
    return SEEN_NEW;
}

int seen_bf_add(seen_bf *f, const void *key, size_t len)
{
    pair h = hash_of(f, key, len);
    return chain_has(f, h) ? SEEN_DUP : chain_set(f, h);
}

/* ---- batches -------------------------------------------------------------------- */

/* A key has k bits anywhere, so k cache misses. The bits of a window of keys in the
 * newest link are computed and asked for before the first is looked at; those of the
 * elder links, which are smaller, come as they come. */
enum { WINDOW = 16, KEPT = 16, PEEK = 4 };

typedef struct window {
    uint32_t newest; /* the number of links when it was made */
    uint32_t k;      /* bits that are known */
    pair h[WINDOW];
    uint64_t at[WINDOW][KEPT];
} window;

static void window_open(const seen_bf *f, const seen_key *keys, size_t n, uint32_t most,
                        window *w)
{
    const link *l = &f->links[f->n - 1];
    uint32_t k = w->k = l->hashes < most ? l->hashes : most;
    w->newest = f->n;
    for (size_t j = 0; j < n; j++) {
        pair h = w->h[j] = hash_of(f, keys[j].data, keys[j].len);
        for (uint32_t i = 0; i < k; i++) {
            uint64_t at = w->at[j][i] = (h.a + i * h.b) % l->modulus;
            __builtin_prefetch(&l->data[at >> 3]);
        }
    }
}

static bool window_has(const seen_bf *f, const window *w, size_t j)
{
    if (w->newest != f->n)
        return chain_has(f, w->h[j]);
    const link *l = &f->links[f->n - 1];
    uint32_t k = w->k, i;
    for (i = 0; i < k; i++)
        if (!(l->data[w->at[j][i] >> 3] >> (w->at[j][i] & 7) & 1))
            break;
    for (; i >= k && i < l->hashes; i++) {
        uint64_t at = (w->h[j].a + i * w->h[j].b) % l->modulus;
        if (!(l->data[at >> 3] >> (at & 7) & 1))
            break;
    }
    if (i == l->hashes)
        return true;
    for (i = f->n - 1; i-- > 0;)
        if (link_has(&f->links[i], w->h[j]))
            return true;
    return false;
}

void seen_bf_has_many(const seen_bf *f, const seen_key *keys, size_t n, bool *found)
{
    window w;
    for (size_t at = 0; at < n; at += WINDOW) {
        size_t m = n - at < WINDOW ? n - at : WINDOW;
        /* An absent key is known by its first bits; few are worth fetching. */
        window_open(f, keys + at, m, PEEK, &w);
        for (size_t j = 0; j < m; j++)
            found[at + j] = window_has(f, &w, j);
    }
}

size_t seen_bf_add_many(seen_bf *f, const seen_key *keys, size_t n, bool *dup, int *why)
{
    window w;
    for (size_t at = 0; at < n; at += WINDOW) {
        size_t m = n - at < WINDOW ? n - at : WINDOW;
        window_open(f, keys + at, m, KEPT, &w);
        for (size_t j = 0; j < m; j++) {
            dup[at + j] = window_has(f, &w, j);
            if (dup[at + j])
                continue;
            *why = chain_set(f, w.h[j]);
            if (*why < 0)
                return at + j;
        }
    }
    *why = SEEN_OK;
    return n;
}

/* ---- what is in it -------------------------------------------------------------- */

void seen_bf_get_info(const seen_bf *f, seen_bf_info *out)
{
    *out = (seen_bf_info){
        .items = f->size, .links = f->n, .options = f->options, .expansion = f->growth};
    for (uint32_t i = 0; i < f->n; i++) {
        out->capacity += f->links[i].entries;
        out->bytes += f->links[i].bits / 8;
    }
    out->size = 32 + 64 * (uint64_t)f->n + out->bytes;
}

int seen_bf_get_link(const seen_bf *f, uint32_t i, seen_bf_link *out)
{
    if (i >= f->n)
        return sn_fail(SEEN_EINVAL, "link %u of %u", i, f->n);
    const link *l = &f->links[i];
    *out = (seen_bf_link){.bytes = l->bits / 8,
                          .bits = l->bits,
                          .size = l->size,
                          .error = l->error,
                          .bpe = l->bpe,
                          .hashes = l->hashes,
                          .entries = l->entries,
                          .n2 = l->n2,
                          .data = l->data};
    return SEEN_OK;
}

/* ---- dumps ---------------------------------------------------------------------- */

size_t seen_bf_header(const seen_bf *f, void *buf, size_t size)
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
        const link *l = &f->links[i];
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

int seen_bf_chunk(const seen_bf *f, uint64_t iter, const void **data, size_t *len,
                  uint64_t *next)
{
    if (iter < 1)
        return sn_fail(SEEN_EINVAL, "iterator 0 asks for the header");
    uint64_t off = iter - 1;
    for (uint32_t i = 0; i < f->n; i++) {
        uint64_t bytes = f->links[i].bits / 8;
        if (off < bytes) {
            uint64_t left = bytes - off;
            *len = left < SEEN_REDIS_CHUNK ? left : SEEN_REDIS_CHUNK;
            *data = f->links[i].data + off;
            *next = iter + *len;
            return SEEN_OK;
        }
        off -= bytes;
    }
    *data = "";
    *len = 0;
    *next = 0;
    return SEEN_OK;
}

int seen_bf_load_chunk(seen_bf *f, uint64_t iter, const void *data, size_t len)
{
    if (iter < 1 || iter - 1 < len)
        return sn_fail(SEEN_ERANGE, "iterator %llu with %zu bytes: no link found",
                       (unsigned long long)iter, len);
    uint64_t off = iter - 1 - len;
    for (uint32_t i = 0; i < f->n; i++) {
        uint64_t bytes = f->links[i].bits / 8;
        if (off < bytes) {
            if (len > bytes - off)
                return sn_fail(SEEN_ETOOBIG,
                               "%zu bytes at %llu of link %u, which has %llu", len,
                               (unsigned long long)off, i, (unsigned long long)bytes);
            memcpy(f->links[i].data + off, data, len);
            return SEEN_OK;
        }
        off -= bytes;
    }
    return sn_fail(SEEN_ERANGE, "iterator %llu: no link found",
                   (unsigned long long)iter);
}

static int options_check(uint32_t options, uint64_t n)
{
    if (options & ~(uint32_t)ALL_OPTIONS)
        return sn_fail(SEEN_EFORMAT, "options %#x has unknown bits", options);
    if (n < 1)
        return sn_fail(SEEN_EFORMAT, "nfilters is 0");
    return SEEN_OK;
}

/* Reads and checks a header of exactly LEN bytes into a chain without arrays; *BYTES
 * becomes the sum of their lengths. */
static int header_read(const uint8_t *p, size_t len, const seen_allocator *a,
                       uint64_t *bytes, seen_bf **out)
{
    seen_bf *f;
    if (len < HEAD)
        return sn_fail(SEEN_EFORMAT, "a header of %zu bytes is too short", len);
    uint64_t size = sn_le64(p), sum = 0;
    uint32_t n = sn_le32(p + 8), options = sn_le32(p + 12);
    int rc = options_check(options, n);
    if (rc < 0)
        return rc;
    if ((len - HEAD) % HEAD_LINK || (len - HEAD) / HEAD_LINK != n)
        return sn_fail(SEEN_EFORMAT, "nfilters is %u in a header of %zu bytes", n, len);
    rc = chain_new(n, a, &f);
    if (rc < 0)
        return rc;
    f->size = size;
    f->options = options;
    f->growth = sn_le32(p + 16);
    f->n = n;
    *bytes = 0;
    p += HEAD;
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++, p += HEAD_LINK) {
        link *l = &f->links[i];
        *l = (link){.bits = sn_le64(p + 8),
                    .size = sn_le64(p + 16),
                    .error = sn_le_double(p + 24),
                    .bpe = sn_le_double(p + 32),
                    .hashes = sn_le32(p + 40),
                    .entries = sn_le64(p + 44),
                    .n2 = p[52]};
        rc = link_check(l, i);
        if (rc == SEEN_OK && sn_le64(p) != l->bits / 8)
            rc = sn_fail(SEEN_EFORMAT, "link %u: bytes is %llu, bits %llu", i,
                         (unsigned long long)sn_le64(p), (unsigned long long)l->bits);
        if (rc == SEEN_OK && __builtin_add_overflow(*bytes, l->bits / 8, bytes))
            rc = sn_fail(SEEN_EFORMAT, "link %u: bytes overflow", i);
        if (rc == SEEN_OK && __builtin_add_overflow(sum, l->size, &sum))
            rc = sn_fail(SEEN_EFORMAT, "link %u: size overflows", i);
        if (rc == SEEN_OK)
            modulus_set(l);
    }
    if (rc == SEEN_OK && sum != size)
        rc = sn_fail(SEEN_EFORMAT, "size is %llu but the links add up to %llu",
                     (unsigned long long)size, (unsigned long long)sum);
    if (rc < 0) {
        seen_bf_free(f);
        return rc;
    }
    *out = f;
    return SEEN_OK;
}

/* Gives every link of F its array, all zero, if together they are not too many. */
static int arrays_alloc(seen_bf *f, uint64_t bytes, uint64_t max_bytes)
{
    if (bytes > max_bytes)
        return sn_fail(SEEN_ETOOBIG, "bit arrays of %llu bytes, %llu allowed",
                       (unsigned long long)bytes, (unsigned long long)max_bytes);
    for (uint32_t i = 0; i < f->n; i++) {
        int rc = link_alloc(&f->links[i], &f->alloc);
        if (rc < 0)
            return rc;
    }
    return SEEN_OK;
}

int seen_bf_load(const void *header, size_t len, uint64_t max_bytes,
                 const seen_allocator *a, seen_bf **out)
{
    seen_bf *f;
    uint64_t bytes;
    int rc = header_read(header, len, a, &bytes, &f);
    if (rc < 0)
        return rc;
    rc = arrays_alloc(f, bytes, max_bytes);
    if (rc < 0) {
        seen_bf_free(f);
        return rc;
    }
    *out = f;
    return SEEN_OK;
}

int seen_bf_make(uint32_t options, uint32_t expansion, const seen_bf_link *links,
                 uint32_t n, uint64_t max_bytes, const seen_allocator *a, seen_bf **out)
{
    seen_bf *f;
    uint64_t bytes = 0;
    int rc = options_check(options, n);
    if (rc < 0)
        return rc;
    rc = chain_new(n, a, &f);
    if (rc < 0)
        return rc;
    f->options = options;
    f->growth = expansion;
    f->n = n;
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++) {
        link *l = &f->links[i];
        *l = (link){.bits = links[i].bits,
                    .size = links[i].size,
                    .error = links[i].error,
                    .bpe = links[i].bpe,
                    .hashes = links[i].hashes,
                    .entries = links[i].entries,
                    .n2 = links[i].n2};
        rc = link_check(l, i);
        if (rc == SEEN_OK && __builtin_add_overflow(bytes, l->bits / 8, &bytes))
            rc = sn_fail(SEEN_EFORMAT, "link %u: bytes overflow", i);
        if (rc == SEEN_OK && __builtin_add_overflow(f->size, l->size, &f->size))
            rc = sn_fail(SEEN_EFORMAT, "link %u: size overflows", i);
        if (rc == SEEN_OK)
            modulus_set(l);
    }
    if (rc == SEEN_OK)
        rc = arrays_alloc(f, bytes, max_bytes);
    if (rc < 0) {
        seen_bf_free(f);
        return rc;
    }
    for (uint32_t i = 0; i < n; i++)
        if (links[i].data)
            memcpy(f->links[i].data, links[i].data, f->links[i].bits / 8);
    *out = f;
    return SEEN_OK;
}

int sn_bf_over(uint8_t *dump, size_t len, const seen_allocator *a, seen_bf **out)
{
    seen_bf *f;
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
        seen_bf_free(f);
        return sn_fail(SEEN_EFORMAT,
                       "the header speaks of %llu bytes of bits, %llu follow",
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
