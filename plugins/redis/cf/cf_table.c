/* cf_table.c - fingerprints in buckets: add, ask, count, remove, compact.
 *
 * A key has two buckets in every sub-filter. Each is computed from the other and the
 * fingerprint alone, so a fingerprint can move without its key. Bucket numbers are the
 * low bits of one 64-bit place, so a newer, larger sub-filter can be folded into an
 * older one (cuckoo_compact). */
#include "cf/cf_table.h"
#include "server/server_memory.h"
#include <string.h>

typedef struct places {
    uint64_t a, b; /* before reduction to a sub-filter's number of buckets */
    uint32_t fp;   /* 1 .. 65535; 0 is a free slot */
    uint64_t hash; /* of the key */
} places;

static uint64_t other_place(uint64_t place, uint32_t fp)
{
    return place ^ (fp * 0xff51afd7ed558ccdull >> 16);
}

static places places_of(const cuckoo *c, seen_key key)
{
    uint64_t h = seen_hasher_hash(&c->hasher, key.data, key.len);
    places p = {.a = h >> 16, .fp = (uint32_t)(h & 0xffff), .hash = h};
    p.fp += !p.fp;
    p.b = other_place(p.a, p.fp);
    return p;
}

static uint8_t *bucket(const cuckoo *c, const cuckoo_sub *s, uint64_t place)
{
    return s->slots + (place & (s->buckets - 1)) * c->bucket_size * 2;
}

static uint32_t slot_get(const uint8_t *b, uint64_t i)
{
    return (uint32_t)(b[2 * i] | b[2 * i + 1] << 8);
}

static void slot_set(uint8_t *b, uint32_t i, uint32_t fp)
{
    b[2 * i] = (uint8_t)fp;
    b[2 * i + 1] = (uint8_t)(fp >> 8);
}

/* The first slot of B that holds FP (0: a free one), or -1. */
static int find(const cuckoo *c, const uint8_t *b, uint32_t fp)
{
    for (uint32_t i = 0; i < c->bucket_size; i++)
        if (slot_get(b, i) == fp)
            return (int)i;
    return -1;
}

/* Puts NEW over the first OLD in either bucket; false if there is none. */
static bool replace(const cuckoo *c, cuckoo_sub *s, const places *p, uint32_t old,
                    uint32_t new)
{
    uint8_t *b = bucket(c, s, p->a);
    int i = find(c, b, old);
    if (i < 0) {
        b = bucket(c, s, p->b);
        i = find(c, b, old);
    }
    if (i < 0)
        return false;
    slot_set(b, (uint32_t)i, new);
    s->used += !old;
    s->used -= !new && s->used;
    return true;
}

static uint64_t count_in(const cuckoo *c, const cuckoo_sub *s, const places *p)
{
    const uint8_t *a = bucket(c, s, p->a), *b = bucket(c, s, p->b);
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->bucket_size; i++)
        n += slot_get(a, i) == p->fp;
    for (uint32_t i = 0; a != b && i < c->bucket_size; i++)
        n += slot_get(b, i) == p->fp;
    return n;
}

static bool has(const cuckoo *c, const places *p)
{
    for (uint32_t i = c->nsubs; i-- > 0;) {
        const cuckoo_sub *s = &c->subs[i];
        if (find(c, bucket(c, s, p->a), p->fp) >= 0 ||
            find(c, bucket(c, s, p->b), p->fp) >= 0)
            return true;
    }
    return copy_counts_get(&c->hot, p->hash) > 0;
}

/* ---- shape ------------------------------------------------------------------- */

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;
    while (p < n)
        p <<= 1;
    return p;
}

uint64_t cuckoo_buckets_for(uint64_t capacity, uint32_t bucket_size)
{
    /* Four slots fill to 95%, two to 84%, one to 50%: capacity means it fits. */
    double fill = bucket_size == 1 ? 0.45 : bucket_size < 4 ? 0.8 : 0.94;
    return power_of_two((uint64_t)((double)capacity / bucket_size / fill) + 1);
}

uint64_t cuckoo_sub_buckets(const cuckoo *c, uint32_t i)
{
    uint64_t step = c->expansion < 2 ? 2 : power_of_two(c->expansion);
    uint64_t n = c->buckets;
    for (uint32_t j = 0; j < i; j++) {
        if (n > (uint64_t)1 << 40)
            return 0;
        n *= step;
    }
    return n;
}

uint64_t cuckoo_sub_bytes(const cuckoo *c, const cuckoo_sub *s)
{
    return s->buckets * c->bucket_size * 2;
}

uint64_t cuckoo_bytes(const cuckoo *c)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nsubs; i++)
        sum += cuckoo_sub_bytes(c, &c->subs[i]);
    return sum;
}

