/* shards.c - a set of fingerprints in shards, for several threads at once.
 *
 * The low bits of a hash choose the shard: a set goes by the high ones. When one shard
 * doubles the threads at the others go on. */
#include "shards.h"
#include "say.h"
#include "sizing.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A set that begins with this many doubles through powers of two, which waste least of
 * a last huge page. */
enum { FIRST_KEYS = 1023 * 7 };

struct shards {
    uint64_t seed;
    seen_filter *set[SHARDS];
    _Atomic uint64_t bytes;
};

shards *shards_new(uint64_t keys)
{
    shards *s = kit_alloc(sizeof *s);
    double mean = (double)keys / SHARDS;
    seen_spec spec = {.kind = SEEN_SET, .keys = FIRST_KEYS};
    if (keys) /* and six sigma, as no shard gets just its share */
        spec.keys = (uint64_t)(mean + 6 * sqrt(mean)) + 1;
    for (unsigned i = 0; i < SHARDS; i++) {
        s->set[i] = sizing_make(&spec);
        spec.seed = s->seed = seen_seed(s->set[i]);
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

uint64_t shards_seed(const shards *s)
{
    return s->seed;
}

void shards_sort(batch *b)
{
    if (b->n > b->sorted_room) {
        b->sorted_room = b->room;
        b->sorted_hash = kit_grow(b->sorted_hash, b->room, sizeof *b->sorted_hash);
        b->sorted_line = kit_grow(b->sorted_line, b->room, sizeof *b->sorted_line);
        b->sorted_dup = kit_grow(b->sorted_dup, b->room, sizeof *b->sorted_dup);
    }
    size_t to[SHARDS + 1] = {0};
    for (size_t i = 0; i < b->n; i++)
        to[b->hash[i] % SHARDS + 1]++;
    for (unsigned i = 0; i < SHARDS; i++)
        b->sorted_from[i + 1] = to[i + 1] += to[i];
    for (size_t i = 0; i < b->n; i++) {
        size_t at = to[b->hash[i] % SHARDS]++;
        b->sorted_hash[at] = b->hash[i];
        b->sorted_line[at] = i;
    }
}

void shards_add(shards *s, batch *b, unsigned i)
{
    size_t from = b->sorted_from[i], n = b->sorted_from[i + 1] - from;
    const size_t *line = b->sorted_line + from;
    const bool *dup = b->sorted_dup + from;
    uint64_t before = seen_bytes(s->set[i]);
    if (seen_add_hashes(s->set[i], b->sorted_hash + from, n, b->sorted_dup + from) < n)
        kit_die("%s", seen_reason());
    atomic_fetch_add(&s->bytes, seen_bytes(s->set[i]) - before);
    for (size_t j = 0; j < n; j++)
        b->dup[line[j]] = dup[j];
}

uint64_t shards_bytes(const shards *s)
{
    return s->bytes;
}

/* Hashes in a shard share the bits that chose it, so they meet that much sooner than
 * the library, which does not know, expects. */
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
