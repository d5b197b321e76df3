/* top.c - filtered Space-Saving: which keys occur most often?
 *
 * Space-Saving keeps n keys with counts; a new key replaces the one with the smallest
 * count and inherits that count as its possible error. Here a key must first earn its
 * place in a cell, which counts the keys that hash to it and are not kept (Homem and
 * Carvalho, Finding top-k elements in data streams, 2010).
 *
 * Two invariants give the bounds. (1) No cell exceeds the smallest count kept. (2) A
 * cell is at least the true count of every key in it that is not kept. So a key that is
 * not kept occurred at most `least` times. A key that enters with cell + n is counted
 * too high by at most the cell. And because every step adds at most n to the sum of all
 * counts, the smallest is at most total / counters. */
#include "base/fail.h"
#include "seen_sketch.h"
#include "base/memory.h"
#include "hash/hash.h"
#include "sketch/entry_index.h"
#include "sketch/sketch_bytes.h"
#include <inttypes.h>

typedef struct entry {
    uint8_t *item;
    uint32_t len, room;
    uint32_t place; /* in the heap */
    uint32_t reserved;
    uint64_t hash, count, error;
} entry;

struct seen_top {
    seen_allocator alloc;
    uint64_t seed, total, item_bytes;
    uint32_t counters, n; /* entries 0 .. n-1 are in use */
    uint64_t cells;       /* a power of two */
    entry *entries;
    uint32_t *heap; /* entries, the smallest count on top */
    uint64_t *cell;
    sn_index index;
};

static const char name[] = "seenTK1\n";
enum { W_COUNTERS, W_SEED, W_TOTAL, W_ENTRIES, WORDS };
enum { USUAL = 1024, CELLS_PER_COUNTER = 8, ENTRY_BYTES = 24 };
#define MOST ((uint32_t)1 << 26)

static uint64_t cells_for(uint32_t counters)
{
    uint64_t cells = 16;
    while (cells < (uint64_t)counters * CELLS_PER_COUNTER)
        cells *= 2;
    return cells;
}

static uint64_t *cell_of(const seen_top *t, uint64_t hash)
{
    return &t->cell[hash >> 32 & (t->cells - 1)];
}

/* ---- making ---------------------------------------------------------------------- */

static uint64_t fixed_bytes(uint32_t counters)
{
    return sizeof(seen_top) + counters * (sizeof(entry) + 4 + 32) +
           cells_for(counters) * 8;
}

int seen_top_new(const seen_top_spec *spec, seen_top **out)
{
    *out = NULL;
    if (!sn_all_zero(spec->reserved, sizeof spec->reserved) || spec->reserved0)
        return sn_fail(SEEN_EINVAL, "reserved fields of the specification are not 0");
    int rc = sn_check_allocator(&spec->alloc);
    if (rc < 0)
        return rc;
    uint32_t counters = spec->counters ? spec->counters : USUAL;
    if (counters > MOST)
        return sn_fail(SEEN_EINVAL, "%u counters, at most %u", counters, MOST);
    seen_top *t = sn_alloc(&spec->alloc, sizeof *t);
    if (!t)
        return sn_fail(SEEN_ENOMEM, "no memory for a sketch");
    *t = (seen_top){.alloc = spec->alloc,
                    .seed = spec->seed,
                    .counters = counters,
                    .cells = cells_for(counters)};
    t->entries = sn_body_alloc(&t->alloc, counters * sizeof *t->entries);
    t->heap = sn_body_alloc(&t->alloc, counters * sizeof *t->heap);
    t->cell = sn_body_alloc(&t->alloc, t->cells * sizeof *t->cell);
    if (!sn_index_new(&t->index, &t->alloc, counters) || !t->entries || !t->heap ||
        !t->cell) {
        seen_top_free(t);
        return sn_fail(SEEN_ENOMEM, "no memory for %u counters", counters);
    }
    *out = t;
    return SEEN_OK;
}