uint64_t cuckoo_memory(const cuckoo *c)
{
    return sizeof *c + c->nsubs * (sizeof *c->subs + 72) + cuckoo_bytes(c) +
           copy_counts_bytes(&c->hot);
}

/* ---- life -------------------------------------------------------------------- */

cuckoo *cuckoo_shell(uint64_t buckets, uint32_t bucket_size, uint32_t max_iterations,
                     uint32_t expansion, filter_secret secret)
{
    cuckoo *c = RM_Calloc(1, sizeof *c);
    c->buckets = buckets;
    c->bucket_size = bucket_size;
    c->max_iterations = max_iterations;
    c->expansion = expansion;
    c->secret = secret;
    secret_hasher(secret, 0, &c->hasher);
    return c;
}

bool cuckoo_append(cuckoo *c, uint64_t buckets)
{
    cuckoo_sub s = {.buckets = buckets};
    if (buckets > (uint64_t)1 << 48)
        return false;
    s.slots = body_new(cuckoo_sub_bytes(c, &s));
    if (!s.slots)
        return false;
    c->subs = RM_Realloc(c->subs, (c->nsubs + 1) * sizeof *c->subs);
    c->subs[c->nsubs++] = s;
    return true;
}

cuckoo *cuckoo_new(uint64_t buckets, uint32_t bucket_size, uint32_t max_iterations,
                   uint32_t expansion, filter_secret secret)
{
    cuckoo *c = cuckoo_shell(buckets, bucket_size, max_iterations, expansion, secret);
    if (!cuckoo_append(c, buckets)) {
        cuckoo_free(c);
        return NULL;
    }
    return c;
}

void cuckoo_free(cuckoo *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->nsubs; i++)
        body_free(c->subs[i].slots);
    copy_counts_free(&c->hot);
    RM_Free(c->subs);
    RM_Free(c);
}

cuckoo *cuckoo_copy(const cuckoo *c)
{
    cuckoo *d = cuckoo_shell(c->buckets, c->bucket_size, c->max_iterations,
                             c->expansion, c->secret);
    d->items = c->items;
    d->deletes = c->deletes;
    for (uint32_t i = 0; i < c->nsubs; i++) {
        if (!cuckoo_append(d, c->subs[i].buckets)) {
            cuckoo_free(d);
            return NULL;
        }
        memcpy(d->subs[i].slots, c->subs[i].slots, cuckoo_sub_bytes(c, &c->subs[i]));
        d->subs[i].used = c->subs[i].used;
    }
    if (!copy_counts_copy(&d->hot, &c->hot)) {
        cuckoo_free(d);
        return NULL;
    }
    return d;
}

static void count_used(const cuckoo *c, cuckoo_sub *s)
{
    uint64_t n = s->buckets * c->bucket_size, used = 0;
    for (uint64_t i = 0; i < n; i++)
        used += slot_get(s->slots, i) != 0;
    s->used = used;
}

void cuckoo_loaded(cuckoo *c, uint64_t end)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < c->nsubs; i++) {
        at += cuckoo_sub_bytes(c, &c->subs[i]);
        if (at == end)
            count_used(c, &c->subs[i]);
    }
}

/* ---- keys -------------------------------------------------------------------- */

/* Makes room by moving fingerprints to their other bucket, one after another. If no
 * free slot is met, every move is undone. The victim depends on the step alone, so a
 * replica moves the same ones. */
static bool displace(cuckoo *c, cuckoo_sub *s, const places *p)
{
    uint32_t steps = c->max_iterations > 500 ? c->max_iterations : 500;
    /* Beyond this load a search nearly always fails: grow at once. */
    uint64_t slots = s->buckets * c->bucket_size;
    if (c->expansion && slots > 1024 && s->used > slots / 20 * 19)
        return false;
    uint64_t place = p->a & (s->buckets - 1);
    uint32_t fp = p->fp, i;
    for (i = 0; i < steps; i++) {
        uint8_t *b = bucket(c, s, place);
        uint32_t slot = i % c->bucket_size, victim = slot_get(b, slot);
        slot_set(b, slot, fp);
        fp = victim;
        place = other_place(place, fp) & (s->buckets - 1);
        b = bucket(c, s, place);
        int free = find(c, b, 0);
        if (free >= 0) {
            slot_set(b, (uint32_t)free, fp);
            s->used++;
            return true;
        }
    }
    while (i-- > 0) {
        place = other_place(place, fp) & (s->buckets - 1);
        uint8_t *b = bucket(c, s, place);
        uint32_t slot = i % c->bucket_size, back = slot_get(b, slot);
        slot_set(b, slot, fp);
        fp = back;
    }
    return false;
}

static uint64_t slots_with(const cuckoo *c, const places *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->nsubs; i++)
        n += count_in(c, &c->subs[i], p);
    return n;
}

