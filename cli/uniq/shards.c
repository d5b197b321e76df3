/* shards.c - a set of fingerprints in shards, for several threads at once.
 *
 * The low bits of a hash select the shard, because a set is indexed by the high ones.
 * While one shard doubles, the threads at the others go on. */
#include "shards.h"
#include "messages.h"
#include "seed.h"
#include "filters/sizing.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A set that begins with this many keys doubles through powers of two, which waste the
 * least of the last huge page. */
enum { FIRST_KEYS = 1023 * 7 };

struct shards {
    seen_hasher hasher;
    seen_filter *set[SHARDS];
    _Atomic uint64_t bytes;
};

shards *shards_new(uint64_t keys)
{
    shards *s = kit_alloc(sizeof *s);
    double mean = (double)keys / SHARDS;
    s->hasher = kit_new_hasher(0);
    seen_spec spec = {.kind = SEEN_SET, .keys = FIRST_KEYS, .hasher = &s->hasher};
    if (keys) /* and six sigma, as no shard gets exactly its share */
        spec.keys = (uint64_t)(mean + 6 * sqrt(mean)) + 1;
    for (unsigned i = 0; i < SHARDS; i++) {
        s->set[i] = sizing_make(&spec);
        s->bytes += seen_bytes(s->set[i]);
    }
    return s;
}

void shards_free(shards *s)
{
    for (unsigned i = 0; s && i < SHARDS; i++)
        seen_free(s->set[i]);
    free(s);
}

const seen_hasher *shards_hasher(const shards *s)
{
    return &s->hasher;
}

void shards_sort(shard_order *o, const batch *b)
{
    if (b->n > o->room) {
        o->room = b->n + b->n / 4;
        o->hash = kit_grow(o->hash, o->room, sizeof *o->hash);
        o->line = kit_grow(o->line, o->room, sizeof *o->line);
        o->dup = kit_grow(o->dup, o->room, sizeof *o->dup);
    }
    size_t to[SHARDS + 1] = {0};
    for (size_t i = 0; i < b->n; i++)
        to[b->hash[i] % SHARDS + 1]++;
    for (unsigned i = 0; i < SHARDS; i++)
        o->from[i + 1] = to[i + 1] += to[i];
    for (size_t i = 0; i < b->n; i++) {
        size_t at = to[b->hash[i] % SHARDS]++;
        o->hash[at] = b->hash[i];
        o->line[at] = i;
    }
}

void shard_order_free(shard_order *o)
{
    free(o->hash);
    free(o->line);
    free(o->dup);
}

void shards_add(shards *s, shard_order *o, unsigned i, bool *dup)
{
    size_t from = o->from[i], n = o->from[i + 1] - from;
    uint64_t before = seen_bytes(s->set[i]);
    if (seen_add_hashes(s->set[i], o->hash + from, n, o->dup + from, NULL) < 0)
        kit_die("%s", seen_reason());
    atomic_fetch_add(&s->bytes, seen_bytes(s->set[i]) - before);
    for (size_t j = from; j < from + n; j++)
        dup[o->line[j]] = o->dup[j];
}

uint64_t shards_bytes(const shards *s)
{
    return s->bytes;
}

/* Hashes in a shard share the bits that selected it, so they collide that much sooner
 * than the library, which does not know of shards, expects. */
double shards_lost(const shards *s)
{
    double lost = 0;
    for (unsigned i = 0; i < SHARDS; i++)
        lost += seen_lost_expected(s->set[i]) * SHARDS;
    return lost;
}

double shards_error(const shards *s)
{
    double error = 0;
    for (unsigned i = 0; i < SHARDS; i++)
        error += seen_error_predicted(s->set[i]);
    return error;
}
