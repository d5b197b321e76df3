/* visited.c - a filter of libseen, or exact fingerprints, behind the crawler's
 * question. */
#include "visited.h"
#include "exact_set.h"
#include "messages.h"
#include "seed.h"

#include <stdlib.h>

struct visited {
    seen_filter *f; /* one of the two */
    exact_set *exact;
    uint64_t capacity; /* of the filter, or where more shards are worth while */
};

visited *visited_new(const config *c, uint64_t seed, uint64_t keys)
{
    visited *v = kit_alloc(sizeof *v);
    /* The set is filled again from the log, so half of the secret need not be kept. */
    kit_secret secret = {seed, kit_new_secret().high};
    if (c->exact) {
        v->exact = exact_set_new(secret, keys);
        v->capacity = keys < 4000000 ? 16 * keys : UINT64_MAX;
        return v;
    }
    /* Of the kinds that can grow by adding, a cuckoo filter needs the fewest bits at
     * this error, and touches two cache lines. */
    seen_spec spec = {.kind = SEEN_CUCKOO,
                      .flags = SEEN_ONCE,
                      .keys = keys + keys / 64 + 64, /* one page's links over it */
                      .error = c->error,
                      .seed = secret.low,
                      .seed_high = secret.high};
    if (seen_new(&spec, &v->f) < 0)
        kit_die("the set of visited addresses: %s", seen_reason());
    seen_set_keys(v->f, SEEN_KEYS_TEXT);
    v->capacity = keys;
    return v;
}

void visited_free(visited *v)
{
    if (!v)
        return;
    exact_set_free(v->exact);
    seen_free(v->f);
    free(v);
}

void visited_add(visited *v, const seen_key *keys, size_t n, bool *dup)
{
    if (v->exact)
        exact_set_add(v->exact, keys, n, dup);
    else if (seen_add_many(v->f, keys, n, dup, NULL) < 0)
        kit_die("the set of visited addresses: %s", seen_reason());
}

/* So that it stays below 4 bytes per address: a fifth larger, which the log is read for
 * seldom enough, and twice as large below a million. */
static const seen_growth rebuilt = {.step = {{1000000, 2, 1}, {0, 6, 5}}};

uint64_t visited_next(const visited *v)
{
    return seen_growth_next(&rebuilt, visited_count(v));
}

bool visited_full(const visited *v)
{
    return visited_count(v) > v->capacity;
}

uint64_t visited_count(const visited *v)
{
    return v->exact ? exact_set_count(v->exact) : seen_added(v->f);
}

uint64_t visited_bytes(const visited *v)
{
    return v->exact ? exact_set_bytes(v->exact) : seen_bytes(v->f);
}

double visited_lost(const visited *v)
{
    return v->exact ? exact_set_lost(v->exact) : seen_lost_expected(v->f);
}
