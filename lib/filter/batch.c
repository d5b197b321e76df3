/* batch.c - asking and adding: hash once, fetch memory ahead, then test and set.
 *
 * Keys pass in groups of 16. While a group is tested, the lines of the next three
 * groups are on their way from memory: a rolling window that keeps the memory busy,
 * where a window that is filled and emptied would let it wait. Equal keys may share
 * a batch, so groups and the keys in them are tested and set strictly in order;
 * prefetching early is safe, it moves no bits. */
#include "filter/filter.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "hash/hash.h"
#include "hash/oldhash.h"
#include <string.h>

#define GROUP 16
#define WINDOW 64

static inline uint64_t key_hash(const seen_filter *f, const void *key, size_t len)
{
    return f->xxh64 ? sn_xxh64(key, len, f->seed) : sn_hash(f->seed, key, len);
}

static inline uint64_t added_now(const sn_layer *l)
{
    return __atomic_load_n(&l->added, __ATOMIC_RELAXED);
}

/* Keys that the newest layer may still take. */
static inline uint64_t room(const sn_layer *l)
{
    uint64_t have = added_now(l), cap = l->shape.capacity;
    return !cap ? UINT64_MAX : cap > have ? cap - have : 0;
}

static inline void touch(const seen_filter *f, const uint64_t *h, size_t n)
{
    for (uint32_t i = 0; i < f->layers; i++)
        if (f->layer[i].twin->touch)
            f->layer[i].twin->touch(f->layer + i, h, n);
}

/* ---- a group through all layers ------------------------------------------------ */

/* Asks layers [0, upto) for the N <= GROUP hashes, newest first; later layers are
 * asked only for what was not found yet. */
static void ask_layers(const seen_filter *f, uint32_t upto, const uint64_t *h, size_t n,
                       bool *found)
{
    uint64_t rest[GROUP];
    uint8_t at[GROUP];
    bool hit[GROUP];
    size_t left = n;
    for (size_t i = 0; i < n; i++) {
        rest[i] = h[i];
        at[i] = (uint8_t)i;
        found[i] = false;
    }
    for (uint32_t j = upto; j-- > 0 && left;) {
        const sn_layer *l = f->layer + j;
        l->twin->has(l, rest, left, hit);
        size_t keep = 0;
        for (size_t i = 0; i < left; i++) {
            found[at[i]] = hit[i];
            rest[keep] = rest[i];
            at[keep] = at[i];
            keep += !hit[i];
        }
        left = keep;
    }
}

static inline void ask(const seen_filter *f, const uint64_t *h, size_t n, bool *found)
{
    if (f->layers == 1)
        f->layer->twin->has(f->layer, h, n, found);
    else
        ask_layers(f, f->layers, h, n, found);
}

/* Adds in order; grows when the newest layer is full. Returns how many were taken. */
static size_t add_growing(seen_filter *f, const uint64_t *h, size_t n, bool *dup)
{
    size_t done = 0;
    bool multiset = f->layer->kind->multiset;
    while (done < n) {
        uint64_t fresh[GROUP];
        uint8_t at[GROUP];
        bool hit[GROUP];
        size_t m = 0;
        ask_layers(f, f->layers - 1, h + done, n - done, dup + done);
        for (size_t i = done; i < n; i++)
            if (!dup[i] || multiset) {
                fresh[m] = h[i];
                at[m++] = (uint8_t)i;
            }
        sn_layer *l = sn_newest(f);
        uint64_t space = room(l);
        size_t offer = m < space ? m : (size_t)space;
        size_t taken = offer ? l->twin->add(l, fresh, offer, hit) : 0;
        for (size_t i = 0; i < taken; i++)
            dup[at[i]] |= hit[i];
        if (taken == m)
            return n;
        done = at[taken];
        /* A key that is already in needs no room: a full filter still says so. */
        if (taken < offer || room(l) == 0) {
            if (f->flags & SEEN_FIXED && !multiset) {
                l->twin->has(l, h + done, 1, hit);
                if (hit[0]) {
                    dup[done++] = true;
                    continue;
                }
            }
            if (sn_grow(f) < 0)
                return done;
        }
    }
    return done;
}

