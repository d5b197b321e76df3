/* heavykeeper.c - seen_hk: RedisBloom's top-k, HeavyKeeper, byte for byte.
 *
 * One bucket in each of DEPTH rows holds the fingerprint and the count of one item. If
 * an item finds another fingerprint in its bucket, it decays that count (rarely, if the
 * count is large) and takes the bucket when the count reaches 0. The k items with the
 * largest counts are in a heap. It moves its entries in RedisBloom's order, because
 * LIST and expulsion make that order visible.
 *
 * RedisBloom uses the random numbers of the process, so a replica soon differs from its
 * master. Here the random numbers come from a counter that is part of the value and is
 * saved with it (in a field of the heap that RedisBloom writes as a stray pointer and
 * does not read): the same commands give the same bits everywhere. */
#include "foreign/redisbloom/redisbloom.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/modulo.h"
#include "hash/murmur2.h"
#include "sketch/entry_index.h"
#include "sketch/murmur_rows.h"
#include <inttypes.h>
#include <math.h>

enum { POWERS = 256, BUCKET = 8, HEAP_ENTRY = SEEN_HK_HEAP_ENTRY };
#define FINGERPRINT_SEED 1919

typedef struct entry {
    char *item; /* NULL: the slot is empty */
    uint32_t len, fp, count, place;
} entry;

struct seen_hk {
    seen_allocator alloc;
    uint32_t k, width, depth;
    double decay;
    uint64_t inverse; /* of width */
    sn_rows_fn *rows;
    uint64_t draws;   /* state of the generator */
    uint64_t item_bytes;
    uint8_t *buckets; /* fingerprint and count, four bytes each, as they are saved */
    entry *entries;
    uint32_t *heap; /* entries; the smallest count is on top */
    uint32_t *order; /* room for a sorted list, and half as much to sort it */
    sn_index index;
    seen_key expelled; /* the last expelled item, kept for the caller */
    double power[POWERS];
    uint64_t bound[POWERS]; /* a draw succeeds if it is below */
};

static uint64_t buckets_len(const seen_hk *h)
{
    return (uint64_t)h->width * h->depth * BUCKET;
}

static uint64_t order_len(const seen_hk *h)
{
    return ((uint64_t)h->k + h->k / 2 + 1) * sizeof *h->order;
}

/* ---- making ---------------------------------------------------------------------- */

static void free_key(seen_hk *h, const void *data, size_t len)
{
    sn_free(&h->alloc, (void *)data, len ? len : 1);
}

int seen_hk_new(uint32_t k, uint32_t width, uint32_t depth, double decay,
                const seen_allocator *a, seen_hk **out)
{
    *out = NULL;
    if (!k || !width || !depth)
        return sn_fail(SEEN_EINVAL, "%s is 0", !k ? "k" : !width ? "width" : "depth");
    if (!(decay > 0 && decay <= 1))
        return sn_fail(SEEN_EINVAL, "decay %g is not in (0, 1]", decay);
    if ((uint64_t)width * depth > PTRDIFF_MAX / BUCKET)
        return sn_fail(SEEN_ETOOBIG, "%u x %u buckets are too many", width, depth);
    seen_allocator alloc = a ? *a : (seen_allocator){0};
    seen_hk *h = sn_alloc(&alloc, sizeof *h);
    if (!h)
        return sn_fail(SEEN_ENOMEM, "no memory for a top-k list");
    h->alloc = alloc;
    h->k = k;
    h->width = width;
    h->depth = depth;
    h->decay = decay;
    h->inverse = sn_inverse(width);
    h->rows = sn_rows_best(width);
    h->buckets = sn_body_alloc(&alloc, buckets_len(h));
    h->entries = sn_body_alloc(&alloc, k * sizeof *h->entries);
    h->heap = sn_body_alloc(&alloc, k * sizeof *h->heap);
    h->order = sn_body_alloc(&alloc, order_len(h));
    if (!sn_index_new(&h->index, &alloc, k) || !h->buckets || !h->entries || !h->heap ||
        !h->order) {
        seen_hk_free(h);
        return sn_fail(SEEN_ENOMEM, "no memory for a top-k list");
    }
    for (uint32_t i = 0; i < k; i++)
        h->heap[i] = h->entries[i].place = i;
    for (int i = 0; i < POWERS; i++) {
        h->power[i] = pow(decay, i);
        h->bound[i] = (uint64_t)ceil(h->power[i] * 0x1p53);
    }
    *out = h;
    return SEEN_OK;
}

