/* visited.c - libseen's filter behind the crawler's question. */
#include "visited.h"
#include "say.h"

#include <stdlib.h>

struct visited {
    seen_filter *f;
    uint64_t capacity; /* 0: any number */
};

visited *visited_new(const config *c, uint64_t seed, uint64_t keys)
{
    visited *v = kit_alloc(sizeof *v);
    /* Of the kinds that can grow by adding, a cuckoo filter needs the fewest bits at
     * this error, and touches two cache lines. */
    seen_spec spec = {.kind = c->exact ? SEEN_SET : SEEN_CUCKOO,
                      .keys = keys + keys / 64 + 64, /* one page's links over it */
                      .error = c->exact ? 0 : c->error,
                      .seed = seed};
    if (seen_new(&spec, &v->f) < 0)
        kit_die("the set of visited addresses: %s", seen_reason());
    v->capacity = c->exact ? 0 : keys;
    return v;
}

void visited_free(visited *v)
{
    if (v)
        seen_free(v->f);
    free(v);
}

/* A cuckoo filter keeps a copy for each add, so only new addresses may be added. A batch
 * may hold an address twice, so those that look new are asked for again. */
void visited_add(visited *v, const seen_key *keys, size_t n, bool *dup)
{
    seen_has_many(v->f, keys, n, dup);
    for (size_t i = 0; i < n; i++) {
        if (dup[i] || (dup[i] = seen_has(v->f, keys[i].data, keys[i].len)))
            continue;
        if (seen_add(v->f, keys[i].data, keys[i].len) < 0)
            kit_die("the set of visited addresses: %s", seen_reason());
    }
}

bool visited_full(const visited *v)
{
    return v->capacity && seen_added(v->f) > v->capacity;
}

uint64_t visited_count(const visited *v)
{
    return seen_added(v->f);
}

uint64_t visited_bytes(const visited *v)
{
    return seen_bytes(v->f);
}

double visited_lost(const visited *v)
{
    return seen_lost_expected(v->f);
}