static inline size_t add_group(seen_filter *f, const uint64_t *h, size_t n, bool *dup)
{
    sn_layer *l = f->layer;
    if (f->layers == 1 && room(l) >= n) {
        size_t taken = l->twin->add(l, h, n, dup);
        if (taken == n)
            return n;
        return taken + add_growing(f, h + taken, n - taken, dup + taken);
    }
    return add_growing(f, h, n, dup);
}

/* ---- the rolling window ---------------------------------------------------------- */

/* Runs N keys (or, without KEYS, hashes) through the filter; OUT may be NULL when
 * adding. Returns how many were done. */
static inline __attribute__((always_inline)) size_t
roll(const seen_filter *f, seen_filter *into, const seen_key *keys, const uint64_t *hashes,
     size_t n, bool *out)
{
    uint64_t ring[WINDOW];
    bool ignored[GROUP];
    size_t ahead = 0, behind = 0, window = f->touch ? WINDOW : GROUP;
    while (behind < n) {
        while (ahead < n && ahead - behind < window) {
            size_t m = n - ahead < GROUP ? n - ahead : GROUP;
            uint64_t *slot = ring + ahead % WINDOW;
            if (keys)
                for (size_t i = 0; i < m; i++)
                    slot[i] = key_hash(f, keys[ahead + i].data, keys[ahead + i].len);
            if (f->touch)
                touch(f, keys ? slot : hashes + ahead, m);
            ahead += m;
        }
        size_t m = n - behind < GROUP ? n - behind : GROUP;
        const uint64_t *h = keys ? ring + behind % WINDOW : hashes + behind;
        if (into) {
            size_t taken = add_group(into, h, m, out ? out + behind : ignored);
            if (taken < m)
                return behind + taken;
        } else {
            ask(f, h, m, out + behind);
        }
        behind += m;
    }
    return n;
}

/* ---- large adds in the order of memory ---------------------------------------------- */

#define BULK_BYTES ((uint64_t)8 << 20)
#define REGION_BYTES ((uint64_t)256 << 10)
#define MAX_REGIONS 2048

/* Equal prefixes of the hash lie in equal regions of the body, so hashes sorted
 * roughly by prefix touch one region, which fits the cache, after another: twice as
 * fast as the memory's random-access limit. SCRATCH takes CHUNK hashes. */
static void add_by_region(sn_layer *l, const uint64_t *h, size_t n, uint64_t *scratch)
{
    static const size_t STEP = 256;
    uint32_t shift = 64, regions = 1;
    while (regions < MAX_REGIONS && l->len / regions > REGION_BYTES) {
        regions *= 2;
        shift--;
    }
    size_t at[MAX_REGIONS + 1] = { 0 };
    for (size_t i = 0; i < n; i++)
        at[(h[i] >> shift) + 1]++;
    for (uint32_t r = 0; r < regions; r++)
        at[r + 1] += at[r];
    for (size_t i = 0; i < n; i++)
        scratch[at[h[i] >> shift]++] = h[i];
    bool ignored[256];
    for (size_t i = 0; i < n; i += STEP) {
        size_t m = n - i < STEP ? n - i : STEP, next = i + STEP;
        if (next < n)
            l->twin->touch(l, scratch + next, n - next < STEP ? n - next : STEP);
        l->twin->add(l, scratch + i, m, ignored);
    }
}

/* Adds all N or returns 0 if this is not the way to add them. */
static size_t add_bulk(seen_filter *f, const seen_key *keys, const uint64_t *hashes, size_t n)
{
    sn_layer *l = f->layer;
    if (f->layers != 1 || !l->kind->ordered || f->flags & SEEN_ATOMIC ||
        l->len < BULK_BYTES || room(l) < n || n < l->len / 64)
        return 0;
    /* As much scratch as the filter itself: several keys a line and chunk. */
    size_t chunk = l->len / 8 < n ? l->len / 8 : n;
    uint64_t *scratch = sn_body_alloc(&f->alloc, chunk * 8 * (keys ? 2 : 1));
    if (!scratch)
        return 0;
    for (size_t i = 0; i < n; i += chunk) {
        size_t m = n - i < chunk ? n - i : chunk;
        const uint64_t *h = hashes + (keys ? 0 : i);
        if (keys) {
            uint64_t *own = scratch + chunk;
            for (size_t j = 0; j < m; j++)
                own[j] = key_hash(f, keys[i + j].data, keys[i + j].len);
            h = own;
        }
        add_by_region(l, h, m, scratch);
    }
    sn_body_free(&f->alloc, scratch, chunk * 8 * (keys ? 2 : 1));
    return n;
}

