/* bfchain.c - sn_bf: RedisBloom's chain of Bloom filters, bit for bit.
 *
 * New keys go to the newest link; lookups ask all of them. After a full link comes a
 * larger one with half its error rate. A key is hashed once for all links. */
#include "foreign/redisbloom/bfchain.h"
#include "base/untrusted_header.h"
#include "base/modulo.h"
#include "base/fail.h"
#include "base/memory.h"
#include "hash/murmur2.h"
#include "kind/kind.h"
#include <math.h>

#define LN2_SQUARED 0.480453013918201
#define MAX_GROWTH 32768

/* ---- links ---------------------------------------------------------------------- */

void sn_bf_link_modulus(sn_bf_link *l)
{
    l->modulus = l->n2 ? (uint64_t)1 << l->n2 : l->bits;
    l->inverse = sn_inverse(l->modulus);
}

/* Computes the numbers of a link for E entries at error R; allocates nothing. */
static int link_shape(sn_bf_link *l, uint64_t e, double r, uint32_t options)
{
    double bpe = fabs(log(r) / LN2_SQUARED);
    double want = (double)e * bpe;
    if (!(r > 0) || !(bpe < 4096))
        return sn_fail(SEEN_ETOOBIG, "the error rate of the next link would be %g", r);
    if (options & SN_BF_RAWBITS)
        return sn_fail(SEEN_EKIND,
                       "a chain with option 2 (entries are bits) cannot grow");
    if (!(want < (double)SN_MAX_BYTES * 8))
        return sn_fail(SEEN_ETOOBIG, "a link for %llu entries would take %.0f bits",
                       (unsigned long long)e, want);
    *l = (sn_bf_link){.error = r, .bpe = bpe, .entries = e};
    uint64_t raw;
    if (options & SN_BF_NOROUND) {
        raw = want < 1 ? 1 : (uint64_t)want;
    } else {
        l->n2 = want < 1 ? 1 : (uint8_t)(floor(log2(want)) + 1);
        raw = (uint64_t)1 << l->n2;
        l->entries += (uint64_t)(trunc((double)raw - want) / bpe);
    }
    l->bits = (raw + 63) / 64 * 64;
    l->hashes = (uint32_t)ceil(SN_BF_LN2 * bpe);
    sn_bf_link_modulus(l);
    return SEEN_OK;
}

int sn_bf_link_alloc(sn_bf_link *l, const seen_allocator *a)
{
    l->data = sn_body_alloc(a, l->bits / 8);
    if (!l->data)
        return sn_no_memory("no memory for a link of %llu bytes",
                            (unsigned long long)(l->bits / 8));
    l->owned = true;
    return SEEN_OK;
}

/* ---- the chain ------------------------------------------------------------------ */

int sn_bf_chain(uint32_t n, const seen_allocator *a, sn_bf **out)
{
    static const seen_allocator system;
    a = a ? a : &system;
    sn_bf *f = sn_alloc(a, sizeof *f);
    if (!f)
        return sn_no_memory("no memory for a chain");
    f->alloc = *a;
    f->room = n;
    f->links = sn_alloc(a, n * sizeof *f->links);
    if (!f->links) {
        sn_free(a, f, sizeof *f);
        return sn_no_memory("no memory for %u links", n);
    }
    *out = f;
    return SEEN_OK;
}

void sn_bf_free(sn_bf *f)
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

int sn_bf_new(double error, uint64_t capacity, uint32_t expansion, bool nonscaling,
                const seen_allocator *a, sn_bf **out)
{
    sn_bf *f;
    if (!(error > 0 && error < 1))
        return sn_fail(SEEN_EINVAL, "error %g is not between 0 and 1", error);
    if (capacity < 1 || capacity > (uint64_t)1 << 30)
        return sn_fail(SEEN_EINVAL, "capacity %llu is not in 1 .. 1073741824",
                       (unsigned long long)capacity);
    if (expansion > MAX_GROWTH)
        return sn_fail(SEEN_EINVAL, "expansion %u is not in 0 .. 32768", expansion);
    nonscaling |= expansion == 0;
    error = error > 0.25 ? 0.25 : error;
    int rc = sn_bf_chain(1, a, &f);
    if (rc < 0)
        return rc;
    f->options = SN_BF_NOROUND | SN_BF_FORCE64;
    f->options |= nonscaling ? SN_BF_NOSCALING : 0;
    f->growth = expansion;
    rc = link_shape(&f->links[0], capacity, nonscaling ? error : error * 0.5,
                    f->options);
    if (rc == SEEN_OK)
        rc = sn_bf_link_alloc(&f->links[0], &f->alloc);
    if (rc < 0) {
        sn_bf_free(f);
        return rc;
    }
    f->n = 1;
    *out = f;
    return SEEN_OK;
}