void seen_hk_free(seen_hk *h)
{
    if (!h)
        return;
    seen_allocator a = h->alloc;
    for (uint32_t i = 0; h->entries && i < h->k; i++)
        if (h->entries[i].item)
            free_key(h, h->entries[i].item, h->entries[i].len);
    if (h->expelled.data)
        free_key(h, h->expelled.data, h->expelled.len);
    sn_body_free(&a, h->buckets, buckets_len(h));
    sn_body_free(&a, h->entries, h->k * sizeof *h->entries);
    sn_body_free(&a, h->heap, h->k * sizeof *h->heap);
    sn_body_free(&a, h->order, order_len(h));
    if (h->index.slot)
        sn_index_free(&h->index, &a);
    sn_free(&a, h, sizeof *h);
}

static char *copy_item(seen_hk *h, const void *item, size_t len)
{
    char *p = sn_alloc(&h->alloc, len ? len : 1);
    if (p && len)
        memcpy(p, item, len);
    return p;
}

/* ---- the heap -------------------------------------------------------------------- */

static entry *at(const seen_hk *h, uint64_t place)
{
    return &h->entries[h->heap[place]];
}

static void put(seen_hk *h, uint64_t place, uint32_t e)
{
    h->heap[place] = e;
    h->entries[e].place = (uint32_t)place;
}

/* The smaller child of PLACE, the left one of two equal ones; 0 if there is none. */
static uint64_t smaller_child(const seen_hk *h, uint64_t place)
{
    uint64_t child = 2 * place + 1;
    if (child >= h->k)
        return 0;
    return child + 1 < h->k && at(h, child)->count > at(h, child + 1)->count ? child + 1
                                                                              : child;
}

/* As in RedisBloom, the first step moves below an equal count, later steps do not. */
static void sift_down(seen_hk *h, uint64_t place)
{
    uint32_t e = h->heap[place], count = h->entries[e].count;
    uint64_t child = smaller_child(h, place);
    if (child && at(h, child)->count <= count)
        do {
            put(h, place, h->heap[child]);
            place = child;
            child = smaller_child(h, place);
        } while (child && at(h, child)->count < count);
    put(h, place, e);
}

static entry *find(const seen_hk *h, uint32_t fp, const void *item, size_t len)
{
    uint64_t from = fp;
    for (int64_t e; (e = sn_index_next(&h->index, fp, &from)) >= 0;) {
        entry *x = &h->entries[e];
        if (x->len == len && !memcmp(x->item, item, len))
            return x;
    }
    return NULL;
}

/* ---- the buckets ----------------------------------------------------------------- */

typedef struct walk {
    const void *item;
    size_t len;
    uint32_t row;
} walk;

/* Buckets of the next rows, at most SN_ROWS; 0 after the last row. */
static inline unsigned next_rows(const seen_hk *h, walk *w, uint8_t *bucket[SN_ROWS])
{
    uint32_t left = h->depth - w->row;
    uint64_t place[SN_ROWS];
    unsigned n = left < SN_ROWS ? left : SN_ROWS;
    uint8_t *row = h->buckets + (uint64_t)w->row * h->width * BUCKET;
    if (!n)
        return 0;
    h->rows(w->item, w->len, w->row, h->width, h->inverse, place);
    for (unsigned i = 0; i < n; i++, row += (uint64_t)h->width * BUCKET)
        bucket[i] = row + place[i] * BUCKET;
    w->row += n;
    return n;
}

/* The probability that a count of C decays by one. */
static double chance(const seen_hk *h, uint32_t c)
{
    if (c < POWERS)
        return h->power[c];
    return pow(h->power[POWERS - 1], c / (POWERS - 1)) * h->power[c % (POWERS - 1)];
}

/* The next random number of 53 bits: SplitMix64. */
static uint64_t draw_bits(seen_hk *h)
{
    uint64_t x = h->draws += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (x ^ x >> 31) >> 11;
}

/* The same as a number in [0, 1). */
static double draw(seen_hk *h)
{
    return (double)draw_bits(h) * 0x1p-53;
}

/* Tries LEFT times to decay COUNT; returns how many tries remain when it reaches 0, or
 * 0 if it does not. If many failures in a row are likely, one draw skips them: their
 * number has the distribution that single draws would give. */
