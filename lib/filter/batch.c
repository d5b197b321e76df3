/* batch.c - asks and adds batches: hash once, prefetch, then test and set.
 *
 * A large layer is streamed: its variant prefetches the line of the key 64 ahead while
 * it works on this one. If a variant cannot do that, keys pass in groups of 16, and
 * while a group is tested the lines of the next three are prefetched. This rolling
 * window keeps memory busy; one that is filled and emptied would let it idle. Several
 * layers are asked in turn, a thousand keys at a time, newest first; older ones get
 * only the keys that were not found yet. Equal keys may share a batch, so keys are
 * tested and set strictly in order; prefetching early is safe, because it changes no
 * bits. */
#include "filter/batch.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "filter/exceptions.h"
#include "filter/growth.h"
#include <string.h>

#define GROUP 16
#define WINDOW 64

/* ---- several layers ------------------------------------------------------------- */

#define CHUNK 1024 /* keys that go from layer to layer together */

/* Prefetches the lines of at most COUNT of the N keys, from FROM on. */
static inline void fetch(const sn_layer *l, const uint64_t *h, size_t n, size_t from,
                         size_t count)
{
    if (from < n)
        l->variant->prefetch(l, h + from, n - from < count ? n - from : count);
}

/* For so few keys the lines of all layers are prefetched at once. */
static inline bool few(size_t n)
{
    return n <= WINDOW;
}

/* Asks one layer, or with INTO adds to it, which has room. Returns how many keys were
 * done; fewer only if the layer refused a key. NEAR: the lines are already
 * prefetched. */
static size_t pass_layer(const sn_layer *l, sn_layer *into, const uint64_t *h, size_t n,
                         bool *out, bool near)
{
    const sn_variant *t = l->variant;
    bool far = !near && l->len > SN_PREFETCH_BYTES && t->prefetch &&
               (into || !l->kind->prefetches_itself);
    bool ahead =
        far && n > SN_AHEAD && (into ? t->add_ahead != NULL : t->has_ahead != NULL);
    size_t done = 0, step = far ? GROUP : n;
    if (far)
        fetch(l, h, n, 0, WINDOW);
    if (ahead) {
        done = n - SN_AHEAD;
        step = SN_AHEAD;
        if (into)
            t->add_ahead(into, h, done, out);
        else
            t->has_ahead(l, h, done, out);
    }
    while (done < n) {
        size_t m = n - done < step ? n - done : step;
        if (far && !ahead)
            fetch(l, h, n, done + WINDOW, GROUP);
        if (!into)
            t->has(l, h + done, m, out + done);
        size_t taken = into ? t->add(into, h + done, m, out + done) : m;
        done += taken;
        if (taken < m)
            break;
    }
    return done;
}

/* Asks layers [0, UPTO) for N <= CHUNK hashes. Puts the hashes that no layer has into
 * REST, and their numbers into AT; returns how many there are. */
static size_t sift(const seen_filter *f, uint32_t upto, const uint64_t *h, size_t n,
                   bool *found, uint64_t *rest, uint16_t *at)
{
    bool hit[CHUNK], near = few(n);
    if (near && n > 1)
        sn_prefetch(f, h, n);
    if (!upto) {
        memset(found, 0, n);
    } else if (near && f->same_variant) {
        f->layer->variant->has_any(f->layer, upto, h, n, found);
        upto = 0;
    } else {
        pass_layer(f->layer + upto - 1, NULL, h, n, found, near);
    }
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        rest[left] = h[i];
        at[left] = (uint16_t)i;
        left += !found[i];
    }
    for (uint32_t j = upto; j-- > 1 && left;) {
        pass_layer(f->layer + j - 1, NULL, rest, left, hit, near);
        size_t keep = 0;
        for (size_t i = 0; i < left; i++) {
            uint16_t a = at[i];
            found[a] = hit[i];
            rest[keep] = rest[i];
            at[keep] = a;
            keep += !hit[i];
        }
        left = keep;
    }
    return left;
}

