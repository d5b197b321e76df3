/* count_min.c - count-min sketch: how often did this key occur?
 *
 * One cell in each of DEPTH rows counts a key. A native key is hashed once and the word
 * is remixed for each row; RedisBloom hashes a key again for each row, with the row
 * number as the seed. Cells saturate, so an answer is never too small, not even at
 * the limit. */
#include "base/bytes.h"
#include "seen_sketch.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/modulo.h"
#include "hash/hash.h"
#include "sketch/murmur_rows.h"
#include "sketch/sketch_bytes.h"
#include <inttypes.h>
#include <math.h>

struct seen_cms {
    seen_allocator alloc;
    uint64_t width, depth, total, seed;
    uint64_t inverse; /* of width, for the remainder */
    sn_rows_fn *rows; /* RedisBloom's hash */
    unsigned hash;
    uint32_t *cells; /* little-endian in memory, too: they are written unchanged */
};

static const char name[] = "seenCM1\n";
enum { W_WIDTH, W_DEPTH, W_TOTAL, W_SEED, W_HASH, WORDS };

static uint64_t cells_len(const seen_cms *c)
{
    return c->width * c->depth * 4;
}

/* ---- making ---------------------------------------------------------------------- */

static int solve(const seen_cms_spec *spec, uint64_t *width, uint64_t *depth)
{
    bool exact = spec->width || spec->depth, wanted = spec->error || spec->chance;
    if (exact == wanted)
        return sn_fail(SEEN_EINVAL, "give width and depth, or error and chance");
    if (exact) {
        if (!spec->width || !spec->depth)
            return sn_fail(SEEN_EINVAL, "%s is missing",
                           spec->width ? "depth" : "width");
        *width = spec->width;
        *depth = spec->depth;
        return SEEN_OK;
    }
    if (!(spec->error > 0 && spec->error < 1))
        return sn_fail(SEEN_EINVAL, "error %g is not between 0 and 1", spec->error);
    if (!(spec->chance > 0 && spec->chance < 1))
        return sn_fail(SEEN_EINVAL, "chance %g is not between 0 and 1", spec->chance);
    double w = ceil(M_E / spec->error);
    if (w >= 0x1p62)
        return sn_fail(SEEN_ETOOBIG, "an error of %g needs too many cells",
                       spec->error);
    *width = (uint64_t)w;
    *depth = (uint64_t)fmax(1, ceil(-log(spec->chance)));
    return SEEN_OK;
}

int seen_cms_new(const seen_cms_spec *spec, seen_cms **out)
{
    uint64_t width = 0, depth = 0, len;
    *out = NULL;
    if (!sn_all_zero(spec->reserved, sizeof spec->reserved) || spec->reserved0)
        return sn_fail(SEEN_EINVAL, "reserved fields of the specification are not 0");
    if (spec->hash > SEEN_CMS_REDISBLOOM)
        return sn_fail(SEEN_EINVAL, "hash %u is unknown", spec->hash);
    if (spec->hash == SEEN_CMS_REDISBLOOM && spec->seed)
        return sn_fail(SEEN_EINVAL, "RedisBloom's hash has no seed");
    int rc = sn_check_allocator(&spec->alloc);
    if (rc < 0 || (rc = solve(spec, &width, &depth)) < 0)
        return rc;
    if (__builtin_mul_overflow(width, depth, &len) || len > PTRDIFF_MAX / 4)
        return sn_fail(SEEN_ETOOBIG, "%" PRIu64 " x %" PRIu64 " cells are too many",
                       width, depth);
    seen_cms *c = sn_alloc(&spec->alloc, sizeof *c);
    if (!c)
        return sn_fail(SEEN_ENOMEM, "no memory for a sketch");
    *c = (seen_cms){.alloc = spec->alloc,
                    .width = width,
                    .depth = depth,
                    .seed = spec->seed,
                    .hash = spec->hash,
                    .rows = sn_rows_best(width),
                    .inverse = sn_inverse(width)};
    c->cells = sn_body_alloc(&c->alloc, len * 4);
    if (!c->cells) {
        sn_free(&spec->alloc, c, sizeof *c);
        return sn_fail(SEEN_ENOMEM, "no memory for %" PRIu64 " cells", len);
    }
    *out = c;
    return SEEN_OK;
}

