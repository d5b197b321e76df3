/* leveldb_table.c - the filters inside LevelDB's table files (.ldb, .sst), read only.
 *
 * A table has one filter for every 2 KiB of file in which a data block starts. A lookup
 * works as in LevelDB: the index gives the data block that would hold the key, and the
 * offset of the block gives the filter. leveldb-block is a filter block extracted from
 * a table: without an index, all its filters are asked. */
#include "foreign/foreign.h"
#include "foreign/leveldb_filter.h"
#include "foreign/snappy.h"
#include "base/bytes.h"
#include <math.h>
#include <stdio.h>

#define FOOTER 48
#define MAGIC 0xdb4775248b80fb57u
#define NAME "filter.leveldb.BuiltinBloomFilter2"

typedef struct span {
    const uint8_t *p;
    uint64_t len;
} span;

typedef struct entry {
    span key; /* with the trailer of 8 bytes */
    uint64_t offset;
} entry;

typedef struct block_set {
    span filters; /* filters, one after another */
    const uint8_t *offsets;
    uint64_t n; /* filters */
    uint8_t base_lg;
    entry *index; /* NULL: a filter block alone */
    uint64_t entries, room;
    uint8_t *unpacked; /* the index, if it was compressed */
    uint64_t unpacked_len;
} block_set;

/* ---- the filter block ----------------------------------------------------------- */

static int block_read(block_set *b, span s)
{
    if (s.len < 5)
        return sn_fail(SEEN_EFORMAT, "a filter block of %llu bytes",
                       (unsigned long long)s.len);
    uint64_t array = sn_le32(s.p + s.len - 5);
    if (array > s.len - 5 || (s.len - 5 - array) % 4)
        return sn_fail(SEEN_EFORMAT,
                       "array_offset is %llu in a filter block of %llu bytes",
                       (unsigned long long)array, (unsigned long long)s.len);
    b->filters = (span){s.p, array};
    b->offsets = s.p + array;
    b->n = (s.len - 5 - array) / 4;
    b->base_lg = s.p[s.len - 1];
    if (b->base_lg > 63)
        return sn_fail(SEEN_EFORMAT, "base_lg is %u", b->base_lg);
    return SEEN_OK;
}

/* Filter I; the end of the last one is array_offset, which follows the offsets. */
static bool filter_at(const block_set *b, uint64_t i, span *out)
{
    uint64_t from = sn_le32(b->offsets + 4 * i), to = sn_le32(b->offsets + 4 * i + 4);
    if (from > to || to > b->filters.len)
        return false;
    *out = (span){b->filters.p + from, to - from};
    return true;
}

/* Invalid offsets count as a match, so that no key is lost. */
static bool filter_match(const block_set *b, uint64_t i, const seen_key *k)
{
    span s;
    return !filter_at(b, i, &s) || sn_leveldb_match(s.p, s.len, k->data, k->len);
}

/* ---- the table ------------------------------------------------------------------ */

static bool varint(const uint8_t **p, const uint8_t *end, uint64_t *x)
{
    *x = 0;
    for (int shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t b = *(*p)++;
        *x |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return true;
    }
    return false;
}

/* Reads a block handle: gives the bytes of its block without the trailer, which must
 * also lie inside the file. */
static int handle_read(const sn_foreign *f, const uint8_t **p, const uint8_t *end,
                       const char *what, span *out)
{
    uint64_t at, size;
    if (!varint(p, end, &at) || !varint(p, end, &size) || at > f->len ||
        f->len - at < 5 || size > f->len - at - 5)
        return sn_fail(SEEN_EFORMAT, "the %s lies outside the file", what);
    *out = (span){f->file + at, size};
    return SEEN_OK;
}

/* Unpacks a block if its type byte says that it is compressed; otherwise *OWNED is
 * NULL. */
static int block_load(const sn_foreign *f, span *s, const char *what, uint8_t **owned)
{
    uint8_t type = s->p[s->len];
    *owned = NULL;
    if (type == 0)
        return SEEN_OK;
    if (type != 1)
        return sn_fail(SEEN_EFORMAT, "the %s has compression %u", what, type);
    uint64_t len = sn_snappy_len(s->p, s->len);
    if (len == UINT64_MAX)
        return sn_fail(SEEN_EFORMAT, "the %s has a wrong length", what);
    uint8_t *out = sn_alloc(&f->alloc, len ? len : 1);
    if (!out)
        return sn_no_memory("no memory for the %s", what);
    int rc = sn_snappy_unpack(s->p, s->len, out, len);
    if (rc < 0) {
        sn_free(&f->alloc, out, len ? len : 1);
        return rc;
    }
    *owned = out;
    *s = (span){out, len};
    return SEEN_OK;
}