int sn_bf_copy(const sn_bf *f, const seen_allocator *a, sn_bf **out)
{
    sn_bf *g;
    int rc = sn_bf_chain(f->n, a, &g);
    if (rc < 0)
        return rc;
    g->size = f->size;
    g->options = f->options;
    g->growth = f->growth;
    for (; g->n < f->n; g->n++) {
        sn_bf_link *l = &g->links[g->n];
        *l = f->links[g->n];
        rc = sn_bf_link_alloc(l, &g->alloc);
        if (rc < 0) {
            sn_bf_free(g);
            return rc;
        }
        memcpy(l->data, f->links[g->n].data, l->bits / 8);
    }
    *out = g;
    return SEEN_OK;
}

/* Appends the link that follows the newest; the chain is unchanged on failure. */
static int chain_grow(sn_bf *f)
{
    const sn_bf_link *last = &f->links[f->n - 1];
    sn_bf_link next;
    uint64_t entries;
    if (f->options & SN_BF_NOSCALING || f->growth == 0)
        return sn_fail(SEEN_EFULL, "non scaling filter is full: %llu entries",
                       (unsigned long long)last->entries);
    /* Lookups accept a header unchanged, but a false one must not cost memory: the bits
     * of a link bound its entries. */
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
        sn_bf_link *links =
            room > f->room ? sn_alloc(&f->alloc, room * sizeof *links) : NULL;
        if (!links)
            return sn_no_memory("no memory for %u links", room);
        memcpy(links, f->links, f->n * sizeof *links);
        sn_free(&f->alloc, f->links, f->room * sizeof *links);
        f->links = links;
        f->room = room;
        last = &f->links[f->n - 1];
    }
    int rc = link_shape(&next, entries, last->error * 0.5, f->options);
    if (rc == SEEN_OK)
        rc = sn_bf_link_alloc(&next, &f->alloc);
    if (rc < 0)
        return rc;
    f->links[f->n++] = next;
    return SEEN_OK;
}

/* ---- keys ----------------------------------------------------------------------- */

typedef struct pair {
    uint64_t a, b;
} pair;

static pair hash_of(const sn_bf *f, const void *key, size_t len)
{
    pair h;
    if (f->options & SN_BF_FORCE64) {
        h.a = sn_murmur64a(key, len, 0xc6a4a7935bd1e995);
        h.b = sn_murmur64a(key, len, h.a);
    } else {
        h.a = sn_murmur2_32(key, len, 0x9747b28c);
        h.b = sn_murmur2_32(key, len, (uint32_t)h.a);
    }
    return h;
}

static bool link_has(const sn_bf_link *l, pair h)
{
    for (uint32_t i = 0; i < l->hashes; i++) {
        uint64_t at = sn_modulo(h.a + i * h.b, l->modulus, l->inverse);
        if (!(l->data[at >> 3] >> (at & 7) & 1))
            return false;
    }
    return true;
}

static bool chain_has(const sn_bf *f, pair h)
{
    for (uint32_t i = f->n; i-- > 0;)
        if (link_has(&f->links[i], h))
            return true;
    return false;
}

bool sn_bf_has(const sn_bf *f, const void *key, size_t len)
{
    return chain_has(f, hash_of(f, key, len));
}

bool sn_bf_full(const sn_bf *f)
{
    const sn_bf_link *l = &f->links[f->n - 1];
    return l->size >= l->entries;
}

/* Puts an absent key into the newest link, or into a new one. */
static int chain_set(sn_bf *f, pair h)
{
    if (sn_bf_full(f)) {
        int rc = chain_grow(f);
        if (rc < 0)
            return rc;
    }
    sn_bf_link *l = &f->links[f->n - 1];
    for (uint32_t i = 0; i < l->hashes; i++) {
        uint64_t at = sn_modulo(h.a + i * h.b, l->modulus, l->inverse);
        l->data[at >> 3] |= (uint8_t)(1u << (at & 7));
    }
    l->size++;
    sn_count_up(&f->size, 1);
    return SEEN_NEW;
}

int sn_bf_add(sn_bf *f, const void *key, size_t len)
{
    pair h = hash_of(f, key, len);
    return chain_has(f, h) ? SEEN_DUP : chain_set(f, h);
}

/* ---- batches -------------------------------------------------------------------- */

/* A key has k bits anywhere, so k cache misses. The bits of a window of keys in the
 * newest link are computed and prefetched before the first one is tested; older links
 * are smaller, and their bits are read when needed. */
enum { WINDOW = 32, KEPT = 16, PEEK = 4 };

typedef struct window {
    uint32_t newest; /* the number of links when it was made */
    uint32_t k;      /* bits in the window: all of a key, but at most KEPT */
    pair h[WINDOW];
    uint64_t at[WINDOW][KEPT];
} window;

static uint64_t bit_of(const sn_bf_link *l, pair h, uint32_t i)
{
    return sn_modulo(h.a + i * h.b, l->modulus, l->inverse);
}

