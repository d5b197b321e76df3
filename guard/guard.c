/* guard.c - opening, asking and the account of it. */
#include "guard_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local char reason[400];

int sn_guard_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    return code;
}

const char *seen_guard_reason(void)
{
    return reason;
}

int64_t sn_guard_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool sn_guard_is_ours(const seen_guard *g)
{
    return g->c->tag == g->tag;
}

int seen_guard_open(const seen_guard_config *config, seen_guard **out)
{
    *out = NULL;
    if (!config->path || !config->db.get || !config->db.scan)
        return sn_guard_fail(SEEN_EINVAL,
                             "a guard needs a path and a database to ask and scan");
    if (config->value_ttl_ms > 1800000 || config->error < 0 || config->error >= 1)
        return sn_guard_fail(SEEN_EINVAL, "value_ttl_ms or error is out of range");
    seen_guard *g = calloc(1, sizeof *g);
    if (!g)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    g->config = *config;
    g->config.tag = NULL;
#define DEFAULT(field, x) g->config.field = config->field ? config->field : (x)
    DEFAULT(keys, 100000);
    DEFAULT(error, 0.01);
    DEFAULT(value_ttl_ms, 300000);
    DEFAULT(marker_ttl_ms, 5000);
    DEFAULT(lease_ms, 2000);
    DEFAULT(wait_ms, 1000);
    DEFAULT(worn, 0.3);
#undef DEFAULT
    g->tag = config->tag ? seen_hash_seeded(1, config->tag, strlen(config->tag)) : 1;
    g->c = sn_control_open(config->path, g->tag);
    int rc = g->c ? sn_gate_open(&g->gate, g->c, config->path) : SEEN_EIO;
    if (rc < 0) {
        if (g->c)
            sn_control_close(g->c);
        free(g);
        return rc;
    }
    g->config.path = g->gate.path;
    sn_flights_init(&g->flights);
    pthread_mutex_init(&g->wake_lock, NULL);
    pthread_cond_init(&g->wake, NULL);
    if (config->flags & SEEN_GUARD_BACKGROUND && sn_guard_start_thread(g) < 0) {
        memset(&g->config.db, 0, sizeof g->config.db); /* still the caller's */
        memset(&g->config.cache, 0, sizeof g->config.cache);
        seen_guard_close(g);
        return SEEN_ENOMEM;
    }
    *out = g;
    return 0;
}

void seen_guard_close(seen_guard *g)
{
    if (!g)
        return;
    sn_guard_stop_thread(g);
    if (g->config.cache.close)
        g->config.cache.close(g->config.cache.ctx);
    if (g->config.db.close)
        g->config.db.close(g->config.db.ctx);
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->wake_lock);
    sn_flights_destroy(&g->flights);
    sn_gate_close(&g->gate);
    sn_control_close(g->c);
    free(g);
}

/* ---- asking ---------------------------------------------------------------------- */

static int query(seen_guard *g, const void *key, size_t len, seen_guard_bytes *value)
{
    int rc = g->config.db.get(g->config.db.ctx, key, len, value);
    g->n.queries++;
    if (rc == 0)
        g->n.misses++;
    if (rc < 0)
        g->n.db_errors++;
    return rc;
}

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
                const void *key, size_t len, seen_guard_bytes *value)
{
    const seen_guard_cache *cache = &g->config.cache;
    int rc = query(g, key, len, value), done;
    if (rc == 1)
        done = cache->fill(cache->ctx, name, name_len, token, value,
                           g->config.value_ttl_ms);
    else if (rc == 0 && !(g->config.flags & SEEN_GUARD_NO_MARKERS))
        done = cache->fill(cache->ctx, name, name_len, token, NULL,
                           g->config.marker_ttl_ms);
    else
        done = cache->release(cache->ctx, name, name_len, token);
    if (done < 0)
        g->n.cache_errors++;
    return rc;
}

/* Asks the cache once: 1, 0 or an error of the database as for seen_guard_get, or
 * LATER if another is filling the entry, or PAST if the cache is no help. */
