/* local_backend.c - filter and marks in memory that the processes of one machine share,
 * and a cache of the caller's choice. */
#include "guard_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sn_local_is_ours(seen_guard *g)
{
    return g->control->tag == g->tag && !sn_control_gone(&g->file, CONTROL_LOOK_MS);
}

int sn_local_backend_open(seen_guard *g, const seen_guard_config *config)
{
    int rc = sn_control_open(&g->file, config->path, g->tag);
    if (rc < 0)
        return rc;
    g->control = g->file.mapped;
    g->config.path = g->file.path;
    sn_mapped_open(&g->filters, g->control, g->file.path);
    return 0;
}

static void close_local(seen_guard *g)
{
    sn_mapped_close(&g->filters);
    sn_control_close(&g->file);
}

/* ---- the cache ------------------------------------------------------------------- */

/* The cache's name of a key: the epoch stands before it. */
static char *cache_key(uint64_t epoch, const void *key, size_t len, size_t *out_len)
{
    char *p = malloc(24 + len);
    if (!p)
        return NULL;
    int n = snprintf(p, 24, "%llu:", (unsigned long long)epoch);
    memcpy(p + n, key, len);
    *out_len = (size_t)n + len;
    return p;
}

/* The holder of the lease TOKEN asks the database and fills the entry NAME. */
static int fill(seen_guard *g, const char *name, size_t name_len, uint64_t token,
                const question *q, seen_guard_bytes *value)
{
    const seen_guard_cache *cache = &g->config.cache;
    int rc = sn_guard_query(g, q, value), done;
    if (rc == 1)
        done = cache->fill(cache->ctx, name, name_len, token, value,
                           g->config.value_ttl_ms);
    else if (rc == 0 && !(g->config.flags & SEEN_GUARD_NO_MARKERS))
        done = cache->fill(cache->ctx, name, name_len, token, NULL,
                           g->config.marker_ttl_ms);
    else
        done = cache->release(cache->ctx, name, name_len, token);
    if (done < 0)
        g->count.cache_errors++;
    return rc;
}

static int ask_cache(seen_guard *g, const question *q, seen_guard_bytes *value)
{
    const seen_guard_cache *cache = &g->config.cache;
    size_t name_len;
    if (!cache->get)
        return ASK_PAST;
    for (int tries = 0; tries < 3; tries++) {
        uint64_t epoch = g->control->epoch, server = 0;
        /* An entry can be out of date only while its key is being written. The marks
         * are read before the entry: a later commit counts as after this question. */
        if (sn_control_writing(g->control, q->hash)) {
            g->count.past_cache++;
            return ASK_PAST;
        }
        char *name = cache_key(epoch, q->key, q->len, &name_len);
        if (!name)
            return ASK_PAST;
        uint64_t token = ++g->control->tokens ^ g->control->seed[0];
        int rc = cache->get(cache->ctx, name, name_len, token, g->config.lease_ms,
                            value, &server);
        if (rc >= 0 && (g->control->server != server || g->control->epoch != epoch)) {
            /* Entries were dropped from another server, so this one may hold old ones.
             * The epoch changes first: a process that sees the new server sees it too.
             */
            if (g->control->server != server) {
                g->control->epoch++;
                g->control->server = server;
            }
            free(name);
            free(value->data);
            *value = (seen_guard_bytes){NULL, 0};
            continue;
        }
        if (rc == SEEN_GUARD_LEASED) {
            rc = fill(g, name, name_len, token, q, value);
        } else if (rc == SEEN_GUARD_HIT) {
            g->count.hits++;
        } else if (rc == SEEN_GUARD_MARKER) {
            g->count.markers++;
        } else if (rc == SEEN_GUARD_BUSY) {
            rc = ASK_LATER;
        } else {
            g->count.cache_errors++;
            rc = ASK_PAST;
        }
        free(name);
        return rc;
    }
    return ASK_PAST;
}

/* ---- asking ---------------------------------------------------------------------- */

static int ask(seen_guard *g, question *q, bool filter_too, seen_guard_bytes *value)
{
    q->hash = seen_hasher_hash(&g->filters.hasher, q->key, q->len);
    if (filter_too) {
        enum filter_answer a =
            sn_local_is_ours(g) ? sn_mapped_ask(&g->filters, q->hash) : FILTER_OPEN;
        if (a == FILTER_NO) {
            g->count.refused++;
            return 0;
        }
        if (a == FILTER_OPEN)
            g->count.open++;
    }
    return ask_cache(g, q, value);
}

/* Rows inserted past a suspended guard are not counted, so nothing is known then. */
static flight_writes writes(seen_guard *g, const question *q)
{
    const control *c = g->control;
    flight_writes w = {c->writes[q->hash % CONTROL_WRITES], false};
    w.none = !c->suspended && sn_local_is_ours(g) && !sn_control_writing(c, q->hash);
    return w;
}

static void stats(seen_guard *g, seen_guard_stats *s)
{
    static const char *const why[] = {"loading", "stale", "lost"};
    const control *c = g->control;
    s->generation = live_of(c->live_and_next);
    s->state = sn_control_gone(&g->file, 0) ? "deleted"
               : c->tag != g->tag           ? "foreign"
               : s->generation              ? "enforcing"
               : c->suspended               ? "suspended"
                                            : why[c->why < 3 ? c->why : 0];
    s->keys = c->built + c->added;
    s->deleted = c->deleted;
    s->capacity = c->capacity;
    s->bytes = sn_mapped_bytes(&g->filters);
    for (size_t i = 0; i < CONTROL_SLOTS; i++)
        s->in_flight += c->slot[i].owner != 0;
}

const guard_backend sn_local_backend = {.ask = ask,
                                        .writes = writes,
                                        .begin = sn_local_begin,
                                        .end = sn_local_end,
                                        .build = sn_local_build,
                                        .suspend = sn_local_suspend,
                                        .due = sn_local_due,
                                        .stats = stats,
                                        .close = close_local};