/* The next entry of a block; 1, 0 at the end, or an error. */
static int entry_next(const uint8_t **p, const uint8_t *end, uint64_t *shared,
                      span *suffix, span *value)
{
    uint64_t unshared, len;
    if (*p >= end)
        return 0;
    if (!varint(p, end, shared) || !varint(p, end, &unshared) ||
        !varint(p, end, &len) || unshared > (uint64_t)(end - *p) ||
        len > (uint64_t)(end - *p) - unshared)
        return sn_fail(SEEN_EFORMAT, "a block entry runs over its end");
    *suffix = (span){*p, unshared};
    *value = (span){*p + unshared, len};
    *p += unshared + len;
    return 1;
}

/* Cuts the restart array off a block. */
static int entries_of(span *s, const char *what)
{
    if (s->len < 4 || sn_le32(s->p + s->len - 4) > (s->len - 4) / 4)
        return sn_fail(SEEN_EFORMAT, "the %s has no restart array", what);
    s->len -= 4 + 4 * (uint64_t)sn_le32(s->p + s->len - 4);
    return SEEN_OK;
}

/* The filter block's handle in the metaindex. */
static int metaindex_find(const sn_foreign *f, span meta, span *filter)
{
    char key[64] = "";
    span suffix, value;
    uint64_t shared, have = 0;
    int rc = entries_of(&meta, "metaindex");
    if (rc < 0)
        return rc;
    const uint8_t *p = meta.p, *end = meta.p + meta.len;
    while ((rc = entry_next(&p, end, &shared, &suffix, &value)) == 1) {
        if (shared > have)
            return sn_fail(SEEN_EFORMAT,
                           "a metaindex key shares more bytes than the last key has");
        have = shared + suffix.len;
        /* Longer names are not ours: their first letters suffice to tell. */
        for (uint64_t i = shared; i < have && i < sizeof key; i++)
            key[i] = (char)suffix.p[i - shared];
        if (have == strlen(NAME) && !memcmp(key, NAME, have))
            return handle_read(f, &value.p, value.p + value.len, "filter block",
                               filter);
    }
    return rc < 0 ? rc : sn_fail(SEEN_EFORMAT, "the table has no %s", NAME);
}

static int index_read(const sn_foreign *f, block_set *b, span s)
{
    uint8_t *owned;
    int rc = block_load(f, &s, "index", &owned);
    if (rc < 0)
        return rc;
    b->unpacked = owned;
    b->unpacked_len = s.len ? s.len : 1;
    if (s.len < 4)
        return sn_fail(SEEN_EFORMAT, "an index of %llu bytes",
                       (unsigned long long)s.len);
    uint64_t most = sn_le32(s.p + s.len - 4);
    rc = entries_of(&s, "index");
    if (rc < 0)
        return rc;
    b->room = most + 1;
    b->index = sn_alloc(&f->alloc, b->room * sizeof *b->index);
    if (!b->index)
        return sn_no_memory("no memory for %llu index entries",
                            (unsigned long long)most);
    const uint8_t *p = s.p, *end = s.p + s.len;
    span value;
    uint64_t shared;
    entry e;
    while ((rc = entry_next(&p, end, &shared, &e.key, &value)) == 1) {
        const uint8_t *v = value.p;
        /* LevelDB's index restarts at every entry, so its keys are complete. */
        if (shared || b->entries >= most)
            return sn_fail(SEEN_EFORMAT, "the index is not LevelDB's: shared prefixes");
        if (!varint(&v, v + value.len, &e.offset))
            return sn_fail(SEEN_EFORMAT, "an index entry without an offset");
        b->index[b->entries++] = e;
    }
    return rc;
}

static int compare(span a, const void *key, size_t len)
{
    uint64_t n = a.len < len ? a.len : len;
    int c = n ? memcmp(a.p, key, n) : 0;
    return c ? c : a.len < len ? -1 : a.len > len;
}