enum { LATER = 100, PAST = 101 };
static int ask_cache(seen_guard *g, uint64_t hash, const void *key, size_t len,
                     seen_guard_bytes *value)
{
    const seen_guard_cache *cache = &g->config.cache;
    size_t name_len;
    if (!cache->get)
        return PAST;
    for (int tries = 0; tries < 3; tries++) {
        uint64_t epoch = g->c->epoch, server = 0;
        /* An entry can be out of date only while its key is being written. That is
         * looked at before the entry: what is committed later is later than us. */
        if (sn_control_writing(g->c, hash)) {
            g->n.past_cache++;
            return PAST;
        }
        char *name = cache_key(epoch, key, len, &name_len);
        if (!name)
            return PAST;
        uint64_t token = ++g->c->tokens ^ g->c->seed;
        int rc = cache->get(cache->ctx, name, name_len, token, g->config.lease_ms,
                            value, &server);
        if (rc >= 0 && (g->c->server != server || g->c->epoch != epoch)) {
            /* Another server than the entries were dropped from, so it may hold old
             * ones; the epoch is changed first, so that who sees the server sees it. */
            if (g->c->server != server) {
                g->c->epoch++;
                g->c->server = server;
            }
            free(name);
            free(value->data);
            *value = (seen_guard_bytes){NULL, 0};
            continue;
        }
        if (rc == SEEN_GUARD_LEASED) {
            rc = fill(g, name, name_len, token, key, len, value);
        } else if (rc == SEEN_GUARD_HIT) {
            g->n.hits++;
        } else if (rc == SEEN_GUARD_MARKER) {
            g->n.markers++;
        } else if (rc == SEEN_GUARD_BUSY) {
            rc = LATER;
        } else {
            g->n.cache_errors++;
            rc = PAST;
        }
        free(name);
        return rc;
    }
    return PAST;
}

/* flight_fetch: waits for the entry that another is filling, up to wait_ms. */
typedef struct fetching {
    seen_guard *g;
    uint64_t hash;
    bool no_cache;
} fetching;

static int fetch(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    fetching *f = ctx;
    int64_t end = sn_guard_now_ms() + f->g->config.wait_ms;
    for (unsigned pause = 500; !f->no_cache; pause += pause < 10000 ? pause : 0) {
        int rc = ask_cache(f->g, f->hash, key, len, value);
        if (rc != LATER && rc != PAST)
            return rc;
        if (rc == PAST || sn_guard_now_ms() >= end)
            break;
        usleep(pause);
    }
    return query(f->g, key, len, value);
}

int seen_guard_get(seen_guard *g, const void *key, size_t len, seen_guard_bytes *value)
{
    seen_guard_bytes got = {NULL, 0};
    uint64_t hash = seen_hash_seeded(g->c->seed, key, len);
    g->n.gets++;
    if (!(g->config.flags & SEEN_GUARD_NO_FILTER)) {
        enum gate_answer a =
            sn_guard_is_ours(g) ? sn_gate_ask(&g->gate, hash) : GATE_OPEN;
        if (a == GATE_NO) {
            g->n.refused++;
            return 0;
        }
        if (a == GATE_OPEN)
            g->n.open++;
    }
    int rc = ask_cache(g, hash, key, len, &got);
    if (rc == LATER || rc == PAST) {
        bool joined;
        fetching f = {g, hash, rc == PAST};
        rc = sn_flights_fetch(&g->flights, hash, key, len, fetch, &f, &got, &joined);
        if (joined)
            g->n.joined++;
    }
    if (rc == 1 && value)
        *value = got;
    else
        free(got.data);
    return rc;
}

/* ---- account --------------------------------------------------------------------- */

void seen_guard_get_stats(seen_guard *g, seen_guard_stats *s)
{
    static const char *const why[] = {"loading", "stale", "lost"};
    const control *c = g->c;
    memset(s, 0, sizeof *s);
#define COPY(field) s->field = g->n.field
    COPY(gets), COPY(refused), COPY(open), COPY(hits), COPY(markers), COPY(joined);
    COPY(queries), COPY(misses), COPY(past_cache), COPY(cache_errors), COPY(db_errors);
    COPY(writes), COPY(doubts), COPY(builds), COPY(build_errors);
#undef COPY
    s->generation = word_live(c->word);
    s->state = !sn_guard_is_ours(g) ? "foreign"
               : s->generation      ? "enforcing"
               : c->suspended       ? "suspended"
                                    : why[c->why < 3 ? c->why : 0];
    s->keys = c->built + c->added;
    s->deleted = c->deleted;
    s->capacity = c->capacity;
    s->bytes = sn_gate_bytes(&g->gate);
    for (size_t i = 0; i < CONTROL_SLOTS; i++)
        s->in_flight += c->slot[i].owner != 0;
}