/* Appends a sub-filter and puts P there. CUCKOO_ADDED or a code. */
static int grow(cuckoo *c, const places *p, const cuckoo_limits *lim)
{
    if (!c->expansion)
        return CUCKOO_FULL;
    if (c->nsubs >= lim->max_subs)
        return CUCKOO_EXPANDED;
    cuckoo_sub next = {.buckets = cuckoo_sub_buckets(c, c->nsubs)};
    if (!next.buckets ||
        cuckoo_bytes(c) + copy_counts_bytes(&c->hot) + cuckoo_sub_bytes(c, &next) >
            lim->max_bytes(lim->ctx))
        return CUCKOO_TOOBIG;
    if (!cuckoo_append(c, next.buckets))
        return CUCKOO_NOMEM;
    replace(c, &c->subs[c->nsubs - 1], p, 0, p->fp);
    return CUCKOO_ADDED;
}

/* Counts one more copy of P without a slot. CUCKOO_ADDED or a code. */
static int add_hot(cuckoo *c, const places *p, const cuckoo_limits *lim)
{
    uint64_t more = copy_counts_bytes_next(&c->hot);
    if (more > copy_counts_bytes(&c->hot) &&
        cuckoo_bytes(c) + more > lim->max_bytes(lim->ctx))
        return CUCKOO_TOOBIG;
    return copy_counts_add(&c->hot, p->hash, 1) ? CUCKOO_ADDED : CUCKOO_NOMEM;
}

int cuckoo_add(cuckoo *c, seen_key key, bool unique, const cuckoo_limits *lim)
{
    places p = places_of(c, key);
    if (unique && has(c, &p))
        return CUCKOO_THERE;
    uint64_t copies = slots_with(c, &p);
    bool done = false;
    for (uint32_t i = c->nsubs; i-- > 0 && !done && copies < c->bucket_size;)
        done = replace(c, &c->subs[i], &p, 0, p.fp);
    int rc = CUCKOO_ADDED;
    if (!done && copies)
        rc = add_hot(c, &p, lim);
    else if (!done && !displace(c, &c->subs[c->nsubs - 1], &p))
        rc = grow(c, &p, lim);
    c->items += rc == CUCKOO_ADDED;
    return rc;
}

uint64_t cuckoo_count(const cuckoo *c, seen_key key)
{
    places p = places_of(c, key);
    return slots_with(c, &p) + copy_counts_get(&c->hot, p.hash);
}

void cuckoo_has_many(const cuckoo *c, const seen_key *keys, size_t n, bool *found)
{
    enum { WINDOW = 32 };
    places p[WINDOW];
    for (size_t at = 0; at < n; at += WINDOW) {
        size_t m = n - at < WINDOW ? n - at : WINDOW;
        for (size_t i = 0; i < m; i++) {
            p[i] = places_of(c, keys[at + i]);
            const cuckoo_sub *s = &c->subs[c->nsubs - 1];
            __builtin_prefetch(bucket(c, s, p[i].a));
            __builtin_prefetch(bucket(c, s, p[i].b));
        }
        for (size_t i = 0; i < m; i++)
            found[at + i] = has(c, &p[i]);
    }
}

bool cuckoo_remove(cuckoo *c, seen_key key)
{
    places p = places_of(c, key);
    bool gone = copy_counts_remove(&c->hot, p.hash);
    for (uint32_t i = c->nsubs; i-- > 0 && !gone;)
        gone = replace(c, &c->subs[i], &p, p.fp, 0);
    c->items -= gone && c->items > 0;
    c->deletes += gone;
    return gone;
}

/* Moves what fits from sub-filter I into older ones. Its bucket number is the low bits
 * of a place, so it names the bucket in every smaller sub-filter as well. */
static bool fold(cuckoo *c, uint32_t i)
{
    cuckoo_sub *s = &c->subs[i];
    bool changed = false;
    for (uint64_t at = 0; at < s->buckets && s->used; at++) {
        uint8_t *b = bucket(c, s, at);
        for (uint32_t j = 0; j < c->bucket_size; j++) {
            uint32_t fp = slot_get(b, j);
            if (!fp)
                continue;
            places p = {.a = at, .b = other_place(at, fp), .fp = fp};
            for (uint32_t e = 0; e < i; e++)
                if (c->subs[e].buckets <= s->buckets &&
                    replace(c, &c->subs[e], &p, 0, fp)) {
                    slot_set(b, j, 0);
                    s->used--;
                    changed = true;
                    break;
                }
        }
    }
    return changed;
}

bool cuckoo_compact(cuckoo *c)
{
    bool changed = c->deletes > 0;
    for (uint32_t i = c->nsubs; i-- > 1;) {
        changed |= fold(c, i);
        if (i == c->nsubs - 1 && !c->subs[i].used) {
            body_free(c->subs[i].slots);
            c->nsubs--;
            changed = true;
        }
    }
    c->deletes = 0;
    return changed;
}