void seen_cms_free(seen_cms *c)
{
    if (!c)
        return;
    seen_allocator a = c->alloc;
    sn_body_free(&a, c->cells, cells_len(c));
    sn_free(&a, c, sizeof *c);
}

int seen_cms_copy(const seen_cms *c, seen_cms **out)
{
    seen_cms_spec spec = {.width = c->width,
                          .depth = c->depth,
                          .seed = c->seed,
                          .hash = c->hash,
                          .alloc = c->alloc};
    int rc = seen_cms_new(&spec, out);
    if (rc < 0)
        return rc;
    (*out)->total = c->total;
    memcpy((*out)->cells, c->cells, cells_len(c));
    return SEEN_OK;
}

/* ---- counting -------------------------------------------------------------------- */

typedef struct walk {
    const void *key;
    size_t len;
    uint64_t row; /* the next one */
    uint64_t word;
} walk;

/* Cells of the next rows, at most SN_ROWS of them; 0 after the last row. */
static inline unsigned next_rows(const seen_cms *c, walk *w, uint32_t *cell[SN_ROWS])
{
    uint64_t left = c->depth - w->row, at[SN_ROWS];
    unsigned n = left < SN_ROWS ? (unsigned)left : SN_ROWS;
    uint32_t *row = c->cells + w->row * c->width;
    if (!n)
        return 0;
    if (c->hash == SEEN_CMS_REDISBLOOM) {
        c->rows(w->key, w->len, (uint32_t)w->row, c->width, c->inverse, at);
        for (unsigned i = 0; i < n; i++, row += c->width)
            cell[i] = row + at[i];
    } else {
        if (!w->row)
            w->word = sn_hash(c->seed, w->key, w->len);
        for (unsigned i = 0; i < n; i++, row += c->width) {
            cell[i] = row + sn_mulhi(w->word, c->width);
            w->word = sn_remix(w->word);
        }
    }
    w->row += n;
    return n;
}

uint32_t seen_cms_add(seen_cms *c, const void *key, size_t len, uint64_t n)
{
    uint32_t least = UINT32_MAX, *cell[SN_ROWS];
    walk w = {.key = key, .len = len};
    for (unsigned rows; (rows = next_rows(c, &w, cell));)
        for (unsigned i = 0; i < rows; i++) {
            uint32_t was = sn_swap32(*cell[i]);
            uint32_t now = n > UINT32_MAX - was ? UINT32_MAX : was + (uint32_t)n;
            *cell[i] = sn_swap32(now);
            if (now < least)
                least = now;
        }
    c->total += n;
    return least;
}

uint32_t seen_cms_count(const seen_cms *c, const void *key, size_t len)
{
    uint32_t least = UINT32_MAX, *cell[SN_ROWS];
    walk w = {.key = key, .len = len};
    for (unsigned rows; (rows = next_rows(c, &w, cell));)
        for (unsigned i = 0; i < rows; i++) {
            uint32_t now = sn_swap32(*cell[i]);
            if (now < least)
                least = now;
        }
    return least;
}

/* ---- sums ------------------------------------------------------------------------ */

/* Adds WEIGHT times VALUE to *SUM; false if that overflows 64 bits. */
static bool add_weighted(int64_t *sum, uint64_t value, int64_t weight)
{
    int64_t product;
    return value <= INT64_MAX &&
           !__builtin_mul_overflow((int64_t)value, weight, &product) &&
           !__builtin_add_overflow(*sum, product, sum);
}