void seen_top_free(seen_top *t)
{
    if (!t)
        return;
    seen_allocator a = t->alloc;
    for (uint32_t i = 0; i < t->n; i++)
        sn_free(&a, t->entries[i].item, t->entries[i].room);
    sn_body_free(&a, t->entries, t->counters * sizeof *t->entries);
    sn_body_free(&a, t->heap, t->counters * sizeof *t->heap);
    sn_body_free(&a, t->cell, t->cells * sizeof *t->cell);
    sn_index_free(&t->index, &a);
    sn_free(&a, t, sizeof *t);
}

/* ---- the heap -------------------------------------------------------------------- */

static void put(seen_top *t, uint32_t place, uint32_t e)
{
    t->heap[place] = e;
    t->entries[e].place = place;
}

static uint64_t count_at(const seen_top *t, uint32_t place)
{
    return t->entries[t->heap[place]].count;
}

/* Restores the heap after the count of the entry at PLACE grew. */
static void sift_down(seen_top *t, uint32_t place)
{
    uint32_t e = t->heap[place];
    uint64_t count = t->entries[e].count;
    for (;;) {
        uint64_t child = 2 * (uint64_t)place + 1;
        if (child >= t->n)
            break;
        if (child + 1 < t->n &&
            count_at(t, (uint32_t)child + 1) < count_at(t, (uint32_t)child))
            child++;
        if (count_at(t, (uint32_t)child) >= count)
            break;
        put(t, place, t->heap[child]);
        place = (uint32_t)child;
    }
    put(t, place, e);
}

static void sift_up(seen_top *t, uint32_t place)
{
    uint32_t e = t->heap[place];
    for (; place && count_at(t, (place - 1) / 2) > t->entries[e].count;
         place = (place - 1) / 2)
        put(t, place, t->heap[(place - 1) / 2]);
    put(t, place, e);
}

uint64_t seen_top_floor(const seen_top *t)
{
    return t->n < t->counters ? 0 : count_at(t, 0);
}

/* ---- counting -------------------------------------------------------------------- */

static entry *find(const seen_top *t, uint64_t hash, const void *key, size_t len)
{
    uint64_t at = (uint32_t)hash;
    for (int64_t e; (e = sn_index_next(&t->index, (uint32_t)hash, &at)) >= 0;) {
        entry *x = &t->entries[e];
        if (x->hash == hash && x->len == len && !memcmp(x->item, key, len))
            return x;
    }
    return NULL;
}

/* Copies KEY into X. Frees a buffer that is much too large, so that long keys do not
 * leave large buffers in every entry. */
static bool keep_item(seen_top *t, entry *x, const void *key, size_t len)
{
    if (len > x->room || x->room > 4 * len + 64 || !x->item) {
        uint32_t room = (uint32_t)len ? (uint32_t)len : 1;
        uint8_t *p = sn_alloc(&t->alloc, room);
        if (!p)
            return false;
        sn_free(&t->alloc, x->item, x->room);
        t->item_bytes += (uint64_t)room - x->room;
        x->item = p;
        x->room = room;
    }
    if (len)
        memcpy(x->item, key, len);
    x->len = (uint32_t)len;
    return true;
}

static int add(seen_top *t, const void *key, size_t len, uint64_t hash, uint64_t n)
{
    if (n > ((uint64_t)1 << 63) - t->total)
        return sn_fail(SEEN_ERANGE, "the counts add up to more than 2^63");
    entry *x = find(t, hash, key, len);
    if (x) {
        x->count += n;
        sift_down(t, x->place);
        t->total += n;
        return SEEN_OK;
    }
    uint64_t *cell = cell_of(t, hash);
    bool full = t->n == t->counters;
    if (full && *cell + n <= count_at(t, 0)) {
        *cell += n;
        t->total += n;
        return SEEN_OK;
    }
    if (len > UINT32_MAX)
        return sn_fail(SEEN_EINVAL, "a key of %zu bytes is too long", len);
    uint32_t e = full ? t->heap[0] : t->n;
    x = &t->entries[e];
    uint64_t old_hash = x->hash, old_count = x->count;
    if (!keep_item(t, x, key, len))
        return sn_fail(SEEN_ENOMEM, "no memory for a key of %zu bytes", len);
    uint64_t before = *cell;
    if (full) { /* the evicted key is counted in its cell from now on */
        sn_index_remove(&t->index, (uint32_t)old_hash, e);
        uint64_t *left = cell_of(t, old_hash);
        if (*left < old_count)
            *left = old_count;
    } else {
        put(t, t->n++, e);
    }
    sn_index_add(&t->index, (uint32_t)hash, e);
    x->hash = hash;
    x->count = before + n;
    x->error = before;
    if (full)
        sift_down(t, 0);
    else
        sift_up(t, t->n - 1);
    t->total += n;
    return SEEN_OK;
}