/* How many of N <= CHUNK keys, from the first on, are in the newest layer already. */
static size_t count_found(const sn_layer *l, const uint64_t *h, size_t n)
{
    bool hit[CHUNK];
    size_t found = 0;
    pass_layer(l, NULL, h, n, hit, few(n));
    while (found < n && hit[found])
        found++;
    return found;
}

/* Adds N <= CHUNK keys that no older layer has to the newest one, until it needs more
 * room; returns how many. Key i is number AT[i] of the answers DUP. A key that is there
 * already needs no room: a full layer still finds it, and many such keys cost no more
 * than in a layer that is not full. */
static size_t add_newest(seen_filter *f, const uint64_t *h, size_t n,
                         const uint16_t *at, bool *dup)
{
    bool hit[CHUNK];
    sn_layer *l = sn_newest(f);
    bool multiset = sn_keeps_copies(l); /* every copy counts */
    size_t done = 0;
    while (done < n) {
        uint64_t space = sn_room(l);
        if (space < n - done && !multiset)
            for (size_t found = count_found(l, h + done, n - done); found; found--)
                dup[at[done++]] = true;
        size_t offer = n - done < space ? n - done : (size_t)space;
        size_t taken = pass_layer(l, l, h + done, offer, hit, few(n - done));
        for (size_t i = 0; i < taken; i++)
            dup[at[done++]] |= hit[i];
        if (!offer)
            break;
        if (taken == offer)
            continue;
        /* One was refused, though there is room for others. */
        if (multiset || !count_found(l, h + done, 1))
            break;
        dup[at[done++]] = true;
    }
    return done;
}

/* Adds N <= CHUNK in order; grows when the newest layer is full. Returns how many were
 * added; if fewer than N, *WHY has the code. */
static size_t add_growing(seen_filter *f, const uint64_t *h, size_t n, bool *dup,
                          int *why)
{
    uint64_t fresh[CHUNK];
    uint16_t at[CHUNK];
    bool multiset = sn_keeps_copies(f->layer);
    size_t done = 0;
    while (done < n) {
        size_t m = sift(f, f->layers - 1, h + done, n - done, dup + done, fresh, at);
        if (multiset) { /* every copy counts */
            m = n - done;
            for (size_t i = 0; i < m; i++) {
                fresh[i] = h[done + i];
                at[i] = (uint16_t)i;
            }
        }
        size_t taken = add_newest(f, fresh, m, at, dup + done);
        if (taken == m)
            return n;
        done += at[taken];
        if ((*why = sn_grow(f)) < 0)
            return done;
    }
    return done;
}

/* Asks or adds any number of keys (or, without KEYS, hashes); OUT may be NULL when
 * adding. Returns how many were done; if fewer than N, *WHY has the code. */
static size_t pass_layers(const seen_filter *f, seen_filter *into, const seen_key *keys,
                          const uint64_t *hashes, size_t n, bool *out, int *why)
{
    uint64_t own[CHUNK], rest[CHUNK];
    uint16_t at[CHUNK];
    bool ignored[CHUNK];
    for (size_t done = 0, m; done < n; done += m) {
        m = n - done < CHUNK ? n - done : CHUNK;
        if (keys)
            sn_key_hashes(f, keys + done, m, own);
        const uint64_t *h = keys ? own : hashes + done;
        bool *answer = out ? out + done : ignored;
        if (into) {
            size_t taken = add_growing(into, h, m, answer, why);
            if (taken < m)
                return done + taken;
        } else if (few(m) && f->same_variant) {
            sn_prefetch(f, h, m);
            f->layer->variant->has_any(f->layer, f->layers, h, m, answer);
        } else {
            sift(f, f->layers, h, m, answer, rest, at);
        }
    }
    return n;
}

/* ---- the rolling window ---------------------------------------------------------- */

size_t sn_add_group(seen_filter *f, const uint64_t *h, size_t n, bool *dup, int *why)
{
    sn_layer *l = f->layer;
    size_t taken = 0;
    if (f->layers == 1) {
        if (sn_room(l) >= n && (taken = l->variant->add(l, h, n, dup)) == n)
            return n;
    } else if (n == 1 && f->same_variant) {
        l->variant->has_any(l, f->layers - 1, h, 1, dup);
        if (*dup)
            return 1;
        l = sn_newest(f);
        if (sn_room(l) && l->variant->add(l, h, 1, dup))
            return 1;
    }
    return taken + add_growing(f, h + taken, n - taken, dup + taken, why);
}