int seen_cms_merge(seen_cms *dst, const seen_cms *const *src, const int64_t *weights,
                   size_t n)
{
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        if (src[i]->width != dst->width || src[i]->depth != dst->depth)
            return sn_fail(SEEN_EMISMATCH, "the sketches differ in width or depth");
        if (src[i]->hash != dst->hash || src[i]->seed != dst->seed)
            return sn_fail(SEEN_EMISMATCH, "the sketches differ in hash or seed");
        if (!add_weighted(&total, src[i]->total, weights ? weights[i] : 1))
            return sn_fail(SEEN_ERANGE, "the sum of the totals overflows 64 bits");
    }
    if (total < 0)
        return sn_fail(SEEN_ERANGE, "the sum of the totals is below 0");
    /* Every sum is checked before DST, which may also be a source, changes. */
    uint64_t cells = dst->width * dst->depth;
    for (int change = 0; change < 2; change++)
        for (uint64_t at = 0; at < cells; at++) {
            int64_t sum = 0;
            for (size_t i = 0; i < n; i++)
                if (!add_weighted(&sum, sn_swap32(src[i]->cells[at]),
                                  weights ? weights[i] : 1))
                    return sn_fail(SEEN_ERANGE, "a sum overflows 64 bits");
            if (sum < 0 || sum > UINT32_MAX)
                return sn_fail(SEEN_ERANGE, "a sum is outside 0 .. %u", UINT32_MAX);
            if (change)
                dst->cells[at] = sn_swap32((uint32_t)sum);
        }
    dst->total = (uint64_t)total;
    return SEEN_OK;
}

/* ---- fields and bytes ------------------------------------------------------------ */

void seen_cms_get_info(const seen_cms *c, seen_cms_info *out)
{
    *out = (seen_cms_info){.width = c->width,
                           .depth = c->depth,
                           .total = c->total,
                           .bytes = sizeof *c + cells_len(c),
                           .seed = c->seed,
                           .hash = c->hash};
}

const void *seen_cms_cells(const seen_cms *c, size_t *len)
{
    *len = cells_len(c);
    return c->cells;
}

int seen_cms_set_cells(seen_cms *c, uint64_t total, const void *cells, size_t len)
{
    if (len != cells_len(c))
        return sn_fail(SEEN_EINVAL, "%zu bytes for cells of %" PRIu64, len,
                       cells_len(c));
    memcpy(c->cells, cells, len);
    c->total = total;
    return SEEN_OK;
}

size_t seen_cms_write(const seen_cms *c, void *buf, size_t size)
{
    size_t len = sn_sketch_len(WORDS, cells_len(c));
    if (size < len)
        return len;
    const uint64_t words[WORDS] = {c->width, c->depth, c->total, c->seed, c->hash};
    memcpy(sn_sketch_begin(buf, len, name, words, WORDS), c->cells, cells_len(c));
    sn_sketch_end(buf, len);
    return len;
}

int seen_cms_read(const void *bytes, size_t len, uint64_t max_bytes,
                  const seen_allocator *a, seen_cms **out)
{
    uint64_t w[WORDS], cells;
    const uint8_t *body;
    size_t body_len;
    *out = NULL;
    int rc = sn_sketch_open(bytes, len, name, w, WORDS, &body, &body_len);
    if (rc < 0)
        return rc;
    /* The input contains the cells, so the allocation below is no larger than it. */
    if (!w[W_WIDTH] || !w[W_DEPTH] ||
        __builtin_mul_overflow(w[W_WIDTH], w[W_DEPTH], &cells) ||
        cells > SIZE_MAX / 4 || cells * 4 != body_len ||
        w[W_HASH] > SEEN_CMS_REDISBLOOM)
        return sn_fail(SEEN_EFORMAT, "%" PRIu64 " x %" PRIu64 " cells in %zu bytes",
                       w[W_WIDTH], w[W_DEPTH], body_len);
    if ((rc = sn_sketch_fits(sizeof **out + body_len, max_bytes)) < 0)
        return rc;
    seen_cms_spec spec = {.width = w[W_WIDTH],
                          .depth = w[W_DEPTH],
                          .seed = w[W_SEED],
                          .hash = (unsigned)w[W_HASH],
                          .alloc = sn_allocator(a)};
    rc = seen_cms_new(&spec, out);
    if (rc == SEEN_EINVAL) /* a seed for a hash that has none */
        return SEEN_EFORMAT;
    return rc < 0 ? rc : seen_cms_set_cells(*out, w[W_TOTAL], body, body_len);
}