int seen_top_add(seen_top *t, const void *key, size_t len, uint64_t n)
{
    return add(t, key, len, sn_hash(t->seed, key, len), n);
}

int seen_top_add_hash(seen_top *t, const void *key, size_t len, uint64_t hash)
{
    return add(t, key, len, hash, 1);
}

uint64_t seen_top_count(const seen_top *t, const void *key, size_t len, uint64_t *error)
{
    uint64_t hash = sn_hash(t->seed, key, len);
    const entry *x = find(t, hash, key, len);
    *error = x ? x->error : *cell_of(t, hash);
    return x ? x->count : *cell_of(t, hash);
}

/* ---- listing --------------------------------------------------------------------- */

static bool before(const seen_top *t, uint32_t a, uint32_t b)
{
    const entry *x = &t->entries[a], *y = &t->entries[b];
    if (x->count != y->count)
        return x->count > y->count;
    int order = memcmp(x->item, y->item, x->len < y->len ? x->len : y->len);
    return order ? order < 0 : x->len < y->len;
}

/* Sorts the heap array itself: in ascending order of counts it is still a heap, and the
 * list is read from its end. Heap sort, because it needs no memory. */
static void sort_heap(seen_top *t)
{
    uint32_t *h = t->heap;
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t k = t->n; k-- > (part ? 1 : 0);) {
            uint32_t end = part ? k : t->n, root = part ? 0 : k;
            uint32_t x = h[root];
            if (part) {
                x = h[k];
                h[k] = h[0];
            }
            for (uint64_t child; (child = 2 * (uint64_t)root + 1) < end;
                 root = (uint32_t)child) {
                if (child + 1 < end && before(t, h[child], h[child + 1]))
                    child++;
                if (!before(t, x, h[child]))
                    break;
                h[root] = h[child];
            }
            h[root] = x;
        }
    for (uint32_t i = 0; i < t->n; i++)
        t->entries[h[i]].place = i;
}

size_t seen_top_list(seen_top *t, seen_top_item *out, size_t n)
{
    sort_heap(t); /* largest first */
    n = n < t->n ? n : t->n;
    for (size_t i = 0; i < n; i++) {
        const entry *x = &t->entries[t->heap[i]];
        out[i] = (seen_top_item){x->item, x->len, x->count, x->error};
    }
    for (uint32_t i = 0, j = t->n; i + 1 < j; i++) { /* smallest first: a heap again */
        uint32_t e = t->heap[--j];
        put(t, j, t->heap[i]);
        put(t, i, e);
    }
    return n;
}

uint64_t seen_top_total(const seen_top *t)
{
    return t->total;
}

uint64_t seen_top_bytes(const seen_top *t)
{
    return sizeof *t + t->counters * (sizeof *t->entries + sizeof *t->heap) +
           t->cells * sizeof *t->cell + sn_index_bytes(&t->index) + t->item_bytes;
}

/* ---- bytes ----------------------------------------------------------------------- */

/* Writes the cells; then, in heap order, for each entry its count, error and length,
 * eight bytes each, and the bytes of its key. */