/* ---- public ------------------------------------------------------------------------ */

static inline int may_add(seen_filter *f)
{
    if (f->foreign)
        return sn_outside_refuse(f, "takes no hashes");
    if (!sn_newest(f)->twin->add)
        return sn_fail(SEEN_EKIND, "a %s filter is static: build a new one from all keys",
                       sn_newest(f)->kind->name);
    return f->map || !f->writable ? sn_may_change(f) : 0;
}

size_t seen_add_many(seen_filter *f, const seen_key *keys, size_t n, bool *dup)
{
    if (f->foreign)
        return sn_outside_add(f, keys, n, dup);
    if (may_add(f) < 0)
        return 0;
    size_t done = dup ? 0 : add_bulk(f, keys, NULL, n);
    return done ? done : roll(f, f, keys, NULL, n, dup);
}

size_t seen_add_hashes(seen_filter *f, const uint64_t *h, size_t n, bool *dup)
{
    if (may_add(f) < 0)
        return 0;
    size_t done = dup ? 0 : add_bulk(f, NULL, h, n);
    return done ? done : roll(f, f, NULL, h, n, dup);
}

void seen_has_many(const seen_filter *f, const seen_key *keys, size_t n, bool *found)
{
    if (f->foreign)
        sn_foreign_has(f->foreign, keys, n, found);
    else
        roll(f, NULL, keys, NULL, n, found);
}

void seen_has_hashes(const seen_filter *f, const uint64_t *h, size_t n, bool *found)
{
    roll(f, NULL, NULL, h, n, found);
}

uint64_t seen_hash(const seen_filter *f, const void *key, size_t len)
{
    return key_hash(f, key, len);
}

uint64_t seen_hash_seeded(uint64_t seed, const void *key, size_t len)
{
    return sn_hash(seed, key, len);
}

int seen_add_hash(seen_filter *f, uint64_t h)
{
    bool dup;
    int rc = may_add(f);
    if (rc < 0)
        return rc;
    if (add_group(f, &h, 1, &dup) == 1)
        return dup ? SEEN_DUP : SEEN_NEW;
    /* Nothing was taken: growing failed, and asking again says why. */
    return sn_grow(f);
}

bool seen_has_hash(const seen_filter *f, uint64_t h)
{
    bool found = false;
    for (const sn_layer *l = sn_newest(f); !found && l >= f->layer; l--)
        l->twin->has(l, &h, 1, &found);
    return found;
}

int seen_remove_hash(seen_filter *f, uint64_t h)
{
    if (f->foreign)
        return sn_outside_refuse(f, "takes no hashes");
    if (!sn_newest(f)->kind->remove)
        return sn_fail(SEEN_EKIND, "a %s filter cannot remove keys",
                       sn_newest(f)->kind->name);
    int rc = sn_may_change(f);
    if (rc < 0)
        return rc;
    for (sn_layer *l = sn_newest(f); l >= f->layer; l--)
        if (l->kind->remove(l, h))
            return 1;
    f->missed++;
    return 0;
}

int seen_add(seen_filter *f, const void *key, size_t len)
{
    if (f->foreign)
        return sn_outside_add_one(f, key, len);
    return seen_add_hash(f, key_hash(f, key, len));
}

bool seen_has(const seen_filter *f, const void *key, size_t len)
{
    if (f->foreign)
        return sn_outside_has_one(f, key, len);
    return seen_has_hash(f, key_hash(f, key, len));
}

int seen_remove(seen_filter *f, const void *key, size_t len)
{
    if (f->foreign)
        return sn_outside_remove(f, key, len);
    return seen_remove_hash(f, key_hash(f, key, len));
}

int seen_add_str(seen_filter *f, const char *s) { return seen_add(f, s, strlen(s)); }
bool seen_has_str(const seen_filter *f, const char *s) { return seen_has(f, s, strlen(s)); }

int seen_add_u64(seen_filter *f, uint64_t x)
{
    uint8_t le[8];
    sn_put64(le, x);
    return seen_add(f, le, 8);
}

bool seen_has_u64(const seen_filter *f, uint64_t x)
{
    uint8_t le[8];
    sn_put64(le, x);
    return seen_has(f, le, 8);
}
