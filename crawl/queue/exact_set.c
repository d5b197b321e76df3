/* exact_set.c - sorted linear probing in shards.
 *
 * A shard is an array of slots of 7 bytes, zero or a fingerprint plus one. The place
 * where a fingerprint wants to be grows with its value, and the fingerprints of a shard
 * stand in order: so a search ends at the first larger one, adding moves a few slots
 * up, and growing copies the slots in one pass from one end to the other. Some slots
 * beyond the last place take what is moved there; when they are used up, the shard
 * grows. */
#include "exact_set.h"
#include "messages.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SLOT = 7,
    BITS = 56,
    SHARD_BITS_MOST = 12,
    KEYS_PER_SHARD = 1024,
    BEYOND = 256,
    BATCH = 64
};

typedef struct shard {
    uint8_t *slots;
    uint64_t places; /* without those beyond */
    uint64_t count;
} shard;

struct exact_set {
    shard *shards;
    unsigned shard_bits;
    uint64_t count, bytes;
    seen_hasher first, second;
};

static uint64_t get_slot(const uint8_t *p)
{
    uint64_t v; /* reads one byte more, which every array has */
    memcpy(&v, p, sizeof v);
    return le64toh(v) & ((1ull << BITS) - 1);
}

static void put_slot(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, SLOT);
}

static uint64_t place_of(const shard *h, uint64_t print)
{
    return (uint64_t)((unsigned __int128)print * h->places >> BITS);
}

static size_t bytes_of(uint64_t places)
{
    return (size_t)(places + BEYOND) * SLOT + 1;
}

static void map_slots(exact_set *s, shard *h, uint64_t places)
{
    size_t n = bytes_of(places);
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        kit_die("the set of visited addresses: %s", strerror(errno));
    h->slots = p;
    h->places = places;
    s->bytes += n;
}

static void unmap_slots(exact_set *s, const shard *h)
{
    munmap(h->slots, bytes_of(h->places));
    s->bytes -= bytes_of(h->places);
}

/* Copies the slots of OLD in order to H, whose places are empty; false if they do not
 * fit. */
static bool copy_slots(const shard *old, shard *h)
{
    uint64_t next = 0, end = old->places + BEYOND;
    for (uint64_t i = 0; i < end; i++) {
        uint64_t v = get_slot(old->slots + i * SLOT);
        if (!v)
            continue;
        uint64_t at = place_of(h, v - 1);
        if (at < next)
            at = next;
        if (at >= h->places + BEYOND)
            return false;
        put_slot(h->slots + at * SLOT, v);
        next = at + 1;
    }
    h->count = old->count;
    return true;
}

static void grow_shard(exact_set *s, shard *h)
{
    shard old = *h;
    for (uint64_t places = old.places;;) {
        places += places / 8 + 8;
        map_slots(s, h, places);
        if (copy_slots(&old, h))
            break;
        unmap_slots(s, h);
    }
    unmap_slots(s, &old);
}

/* Where PRINT is in H, or the slot before which it belongs; sets *FOUND. */
static uint64_t find_slot(const shard *h, uint64_t print, bool *found)
{
    uint64_t at = place_of(h, print), end = h->places + BEYOND, v = 0;
    while (at < end && (v = get_slot(h->slots + at * SLOT)) && v - 1 < print)
        at++;
    *found = at < end && v && v - 1 == print;
    return at;
}

/* Makes slot AT free by moving what stands there up to the next free one; false if
 * there is none. */
static bool free_slot(shard *h, uint64_t at)
{
    uint64_t to = at, end = h->places + BEYOND;
    while (to < end && get_slot(h->slots + to * SLOT))
        to++;
    if (to >= end)
        return false;
    memmove(h->slots + (at + 1) * SLOT, h->slots + at * SLOT, (size_t)(to - at) * SLOT);
    return true;
}

/* True if PRINT was there before. */
static bool add_print(exact_set *s, shard *h, uint64_t print)
{
    bool found;
    if (h->count * 8 >= h->places * 7)
        grow_shard(s, h);
    uint64_t at = find_slot(h, print, &found);
    if (found)
        return true;
    while (!free_slot(h, at)) {
        grow_shard(s, h);
        at = find_slot(h, print, &found);
    }
    put_slot(h->slots + at * SLOT, print + 1);
    h->count++;
    s->count++;
    return false;
}

exact_set *exact_set_new(kit_secret secret, uint64_t keys)
{
    exact_set *s = kit_alloc(sizeof *s);
    while (s->shard_bits < SHARD_BITS_MOST && keys >> s->shard_bits > KEYS_PER_SHARD)
        s->shard_bits++;
    size_t n = (size_t)1 << s->shard_bits;
    s->shards = kit_alloc(n * sizeof *s->shards);
    seen_hasher_init(&s->first, SEEN_HASH_KEYED, secret.low, secret.high);
    seen_hasher_init(&s->second, SEEN_HASH_KEYED,
                     seen_hash_seeded(2, &secret, sizeof secret),
                     seen_hash_seeded(3, &secret, sizeof secret));
    /* Of different sizes, so that they do not grow all at the same time. */
    for (size_t i = 0; i < n; i++)
        map_slots(s, &s->shards[i], 512 + i * 64 / n);
    return s;
}

void exact_set_free(exact_set *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < (size_t)1 << s->shard_bits; i++)
        unmap_slots(s, &s->shards[i]);
    free(s->shards);
    free(s);
}

void exact_set_add(exact_set *s, const seen_key *keys, size_t n, bool *dup)
{
    uint64_t print[BATCH], second[BATCH];
    for (size_t k; n; keys += k, dup += k, n -= k) {
        k = n < BATCH ? n : BATCH;
        seen_hasher_many(&s->first, keys, k, print);
        seen_hasher_many(&s->second, keys, k, second);
        shard *of[BATCH];
        for (size_t i = 0; i < k; i++) {
            of[i] = &s->shards[s->shard_bits ? second[i] >> (64 - s->shard_bits) : 0];
            print[i] >>= 64 - BITS;
            print[i] -= print[i] == (1ull << BITS) - 1;
            __builtin_prefetch(of[i]->slots + place_of(of[i], print[i]) * SLOT);
        }
        for (size_t i = 0; i < k; i++)
            dup[i] = add_print(s, of[i], print[i]);
    }
}

uint64_t exact_set_count(const exact_set *s)
{
    return s->count;
}

uint64_t exact_set_bytes(const exact_set *s)
{
    return s->bytes + (sizeof(shard) << s->shard_bits);
}

double exact_set_lost(const exact_set *s)
{
    double n = (double)s->count,
           all = (double)(1ull << BITS) * (double)(1u << s->shard_bits);
    return n * n / 2 / all;
}