/* The first data block whose last key is not below KEY; `entries` if there is none. */
static uint64_t index_seek(const block_set *b, const seen_key *k)
{
    uint64_t lo = 0, hi = b->entries;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;
        span user = b->index[mid].key;
        user.len -= user.len >= 8 ? 8 : 0;
        if (compare(user, k->data, k->len) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- the formats ---------------------------------------------------------------- */

static void close_set(sn_foreign *f)
{
    block_set *b = f->own;
    if (!b)
        return;
    sn_free(&f->alloc, b->index, b->room * sizeof *b->index);
    sn_free(&f->alloc, b->unpacked, b->unpacked_len);
    sn_free(&f->alloc, b, sizeof *b);
    f->own = NULL;
}

static int table_read(sn_foreign *f, block_set *b)
{
    span meta, index, filter;
    if (f->len < FOOTER || sn_le64(f->file + f->len - 8) != MAGIC)
        return sn_fail(SEEN_EFORMAT, "no table footer");
    const uint8_t *p = f->file + f->len - FOOTER, *end = p + 40;
    uint8_t *owned;
    int rc = handle_read(f, &p, end, "metaindex", &meta);
    if (rc == SEEN_OK)
        rc = handle_read(f, &p, end, "index", &index);
    if (rc == SEEN_OK)
        rc = block_load(f, &meta, "metaindex", &owned);
    if (rc < 0)
        return rc;
    rc = metaindex_find(f, meta, &filter);
    if (owned)
        sn_free(&f->alloc, owned, meta.len ? meta.len : 1);
    if (rc == SEEN_OK)
        rc = block_read(b, filter);
    return rc < 0 ? rc : index_read(f, b, index);
}

static void fill(sn_foreign *f, const block_set *b)
{
    span s;
    f->layers = 0;
    for (uint64_t i = 0; i < b->n; i++)
        f->layers += filter_at(b, i, &s) && s.len > 0;
}

static int open_as(sn_foreign *f, bool table)
{
    block_set *b = sn_alloc(&f->alloc, sizeof *b);
    if (!b)
        return sn_no_memory("no memory for a table");
    f->own = b;
    int rc = table ? table_read(f, b) : block_read(b, (span){f->file, f->len});
    if (rc < 0) {
        close_set(f);
        return rc;
    }
    fill(f, b);
    return SEEN_OK;
}

static int open_table(sn_foreign *f, const seen_params *params)
{
    return open_as(f, true);
}

static int open_block(sn_foreign *f, const seen_params *params)
{
    return open_as(f, false);
}

static bool recognises(const uint8_t *p, uint64_t len)
{
    return len >= FOOTER && sn_le64(p + len - 8) == MAGIC;
}

static void table_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    const block_set *b = f->own;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = index_seek(b, &keys[i]);
        if (at == b->entries) {
            found[i] = false; /* after the last key of the table */
            continue;
        }
        uint64_t filter = b->index[at].offset >> b->base_lg;
        found[i] = filter >= b->n || filter_match(b, filter, &keys[i]);
    }
}

static void block_has(const sn_foreign *f, const seen_key *keys, size_t n, bool *found)
{
    const block_set *b = f->own;
    for (size_t i = 0; i < n; i++) {
        found[i] = false;
        for (uint64_t j = 0; j < b->n && !found[i]; j++)
            found[i] = filter_match(b, j, &keys[i]);
    }
}

/* A lookup in a table asks one filter, so the error is the mean over the filters. A
 * lookup in a block alone asks all of them. */
static void stats(const sn_foreign *f, seen_stats *out)
{
    const block_set *b = f->own;
    double sum = 0, miss = 1;
    uint64_t used = 0;
    span s;
    out->bits = out->bits_set = out->bytes = 0;
    out->keys_estimate = 0;
    for (uint64_t i = 0; i < b->n; i++) {
        if (!filter_at(b, i, &s) || s.len < 2)
            continue;
        uint64_t set = sn_bits_set(s.p, s.len - 1), bits = (s.len - 1) * 8;
        uint32_t k = s.p[s.len - 1];
        double share = (double)set / (double)bits;
        double yes = k > 30 ? 1 : pow(share, k);
        sum += yes;
        miss *= 1 - yes;
        used++;
        out->bits += bits;
        out->bits_set += set;
        out->bytes += s.len;
        out->probes = k;
        if (k <= 30)
            out->keys_estimate += sn_keys_behind(share, (double)bits, k);
    }
    out->fill = out->bits ? (double)out->bits_set / (double)out->bits : 0;
    out->error_now = !used ? 0 : b->index ? sum / (double)used : 1 - miss;
}

static int describe(const sn_foreign *f, char *buf, size_t size)
{
    const block_set *b = f->own;
    return b->index ? snprintf(buf, size, ", %llu data blocks",
                               (unsigned long long)b->entries)
                    : 0;
}

const sn_format sn_fmt_leveldb_table = {
    .pub = {"leveldb-table", "LevelDB table file (.ldb), its filter block, read only",
            "", "", SEEN_FORMAT_KNOWN},
    .recognises = recognises,
    .open = open_table,
    .has = table_has,
    .stats = stats,
    .describe = describe,
    .close = close_set,
};

const sn_format sn_fmt_leveldb_block = {
    .pub = {"leveldb-block", "LevelDB filter block taken out of a table, read only", "",
            "", 0},
    .open = open_block,
    .has = block_has,
    .stats = stats,
    .describe = describe,
    .close = close_set,
};