size_t seen_top_write(const seen_top *t, void *buf, size_t size)
{
    size_t body = t->cells * 8;
    for (uint32_t i = 0; i < t->n; i++)
        body += ENTRY_BYTES + t->entries[i].len;
    size_t len = sn_sketch_len(WORDS, body);
    if (size < len)
        return len;
    const uint64_t words[WORDS] = {t->counters, t->seed, t->total, t->n};
    uint8_t *p = sn_sketch_begin(buf, len, name, words, WORDS);
    for (uint64_t i = 0; i < t->cells; i++, p += 8)
        sn_put64(p, t->cell[i]);
    for (uint32_t i = 0; i < t->n; i++) {
        const entry *x = &t->entries[t->heap[i]];
        sn_put64(p, x->count);
        sn_put64(p + 8, x->error);
        sn_put64(p + 16, x->len);
        memcpy(p + ENTRY_BYTES, x->item, x->len);
        p += ENTRY_BYTES + x->len;
    }
    sn_sketch_end(buf, len);
    return len;
}

/* Reads the next entry of a body; false if it is invalid or there is no memory. */
static bool read_entry(seen_top *t, const uint8_t **p, size_t *left, uint64_t *sum)
{
    if (*left < ENTRY_BYTES)
        return false;
    uint64_t count = sn_le64(*p), error = sn_le64(*p + 8), len = sn_le64(*p + 16);
    *left -= ENTRY_BYTES;
    *p += ENTRY_BYTES;
    if (len > *left || len > UINT32_MAX || error > count || count > t->total - *sum)
        return false;
    uint64_t hash = sn_hash(t->seed, *p, len);
    if (find(t, hash, *p, len))
        return false;
    entry *x = &t->entries[t->n];
    if (!keep_item(t, x, *p, len))
        return false;
    x->hash = hash;
    x->count = count;
    x->error = error;
    sn_index_add(&t->index, (uint32_t)hash, t->n);
    put(t, t->n, t->n);
    uint32_t place = t->n++;
    if (place && count_at(t, (place - 1) / 2) > count)
        return false;
    *sum += count;
    *p += len;
    *left -= len;
    return true;
}

int seen_top_read(const void *bytes, size_t len, uint64_t max_bytes,
                  const seen_allocator *a, seen_top **out)
{
    uint64_t w[WORDS], sum = 0;
    const uint8_t *p;
    size_t left;
    seen_top *t;
    *out = NULL;
    int rc = sn_sketch_open(bytes, len, name, w, WORDS, &p, &left);
    if (rc < 0)
        return rc;
    /* The input contains the cells, and there are more cells than counters: a short
     * input cannot take much memory. */
    if (!w[W_COUNTERS] || w[W_COUNTERS] > MOST || w[W_ENTRIES] > w[W_COUNTERS] ||
        w[W_TOTAL] > (uint64_t)1 << 63 ||
        left / 8 < cells_for((uint32_t)w[W_COUNTERS]))
        return sn_fail(SEEN_EFORMAT, "%" PRIu64 " counters in %zu bytes", w[W_COUNTERS],
                       left);
    rc = sn_sketch_fits(fixed_bytes((uint32_t)w[W_COUNTERS]) + left, max_bytes);
    if (rc < 0)
        return rc;
    seen_top_spec spec = {.counters = (uint32_t)w[W_COUNTERS],
                          .seed = w[W_SEED],
                          .alloc = sn_allocator(a)};
    if ((rc = seen_top_new(&spec, &t)) < 0)
        return rc;
    t->total = w[W_TOTAL];
    const uint8_t *cells = p;
    p += t->cells * 8;
    left -= t->cells * 8;
    bool good = true;
    for (uint64_t i = 0; good && i < w[W_ENTRIES]; i++)
        good = read_entry(t, &p, &left, &sum);
    for (uint64_t i = 0; good && i < t->cells; i++, cells += 8) {
        t->cell[i] = sn_le64(cells);
        good = t->cell[i] <= seen_top_floor(t);
    }
    if (!good || left) {
        seen_top_free(t);
        return sn_fail(SEEN_EFORMAT, "the entries of the sketch contradict each other");
    }
    *out = t;
    return SEEN_OK;
}
