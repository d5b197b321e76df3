/* filter_secret.h - what a fast filter hashes its items with: a secret of 128 bits.
 *
 * Items come from strangers, so that the hash is the library's keyed one. Filters of
 * one server share its secret, because only then can they be merged: it is drawn at
 * random when the first filter is made, and taken from the first filter that is loaded
 * or that a master makes, so that restarts and failovers keep it. Every copy of a
 * filter (RDB, DUMP, chunks, the commands for replicas and the append-only file)
 * carries its secret. With bloom-use-random-seed each filter has one of its own.
 *
 * Filters of earlier versions hash with XXH3 and a seed of 64 bits, and go on so. */
#ifndef SEEN_REDIS_FILTER_SECRET_H
#define SEEN_REDIS_FILTER_SECRET_H
#include "server/module_api.h"
#include "seen.h"

typedef struct filter_secret {
    uint64_t low, high; /* high is 0 without keyed */
    bool keyed;
} filter_secret;

/* For a filter that is made now: *S if it was GIVEN, else one is drawn. REPLAYED: a
 * master or the append-only file says so, and then its secret becomes the server's, if
 * that has none yet. (A user must not choose the secret of others.) False if the system
 * has no random bytes to draw it from. */
bool secret_choose(bool replayed, bool given, filter_secret *s);
/* The same for a filter whose bytes were read, if the server is loading. */
void secret_loaded(filter_secret s);

static inline bool secret_same(filter_secret a, filter_secret b)
{
    return a.keyed == b.keyed && a.low == b.low && a.high == b.high;
}

/* A hasher of S; of another hash for each USE. */
void secret_hasher(filter_secret s, uint64_t use, seen_hasher *out);

/* SEED: 32 bytes. Of any others but the words of an XXH3 seed (eight bytes and 24
 * zeros), a keyed hash is made. False if S has another length. */
enum { SECRET_WORD = 32 };
bool secret_from_word(const rm_str *s, filter_secret *out);
void secret_to_word(filter_secret s, char word[SECRET_WORD]);
#endif
