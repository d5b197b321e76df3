/* sst_filter.c - builds the bytes of a table's filter, and reads them. */
#include "sst_filter.h"
#include "../leveldb/table_filter.h"

#include <seen.h>
#include <stdlib.h>
#include <string.h>

enum { FORM_ALL, FORM_TABLE, FORM_RIBBON };
enum { MANY = 65536, RIBBON_AT = 64 };
#define KEY_SEED 0x5ee15a11db5eed01u

uint64_t sn_sst_hash(const void *key, size_t len)
{
    return seen_hash_seeded(KEY_SEED, key, len);
}

/* ---- building -------------------------------------------------------------------- */

typedef struct growing {
    uint8_t *at;
    size_t len, room;
} growing;

static int append(void *ctx, const void *p, size_t len)
{
    growing *g = ctx;
    if (len > g->room - g->len) {
        size_t room = g->room * 2 + len;
        uint8_t *more = realloc(g->at, room);
        if (!more)
            return SEEN_ENOMEM;
        g->at = more;
        g->room = room;
    }
    memcpy(g->at + g->len, p, len);
    g->len += len;
    return 0;
}

/* NULL if there is no memory, or if a ribbon does not fit these bits. */
static uint8_t *build_ribbon(const uint64_t *hashes, size_t n, double bits, size_t *len)
{
    seen_build_spec spec = {.memory = (uint64_t)((double)n * bits / 8),
                            .hash = SEEN_HASH_XXH3,
                            .seed = KEY_SEED,
                            .keys = n,
                            .threads = 1};
    seen_builder *b = NULL;
    seen_filter *f = NULL;
    growing out = {calloc(1, RIBBON_AT), RIBBON_AT, RIBBON_AT};
    int rc = out.at ? seen_builder_new(&spec, &b) : SEEN_ENOMEM;
    if (rc == 0)
        rc = seen_builder_add_hashes(b, hashes, n);
    if (rc == 0)
        rc = seen_builder_finish(b, &f);
    seen_builder_free(b);
    if (rc == 0)
        rc = seen_write(f, append, &out);
    seen_free(f);
    if (rc < 0) {
        free(out.at);
        return NULL;
    }
    out.at[0] = FORM_RIBBON;
    *len = out.len;
    return out.at;
}

static uint8_t *build_table(const uint64_t *hashes, size_t n, unsigned bits,
                            size_t *len)
{
    uint8_t *p = malloc(1 + sn_table_filter_size(n, bits));
    if (!p)
        return NULL;
    p[0] = FORM_TABLE;
    *len = 1 + sn_table_filter_build(hashes, n, bits, p + 1);
    return p;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* RocksDB adds keys in order, with their prefixes in between, so most repeats are
 * adjacent or nearly so. Sorting finds the others, so that N counts distinct keys. */
static size_t distinct(uint64_t *h, size_t n)
{
    size_t kept = 0;
    qsort(h, n, sizeof *h, compare);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || h[kept - 1] != h[i])
            h[kept++] = h[i];
    return kept;
}

uint8_t *sn_sst_filter_build(uint64_t *hashes, size_t n, double bits, size_t *len)
{
    uint8_t *p = NULL;
    n = distinct(hashes, n);
    if (n >= MANY)
        p = build_ribbon(hashes, n, bits, len);
    return p ? p : build_table(hashes, n, (unsigned)(bits + 0.5), len);
}

size_t sn_sst_filter_keys(size_t bytes, double bits)
{
    return (size_t)((double)bytes * 8 / bits);
}

/* ---- asking ---------------------------------------------------------------------- */

struct sst_reader {
    const uint8_t *table; /* NULL: a ribbon, or no filter */
    size_t table_len;
    seen_filter *ribbon; /* NULL as well: matches everything */
    uint8_t *copy;       /* of the ribbon's bytes, aligned */
};

static void open_ribbon(sst_reader *r, const uint8_t *p, size_t len)
{
    const uint8_t *at = p;
    if ((uintptr_t)p % 64 != 0) {
        r->copy = aligned_alloc(64, (len + 63) / 64 * 64);
        if (!r->copy)
            return;
        memcpy(r->copy, p, len);
        at = r->copy;
    }
    /* A filter with another seed needs other hashes: it is not ours. */
    if (seen_open_bytes(at, len, SEEN_VERIFY, NULL, &r->ribbon) == 0 &&
        (seen_kind_of(r->ribbon) != SEEN_RIBBON || seen_seed(r->ribbon) != KEY_SEED)) {
        seen_free(r->ribbon);
        r->ribbon = NULL;
    }
}

sst_reader *sn_sst_reader_open(const uint8_t *p, size_t len)
{
    sst_reader *r = calloc(1, sizeof *r);
    if (!r || len < 1)
        return r;
    if (p[0] == FORM_TABLE && sn_table_filter_sound(p + 1, len - 1)) {
        r->table = p + 1;
        r->table_len = len - 1;
    } else if (p[0] == FORM_RIBBON && len > RIBBON_AT) {
        open_ribbon(r, p + RIBBON_AT, len - RIBBON_AT);
    }
    return r;
}

void sn_sst_reader_close(sst_reader *r)
{
    if (!r)
        return;
    seen_free(r->ribbon);
    free(r->copy);
    free(r);
}

void sn_sst_reader_ask(const sst_reader *r, const uint64_t *hashes, size_t n,
                       bool *may_be)
{
    if (r && r->ribbon) {
        seen_has_hashes(r->ribbon, hashes, n, may_be);
        return;
    }
    for (size_t i = 0; i < n; i++)
        may_be[i] =
            !r || !r->table || sn_table_filter_ask(r->table, r->table_len, hashes[i]);
}
