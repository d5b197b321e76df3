/* batch.c - asking and adding: hash once, fetch memory ahead, then test and set.
 *
 * A large filter of one layer is streamed: its twin fetches the line of the key 64
 * ahead while it works on this one. Otherwise keys pass in groups of 16, and while a
 * group is tested the lines of the next three are on their way: a rolling window that
 * keeps the memory busy, where one that is filled and emptied would let it wait.
 * Equal keys may share a batch, so keys are tested and set strictly in order;
 * prefetching early is safe, it moves no bits. */
#include "filter/batch.h"
#include "base/bytes.h"
#include "base/fail.h"
#include <string.h>

#define GROUP 16
#define WINDOW 64

static inline void touch(const seen_filter *f, const uint64_t *h, size_t n)
{
    for (uint32_t i = 0; i < f->layers; i++)
        if (f->layer[i].len > SN_TOUCH_BYTES && f->layer[i].twin->touch)
            f->layer[i].twin->touch(f->layer + i, h, n);
}

/* ---- a group through all layers ------------------------------------------------ */

/* Asks layers [0, upto) for the N <= GROUP hashes, newest first; later layers are
 * asked only for what was not found yet. */
static void ask_layers(const seen_filter *f, uint32_t upto, const uint64_t *h, size_t n,
                       bool *found)
{
    if (f->alike && upto) {
        f->layer->twin->has_any(f->layer, upto, h, n, found);
        return;
    }
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
        uint64_t space = sn_room(l);
        size_t offer = m < space ? m : (size_t)space;
        size_t taken = offer ? l->twin->add(l, fresh, offer, hit) : 0;
        for (size_t i = 0; i < taken; i++)
            dup[at[i]] |= hit[i];
        if (taken == m)
            return n;
        done = at[taken];
        /* A key that is already in needs no room: a full filter still says so. */
        if (taken < offer || sn_room(l) == 0) {
            if (!multiset) {
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

size_t sn_add_group(seen_filter *f, const uint64_t *h, size_t n, bool *dup)
{
    sn_layer *l = f->layer;
    if (f->layers == 1 && sn_room(l) >= n) {
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
roll(const seen_filter *f, seen_filter *into, const seen_key *keys,
     const uint64_t *hashes, size_t n, bool *out)
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
                    slot[i] = sn_key_hash(f, keys[ahead + i].data, keys[ahead + i].len);
            if (f->touch)
                touch(f, keys ? slot : hashes + ahead, m);
            ahead += m;
        }
        size_t m = n - behind < GROUP ? n - behind : GROUP;
        const uint64_t *h = keys ? ring + behind % WINDOW : hashes + behind;
        if (into) {
            size_t taken = sn_add_group(into, h, m, out ? out + behind : ignored);
            if (taken < m)
                return behind + taken;
        } else {
            ask(f, h, m, out + behind);
        }
        behind += m;
    }
    return n;
}

/* ---- one layer whose twin fetches ahead by itself -------------------------------- */

/* The hashes of keys, as a line that is cut in front and grows behind. */
#define LINE 1024
#define STEP 32

static inline void work(const seen_filter *f, seen_filter *into, const uint64_t *h,
                        size_t n, bool *out, bool ahead)
{
    const sn_twin *t = f->layer->twin;
    bool ignored[LINE];
    if (!into) {
        (ahead ? t->has_ahead : t->has)(f->layer, h, n, out);
        return;
    }
    for (size_t i = 0, m; i < n; i += m) {
        m = out || n - i < LINE ? n - i : LINE;
        bool *dup = out ? out + i : ignored;
        if (ahead)
            t->add_ahead(into->layer, h + i, m, dup);
        else
            t->add(into->layer, h + i, m, dup);
    }
}

/* Does all N; the caller has seen to it that one layer has room for them. */
static void stream_hashes(const seen_filter *f, seen_filter *into, const uint64_t *h,
                          size_t n, bool *out)
{
    size_t main = n > SN_AHEAD ? n - SN_AHEAD : 0;
    f->layer->twin->touch(f->layer, h, n - main);
    work(f, into, h, main, out, true);
    work(f, into, h + main, n - main, out ? out + main : NULL, false);
}

static void stream_keys(const seen_filter *f, seen_filter *into, const seen_key *keys,
                        size_t n, bool *out)
{
    uint64_t line[LINE];
    size_t from = 0, to = 0, done = 0, hashed = 0;
    while (done < n) {
        if (to + STEP > LINE) {
            memmove(line, line + from, (to - from) * sizeof *line);
            to -= from;
            from = 0;
        }
        size_t m = n - hashed < STEP ? n - hashed : STEP;
        for (size_t i = 0; i < m; i++, hashed++)
            line[to + i] = sn_key_hash(f, keys[hashed].data, keys[hashed].len);
        if (to - from < SN_AHEAD) /* nothing before them asks for these */
            f->layer->twin->touch(f->layer, line + to, m);
        to += m;
        bool ahead = to - from >= SN_AHEAD + STEP;
        if (!ahead && hashed < n)
            continue;
        m = ahead ? STEP : to - from;
        work(f, into, line + from, m, out ? out + done : NULL, ahead);
        from += m;
        done += m;
    }
}

/* Whether the streams above serve: one layer, too large for the caches, with room. */
static inline bool streams(const seen_filter *f, bool adding, size_t n)
{
    const sn_layer *l = f->layer;
    return f->layers == 1 && f->touch && n > SN_AHEAD &&
           (adding ? l->twin->add_ahead && sn_room(l) >= n
                   : l->twin->has_ahead != NULL);
}

/* ---- a kind that fetches ahead by itself ----------------------------------------- */

static inline bool paced(const seen_filter *f)
{
    return f->layers == 1 && f->layer->kind->paced;
}

static void ask_paced(const seen_filter *f, const seen_key *keys, size_t n, bool *out)
{
    uint64_t h[LINE];
    for (size_t i = 0; i < n; i += LINE) {
        size_t m = n - i < LINE ? n - i : LINE;
        for (size_t j = 0; j < m; j++)
            h[j] = sn_key_hash(f, keys[i + j].data, keys[i + j].len);
        f->layer->twin->has(f->layer, h, m, out + i);
    }
}

/* ---- public ---------------------------------------------------------------------- */

static size_t add_batch(seen_filter *f, const seen_key *keys, const uint64_t *h,
                        size_t n, bool *dup)
{
    if (sn_may_add(f) < 0)
        return 0;
    if (!dup && sn_add_bulk(f, keys, h, n))
        return n;
    if (!streams(f, true, n))
        return roll(f, f, keys, h, n, dup);
    if (keys)
        stream_keys(f, f, keys, n, dup);
    else
        stream_hashes(f, f, h, n, dup);
    return n;
}

size_t seen_add_many(seen_filter *f, const seen_key *keys, size_t n, bool *dup)
{
    if (f->foreign)
        return sn_outside_add(f, keys, n, dup);
    return add_batch(f, keys, NULL, n, dup);
}

size_t seen_add_hashes(seen_filter *f, const uint64_t *h, size_t n, bool *dup)
{
    return add_batch(f, NULL, h, n, dup);
}

void seen_has_many(const seen_filter *f, const seen_key *keys, size_t n, bool *found)
{
    if (f->foreign)
        sn_foreign_has(f->foreign, keys, n, found);
    else if (paced(f))
        ask_paced(f, keys, n, found);
    else if (streams(f, false, n))
        stream_keys(f, NULL, keys, n, found);
    else
        roll(f, NULL, keys, NULL, n, found);
}

void seen_has_hashes(const seen_filter *f, const uint64_t *h, size_t n, bool *found)
{
    if (paced(f))
        f->layer->twin->has(f->layer, h, n, found);
    else if (streams(f, false, n))
        stream_hashes(f, NULL, h, n, found);
    else
        roll(f, NULL, NULL, h, n, found);
}
