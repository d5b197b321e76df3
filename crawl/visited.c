/* visited.c - libseen's filter behind the crawler's question. */
#include "visited.h"
#include "say.h"

#include <stdlib.h>

struct visited {
    seen_filter *f;
};

visited *visited_new(const config *c, uint64_t seed, uint64_t keys)
{
    visited *v = kit_alloc(sizeof *v);
    seen_spec spec = {.kind = c->exact ? SEEN_SET : SEEN_AUTO,
                      .flags = c->exact ? 0 : SEEN_SMALLEST,
                      .keys = keys,
                      .error = c->exact ? 0 : c->error,
                      .seed = seed};
    if (seen_new(&spec, &v->f) < 0)
        kit_die("the set of visited addresses: %s", seen_reason());
    return v;
}

void visited_free(visited *v)
{
    if (v)
        seen_free(v->f);
    free(v);
}

void visited_add(visited *v, const seen_key *keys, size_t n, bool *dup)
{
    if (n && seen_add_many(v->f, keys, n, dup) != n)
        kit_die("the set of visited addresses: %s", seen_reason());
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