static uint32_t wear_down(seen_hk *h, uint32_t *count, uint32_t left)
{
    if (left == 1) { /* the usual case: almost always a single comparison */
        uint64_t x = draw_bits(h);
        return x < h->bound[*count < POWERS ? *count : POWERS - 1] &&
               (double)x * 0x1p-53 < chance(h, *count) && !--*count;
    }
    while (left) {
        double p = chance(h, *count);
        if (left > 8 && p < 0.5) {
            double failures = p > 0 ? floor(log(1 - draw(h)) / log1p(-p)) : INFINITY;
            if (!(failures < left))
                return 0;
            left -= (uint32_t)failures;
        } else if (!(draw(h) < p)) {
            left--;
            continue;
        }
        if (!--*count)
            return left;
        left--;
    }
    return 0;
}

/* Adds INC to the item in all rows; returns the largest count in a bucket it holds. */
static uint32_t count_item(seen_hk *h, uint32_t fp, const void *item, size_t len,
                           uint32_t inc)
{
    uint32_t best = 0;
    uint8_t *bucket[SN_ROWS];
    walk w = {item, len, 0};
    for (unsigned n; (n = next_rows(h, &w, bucket));)
        for (unsigned i = 0; i < n; i++) {
            uint32_t count = sn_le32(bucket[i] + 4), own = 0;
            if (!count)
                own = count = inc, sn_put32(bucket[i], fp);
            else if (sn_le32(bucket[i]) == fp)
                own = count += inc;
            else if ((own = wear_down(h, &count, inc)))
                count = own, sn_put32(bucket[i], fp);
            sn_put32(bucket[i] + 4, count);
            best = own > best ? own : best;
        }
    return best;
}

/* ---- commands -------------------------------------------------------------------- */

static uint32_t fingerprint(const void *item, size_t len)
{
    return sn_murmur2_32(item, len, FINGERPRINT_SEED);
}

int seen_hk_add(seen_hk *h, const void *item, size_t len, uint32_t inc,
                seen_key *expelled)
{
    *expelled = (seen_key){0};
    if (len > UINT32_MAX)
        return sn_fail(SEEN_EINVAL, "an item of %zu bytes is too long", len);
    uint32_t fp = fingerprint(item, len);
    uint32_t best = count_item(h, fp, item, len, inc);
    if (best < at(h, 0)->count)
        return SEEN_OK;
    entry *x = find(h, fp, item, len);
    if (x) {
        x->count = best;
        sift_down(h, x->place);
        return SEEN_OK;
    }
    char *copy = copy_item(h, item, len);
    if (!copy)
        return sn_fail(SEEN_ENOMEM, "no memory for an item of %zu bytes", len);
    uint32_t e = h->heap[0];
    x = &h->entries[e];
    if (x->item) {
        sn_index_remove(&h->index, x->fp, e);
        if (h->expelled.data) {
            h->item_bytes -= h->expelled.len;
            free_key(h, h->expelled.data, h->expelled.len);
        }
        *expelled = h->expelled = (seen_key){x->item, x->len};
    }
    *x = (entry){copy, (uint32_t)len, fp, best, x->place};
    h->item_bytes += len;
    sn_index_add(&h->index, fp, e);
    sift_down(h, 0);
    return SEEN_OK;
}

bool seen_hk_has(const seen_hk *h, const void *item, size_t len)
{
    return find(h, fingerprint(item, len), item, len) != NULL;
}

uint32_t seen_hk_count(const seen_hk *h, const void *item, size_t len)
{
    uint32_t fp = fingerprint(item, len), best = 0;
    uint32_t least = find(h, fp, item, len) ? at(h, 0)->count : 0;
    uint8_t *bucket[SN_ROWS];
    walk w = {item, len, 0};
    for (unsigned n; (n = next_rows(h, &w, bucket));)
        for (unsigned i = 0; i < n; i++) {
            uint32_t count = sn_le32(bucket[i] + 4);
            if (sn_le32(bucket[i]) == fp && count >= least && count > best)
                best = count;
        }
    return best;
}