/* Runs N keys (or, without KEYS, hashes) through the single layer of F; OUT may be NULL
 * when adding. Returns how many were done: fewer than N if a second layer was added, or
 * if there is no more room; then *WHY has the code. */
static inline __attribute__((always_inline)) size_t
roll(const seen_filter *f, seen_filter *into, const seen_key *keys,
     const uint64_t *hashes, size_t n, bool *out, int *why)
{
    uint64_t ring[WINDOW];
    bool ignored[GROUP];
    size_t ahead = 0, behind = 0, window = f->prefetch ? WINDOW : GROUP;
    while (behind < n) {
        while (ahead < n && ahead - behind < window) {
            size_t m = n - ahead < GROUP ? n - ahead : GROUP;
            uint64_t *slot = ring + ahead % WINDOW;
            if (keys)
                sn_key_hashes(f, keys + ahead, m, slot);
            if (f->prefetch)
                sn_prefetch(f, keys ? slot : hashes + ahead, m);
            ahead += m;
        }
        size_t m = n - behind < GROUP ? n - behind : GROUP;
        const uint64_t *h = keys ? ring + behind % WINDOW : hashes + behind;
        if (into) {
            size_t taken = sn_add_group(into, h, m, out ? out + behind : ignored, why);
            if (taken < m || into->layers > 1)
                return behind + taken;
        } else {
            f->layer->variant->has(f->layer, h, m, out + behind);
        }
        behind += m;
    }
    return n;
}

/* ---- one layer whose variant prefetches by itself
 * ----------------------------------- */

#define STEP 32

static inline void work(const seen_filter *f, seen_filter *into, const uint64_t *h,
                        size_t n, bool *out, bool ahead)
{
    const sn_variant *t = f->layer->variant;
    bool ignored[CHUNK];
    if (!into) {
        (ahead ? t->has_ahead : t->has)(f->layer, h, n, out);
        return;
    }
    for (size_t i = 0, m; i < n; i += m) {
        m = out || n - i < CHUNK ? n - i : CHUNK;
        bool *dup = out ? out + i : ignored;
        if (ahead)
            t->add_ahead(into->layer, h + i, m, dup);
        else
            t->add(into->layer, h + i, m, dup);
    }
}

/* Does all N; the caller has checked that the layer has room for them. */
static void stream_hashes(const seen_filter *f, seen_filter *into, const uint64_t *h,
                          size_t n, bool *out)
{
    size_t main = n > SN_AHEAD ? n - SN_AHEAD : 0;
    f->layer->variant->prefetch(f->layer, h, n - main);
    work(f, into, h, main, out, true);
    work(f, into, h + main, n - main, out ? out + main : NULL, false);
}

