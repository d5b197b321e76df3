/* hasher.c - makes hashers from seeds and hashes keys with them, one or many. */
#include "hash/hasher.h"
#include "base/fail.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>

/* The hash of a filter if its specification names none. */
#define USUAL SEEN_HASH_KEYED

int sn_hasher_init(sn_hasher *h, uint32_t id, uint64_t seed, uint64_t seed_high)
{
    id = id == SEEN_HASH_DEFAULT ? USUAL : id;
    if (id != SEEN_HASH_XXH3 && id != SEEN_HASH_XXH64 && id != SEEN_HASH_KEYED)
        return sn_fail(SEEN_EINVAL, "there is no hash number %u", id);
    if (id != SEEN_HASH_KEYED && seed_high)
        return sn_fail(SEEN_EINVAL, "only the keyed hash has a seed of 128 bits");
    memset(h, 0, sizeof *h);
    h->id = id;
    h->seed = seed;
    h->seed_high = seed_high;
    if (id == SEEN_HASH_KEYED)
        sn_keyed_init(&h->keyed, seed, seed_high);
    return SEEN_OK;
}

static const sn_hasher *inside(const seen_hasher *h)
{
    _Static_assert(sizeof(sn_hasher) <= sizeof(seen_hasher), "it fits");
    return (const sn_hasher *)(const void *)h->opaque;
}

int sn_hasher_of(sn_hasher *h, const seen_hasher *hasher, uint32_t id, uint64_t seed,
                 uint64_t seed_high)
{
    if (!hasher)
        return sn_hasher_init(h, id, seed, seed_high);
    if (id || seed || seed_high)
        return sn_fail(SEEN_EINVAL, "a hasher has its hash and seed: give no others");
    if (!inside(hasher)->id)
        return sn_fail(SEEN_EINVAL, "the hasher was not made by the library");
    *h = *inside(hasher);
    return SEEN_OK;
}

void sn_hasher_many(const sn_hasher *h, const seen_key *keys, size_t n, uint64_t *out)
{
    switch (h->id) {
    case SEEN_HASH_KEYED:
        sn_keyed_many(&h->keyed, keys, n, out);
        return;
    case SEEN_HASH_XXH3:
        for (size_t i = 0; i < n; i++)
            out[i] = sn_hash(h->seed, keys[i].data, keys[i].len);
        return;
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = sn_xxh64(keys[i].data, keys[i].len, h->seed);
    }
}

/* ---- public ---------------------------------------------------------------------- */

int seen_random_bytes(void *to, size_t len)
{
    for (uint8_t *p = to; len;) {
        ssize_t n = getrandom(p, len < 256 ? len : 256, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sn_fail(SEEN_EIO, "the system has no random numbers: %s",
                           strerror(errno));
        p += n;
        len -= (size_t)n;
    }
    return SEEN_OK;
}

int seen_hasher_init(seen_hasher *h, uint32_t id, uint64_t seed, uint64_t seed_high)
{
    memset(h, 0, sizeof *h);
    return sn_hasher_init((sn_hasher *)(void *)h->opaque, id, seed, seed_high);
}

uint64_t seen_hasher_hash(const seen_hasher *h, const void *key, size_t len)
{
    return sn_hasher_hash(inside(h), key, len);
}

void seen_hasher_many(const seen_hasher *h, const seen_key *keys, size_t n,
                      uint64_t *out)
{
    sn_hasher_many(inside(h), keys, n, out);
}

uint64_t seen_hash_seeded(uint64_t seed, const void *key, size_t len)
{
    return sn_hash(seed, key, len);
}