/* Merge sort of places by descending count; equal counts stay in heap order. */
static void sort_places(const seen_hk *h, uint32_t *v, uint32_t *room, uint64_t n)
{
    if (n < 2)
        return;
    uint64_t half = n / 2, i = 0, j = half, to = 0;
    sort_places(h, v, room, half);
    sort_places(h, v + half, room, n - half);
    memcpy(room, v, half * sizeof *v);
    while (i < half && j < n)
        v[to++] = at(h, v[j])->count > at(h, room[i])->count ? v[j++] : room[i++];
    memcpy(v + to, room + i, (half - i) * sizeof *v);
}

uint32_t seen_hk_list(seen_hk *h, const uint32_t **places)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->k; i++)
        h->order[i] = i;
    sort_places(h, h->order, h->order + h->k, h->k);
    while (n < h->k && at(h, h->order[n])->count)
        n++;
    *places = h->order;
    return n;
}

bool seen_hk_item(const seen_hk *h, uint32_t place, seen_key *item, uint32_t *count)
{
    const entry *x = at(h, place);
    *item = (seen_key){x->item, x->len};
    *count = x->count;
    return x->item != NULL;
}

/* ---- fields and bytes ------------------------------------------------------------ */

void seen_hk_get_info(const seen_hk *h, seen_hk_info *out)
{
    *out = (seen_hk_info){
        .k = h->k,
        .width = h->width,
        .depth = h->depth,
        .decay = h->decay,
        .bytes = sizeof *h + buckets_len(h) + sn_index_bytes(&h->index) +
                 h->item_bytes + order_len(h) +
                 (uint64_t)h->k * (sizeof *h->entries + sizeof *h->heap),
    };
}

const void *seen_hk_buckets(const seen_hk *h, size_t *len)
{
    *len = buckets_len(h);
    return h->buckets;
}

void seen_hk_write_heap(const seen_hk *h, uint8_t *buf)
{
    for (uint32_t i = 0; i < h->k; i++, buf += HEAP_ENTRY) {
        const entry *x = at(h, i);
        memset(buf, 0, HEAP_ENTRY);
        sn_put32(buf, x->fp);
        sn_put32(buf + 4, x->len);
        sn_put64(buf + 8, i ? 0 : h->draws);
        sn_put32(buf + 16, x->count);
    }
}

int seen_hk_set(seen_hk *h, const void *buckets, size_t buckets_bytes, const void *heap,
                size_t heap_bytes)
{
    if (buckets_bytes != buckets_len(h) || heap_bytes != (uint64_t)h->k * HEAP_ENTRY)
        return sn_fail(SEEN_EFORMAT, "buckets or heap have the wrong length");
    memcpy(h->buckets, buckets, buckets_bytes);
    const uint8_t *p = heap;
    h->draws = sn_le64(p + 8);
    for (uint32_t i = 0; i < h->k; i++, p += HEAP_ENTRY) {
        entry *x = at(h, i);
        x->fp = sn_le32(p);
        x->count = sn_le32(p + 16);
    }
    return SEEN_OK;
}

int seen_hk_set_item(seen_hk *h, uint32_t place, const void *item, size_t len)
{
    entry *x = at(h, place);
    /* The empty item is saved like an empty slot; its fingerprint tells them apart. */
    if (!len && x->fp != fingerprint("", 0))
        return SEEN_OK;
    if (len > UINT32_MAX || x->item)
        return sn_fail(SEEN_EFORMAT, "an item of the heap is too long or set twice");
    char *copy = copy_item(h, item, len);
    if (!copy)
        return sn_fail(SEEN_ENOMEM, "no memory for an item of %zu bytes", len);
    x->item = copy;
    x->len = (uint32_t)len;
    h->item_bytes += len;
    sn_index_add(&h->index, x->fp, h->heap[place]);
    return SEEN_OK;
}

int seen_hk_copy(const seen_hk *h, seen_hk **out)
{
    int rc = seen_hk_new(h->k, h->width, h->depth, h->decay, &h->alloc, out);
    if (rc < 0)
        return rc;
    seen_hk *c = *out;
    memcpy(c->buckets, h->buckets, buckets_len(h));
    c->draws = h->draws;
    for (uint32_t i = 0; rc == SEEN_OK && i < h->k; i++) {
        const entry *from = at(h, i);
        entry *to = at(c, i);
        to->fp = from->fp;
        to->count = from->count;
        if (from->item)
            rc = seen_hk_set_item(c, i, from->item, from->len);
    }
    if (rc < 0) {
        seen_hk_free(c);
        *out = NULL;
    }
    return rc;
}