static bool bit_is_set(const sn_bf_link *l, uint64_t at)
{
    return l->data[at >> 3] >> (at & 7) & 1;
}

/* Computes and prefetches bits FROM .. TO of key J. */
static void window_fetch(const sn_bf_link *l, window *w, size_t j, uint32_t from,
                         uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint64_t at = w->at[j][i] = bit_of(l, w->h[j], i);
        __builtin_prefetch(&l->data[at >> 3], 1);
    }
}

/* Prefetches the first MOST bits of each key. */
static void window_open(const sn_bf *f, const seen_key *keys, size_t n, uint32_t most,
                        window *w)
{
    const sn_bf_link *l = &f->links[f->n - 1];
    w->newest = f->n;
    w->k = l->hashes < KEPT ? l->hashes : KEPT;
    for (size_t j = 0; j < n; j++) {
        w->h[j] = hash_of(f, keys[j].data, keys[j].len);
        window_fetch(l, w, j, 0, w->k < most ? w->k : most);
    }
}

static bool window_bits_set(const sn_bf_link *l, const window *w, size_t j,
                            uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (!bit_is_set(l, w->at[j][i]))
            return false;
    return true;
}

/* True if key J is present; its bits from FROM on have not been computed yet. */
static bool window_has(const sn_bf *f, const window *w, size_t j, uint32_t from)
{
    if (w->newest != f->n)
        return chain_has(f, w->h[j]);
    const sn_bf_link *l = &f->links[f->n - 1];
    bool all = window_bits_set(l, w, j, from, w->k);
    for (uint32_t i = w->k; i < l->hashes && all; i++)
        all = bit_is_set(l, bit_of(l, w->h[j], i));
    for (uint32_t i = f->n - 1; i-- > 0 && !all;)
        all = link_has(&f->links[i], w->h[j]);
    return all;
}

void sn_bf_has_many(const sn_bf *f, const seen_key *keys, size_t n, bool *found)
{
    window w;
    const sn_bf_link *l = &f->links[f->n - 1];
    for (size_t at = 0; at < n; at += WINDOW) {
        size_t m = n - at < WINDOW ? n - at : WINDOW;
        /* The first bits reveal most absent keys: the others are fetched only if the
         * first are set. */
        window_open(f, keys + at, m, PEEK, &w);
        uint32_t peek = w.k < PEEK ? w.k : PEEK;
        for (size_t j = 0; j < m; j++) {
            found[at + j] = window_bits_set(l, &w, j, 0, peek);
            if (found[at + j])
                window_fetch(l, &w, j, peek, w.k);
        }
        for (size_t j = 0; j < m; j++) {
            if (found[at + j])
                found[at + j] = window_has(f, &w, j, peek);
            else
                for (uint32_t i = f->n - 1; i-- > 0 && !found[at + j];)
                    found[at + j] = link_has(&f->links[i], w.h[j]);
        }
    }
}

/* Like chain_set, but uses the computed bits of key J. */
static int window_set(sn_bf *f, const window *w, size_t j)
{
    sn_bf_link *l = &f->links[f->n - 1];
    if (w->newest != f->n || sn_bf_full(f) || w->k < l->hashes)
        return chain_set(f, w->h[j]);
    for (uint32_t i = 0; i < w->k; i++)
        l->data[w->at[j][i] >> 3] |= (uint8_t)(1u << (w->at[j][i] & 7));
    l->size++;
    sn_count_up(&f->size, 1);
    return SEEN_NEW;
}

size_t sn_bf_add_many(sn_bf *f, const seen_key *keys, size_t n, bool *dup, int *why)
{
    window w;
    for (size_t at = 0; at < n; at += WINDOW) {
        size_t m = n - at < WINDOW ? n - at : WINDOW;
        window_open(f, keys + at, m, KEPT, &w);
        for (size_t j = 0; j < m; j++) {
            dup[at + j] = window_has(f, &w, j, 0);
            if (dup[at + j])
                continue;
            *why = window_set(f, &w, j);
            if (*why < 0)
                return at + j;
        }
    }
    *why = SEEN_OK;
    return n;
}

/* ---- what is in it -------------------------------------------------------------- */

void sn_bf_get_info(const sn_bf *f, sn_bf_info *out)
{
    *out = (sn_bf_info){
        .items = f->size, .links = f->n, .options = f->options, .expansion = f->growth};
    for (uint32_t i = 0; i < f->n; i++) {
        out->capacity += f->links[i].entries;
        out->bytes += f->links[i].bits / 8;
    }
    out->size = 32 + 64 * (uint64_t)f->n + out->bytes;
}

int sn_bf_get_link(const sn_bf *f, uint32_t i, sn_bf_link_info *out)
{
    if (i >= f->n)
        return sn_fail(SEEN_EINVAL, "link %u of %u", i, f->n);
    const sn_bf_link *l = &f->links[i];
    *out = (sn_bf_link_info){.bytes = l->bits / 8,
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