static void stream_keys(const seen_filter *f, seen_filter *into, const seen_key *keys,
                        size_t n, bool *out)
{
    uint64_t line[CHUNK]; /* a queue of hashes */
    size_t from = 0, to = 0, done = 0, hashed = 0;
    while (done < n) {
        if (to + STEP > CHUNK) {
            memmove(line, line + from, (to - from) * sizeof *line);
            to -= from;
            from = 0;
        }
        size_t m = n - hashed < STEP ? n - hashed : STEP;
        sn_key_hashes(f, keys + hashed, m, line + to);
        hashed += m;
        if (to - from < SN_AHEAD) /* no earlier key prefetches these */
            f->layer->variant->prefetch(f->layer, line + to, m);
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

/* True if F has one layer, too large for the caches and with room, to stream. */
static inline bool streams(const seen_filter *f, bool adding, size_t n)
{
    const sn_layer *l = f->layer;
    return f->prefetch && n > SN_AHEAD &&
           (adding ? l->variant->add_ahead && sn_room(l) >= n
                   : l->variant->has_ahead != NULL);
}

/* ---- a kind that prefetches by itself -------------------------------------------- */

static inline bool prefetches_itself(const seen_filter *f)
{
    return f->layer->kind->prefetches_itself;
}

static void ask_chunks(const seen_filter *f, const seen_key *keys, size_t n, bool *out)
{
    uint64_t h[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        sn_key_hashes(f, keys + i, m, h);
        f->layer->variant->has(f->layer, h, m, out + i);
    }
}

/* ---- public ---------------------------------------------------------------------- */

/* Returns how many were added; if fewer than N, *WHY has the code. */
static size_t add_batch(seen_filter *f, const seen_key *keys, const uint64_t *h,
                        size_t n, bool *dup, int *why)
{
    if ((*why = sn_may_add(f)) < 0)
        return 0;
    if (f->source.again)
        return sn_add_kept(f, keys, h, n, dup, why);
    if (!dup && sn_add_bulk(f, keys, h, n))
        return n;
    size_t done = 0;
    if (f->layers == 1) {
        if (!streams(f, true, n)) {
            done = roll(f, f, keys, h, n, dup, why);
        } else {
            done = n;
            if (keys)
                stream_keys(f, f, keys, n, dup);
            else
                stream_hashes(f, f, h, n, dup);
        }
    }
    if (*why < 0 || f->layers == 1)
        return done;
    return done + pass_layers(f, f, keys ? keys + done : NULL, h ? h + done : NULL,
                              n - done, dup ? dup + done : NULL, why);
}

/* The result of a batch of N keys of which DONE were added. */
static int batch_result(size_t done, size_t n, size_t *taken, int why)
{
    if (taken)
        *taken = done;
    return done < n ? why : SEEN_OK;
}

int seen_add_many(seen_filter *f, const seen_key *keys, size_t n, bool *dup,
                  size_t *taken)
{
    int why = SEEN_OK;
    size_t done = f->foreign ? sn_handle_foreign_add(f, keys, n, dup, &why)
                             : add_batch(f, keys, NULL, n, dup, &why);
    if (f->exceptions)
        sn_exceptions_added(f, keys, NULL, done, dup);
    return batch_result(done, n, taken, why);
}

int seen_add_hashes(seen_filter *f, const uint64_t *h, size_t n, bool *dup,
                    size_t *taken)
{
    int why = SEEN_OK;
    size_t done = add_batch(f, NULL, h, n, dup, &why);
    if (f->exceptions)
        sn_exceptions_added(f, NULL, h, done, dup);
    return batch_result(done, n, taken, why);
}

int seen_ask_many(const seen_filter *f, const seen_key *keys, size_t n, bool *found)
{
    int rc = SEEN_OK;
    if (f->foreign)
        rc = sn_foreign_has(f->foreign, keys, n, found);
    else if (f->layers > 1)
        pass_layers(f, NULL, keys, NULL, n, found, NULL);
    else if (prefetches_itself(f))
        ask_chunks(f, keys, n, found);
    else if (streams(f, false, n))
        stream_keys(f, NULL, keys, n, found);
    else
        roll(f, NULL, keys, NULL, n, found, NULL);
    if (f->exceptions)
        sn_exceptions_sift(f, keys, NULL, n, found);
    return rc;
}

void seen_has_many(const seen_filter *f, const seen_key *keys, size_t n, bool *found)
{
    seen_ask_many(f, keys, n, found);
}

int seen_has_hashes(const seen_filter *f, const uint64_t *h, size_t n, bool *found)
{
    if (f->foreign) {
        memset(found, true, n); /* a "no" might be wrong */
        return sn_handle_foreign_refuse(f, "takes no hashes");
    }
    if (f->layers > 1)
        pass_layers(f, NULL, NULL, h, n, found, NULL);
    else if (prefetches_itself(f))
        f->layer->variant->has(f->layer, h, n, found);
    else if (streams(f, false, n))
        stream_hashes(f, NULL, h, n, found);
    else
        roll(f, NULL, NULL, h, n, found, NULL);
    if (f->exceptions)
        sn_exceptions_sift(f, NULL, h, n, found);
    return SEEN_OK;
}
