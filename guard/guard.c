/* guard.c - opens a guard and answers questions: filter, then cache, then database. */
#include "guard_inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- the clock ------------------------------------------------------------------- */

int64_t sn_guard_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct timespec sn_guard_deadline(unsigned ms_from_now)
{
    int64_t end = sn_guard_now_ms() + ms_from_now;
    return (struct timespec){end / 1000, end % 1000 * 1000000};
}

void sn_guard_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

/* ---- opening --------------------------------------------------------------------- */

bool sn_guard_is_ours(seen_guard *g)
{
    return g->control->tag == g->tag && !sn_control_gone(&g->file, CONTROL_LOOK_MS);
}

static int check_config(const seen_guard_config *config)
{
    if (!config->path || !config->db.get || !config->db.scan)
        return sn_guard_fail(SEEN_EINVAL, "a guard needs .path, .db.get and .db.scan");
    if (config->value_ttl_ms > 1800000)
        return sn_guard_fail(SEEN_EINVAL, ".value_ttl_ms is above half an hour");
    if (!(config->error >= 0 && config->error < 1))
        return sn_guard_fail(SEEN_EINVAL, ".error is not between 0 and 1");
    if (!(config->worn >= 0 && config->worn <= 1))
        return sn_guard_fail(SEEN_EINVAL, ".worn is not between 0 and 1");
    if (config->flags & ~(unsigned)SEEN_GUARD_FLAGS)
        return sn_guard_fail(SEEN_EINVAL, ".flags has unknown bits: 0x%x",
                             config->flags & ~(unsigned)SEEN_GUARD_FLAGS);
    for (size_t i = 0; i < sizeof config->reserved / sizeof *config->reserved; i++)
        if (config->reserved[i])
            return sn_guard_fail(SEEN_EINVAL, ".reserved must be 0");
    return 0;
}

static uint64_t tag_of(const seen_guard_config *config)
{
    const char *text[] = {config->db.identity, config->tag};
    uint64_t tag = 1;
    for (int i = 0; i < 2; i++)
        if (text[i])
            tag = seen_hash_seeded(tag + (uint64_t)i, text[i], strlen(text[i]));
    return tag;
}

static void fork_lock(void *ctx)
{
    pthread_mutex_lock(&((seen_guard *)ctx)->wake_lock);
}
static void fork_unlock(void *ctx)
{
    pthread_mutex_unlock(&((seen_guard *)ctx)->wake_lock);
}
static void fork_child(void *ctx)
{
    seen_guard *g = ctx;
    g->running = false; /* threads stay with the parent */
    pthread_mutex_init(&g->wake_lock, NULL);
    sn_guard_cond_init(&g->wake);
}

int seen_guard_open(const seen_guard_config *config, seen_guard **out)
{
    *out = NULL;
    int rc = check_config(config);
    if (rc < 0)
        return rc;
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
    g->tag = tag_of(config);
    rc = sn_control_open(&g->file, config->path, g->tag);
    if (rc < 0) {
        free(g);
        return rc;
    }
    g->control = g->file.mapped;
    g->config.path = g->file.path;
    sn_mapped_open(&g->filters, g->control, g->file.path);
    sn_flight_init(&g->flights);
    pthread_mutex_init(&g->wake_lock, NULL);
    sn_guard_cond_init(&g->wake);
    g->fork = (fork_watch){g, fork_lock, fork_unlock, fork_child};
    sn_fork_watch(&g->fork);
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
    sn_fork_unwatch(&g->fork);
    if (g->config.cache.close)
        g->config.cache.close(g->config.cache.ctx);
    if (g->config.db.close)
        g->config.db.close(g->config.db.ctx);
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->wake_lock);
    sn_flight_destroy(&g->flights);
    sn_mapped_close(&g->filters);
    sn_control_close(&g->file);
    free(g);
}

/* ---- asking ---------------------------------------------------------------------- */

void sn_guard_count_db_error(seen_guard *g, int code)
{
    g->count.db_errors++;
    if (code == SEEN_GUARD_CROWDED)
        g->count.crowded++;
    if (code == SEEN_GUARD_TIMEOUT)
        g->count.timeouts++;
}

static int query(seen_guard *g, const void *key, size_t len, seen_guard_bytes *value)
{
    int rc = g->config.db.get(g->config.db.ctx, key, len, value);
    g->count.queries++;
    if (rc == 0)
        g->count.misses++;
    if (rc < 0)
        sn_guard_count_db_error(g, rc);
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
        g->count.cache_errors++;
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
        uint64_t epoch = g->control->epoch, server = 0;
        /* An entry can be out of date only while its key is being written. The marks
         * are read before the entry: what is committed later is later than us. */
        if (sn_control_writing(g->control, hash)) {
            g->count.past_cache++;
            return PAST;
        }
        char *name = cache_key(epoch, key, len, &name_len);
        if (!name)
            return PAST;
        uint64_t token = ++g->control->tokens ^ g->control->seed;
        int rc = cache->get(cache->ctx, name, name_len, token, g->config.lease_ms,
                            value, &server);
        if (rc >= 0 && (g->control->server != server || g->control->epoch != epoch)) {
            /* Not the server that entries were dropped from, so it may hold old ones.
             * The epoch changes first, so that whoever sees the server sees it. */
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
            rc = fill(g, name, name_len, token, key, len, value);
        } else if (rc == SEEN_GUARD_HIT) {
            g->count.hits++;
        } else if (rc == SEEN_GUARD_MARKER) {
            g->count.markers++;
        } else if (rc == SEEN_GUARD_BUSY) {
            rc = LATER;
        } else {
            g->count.cache_errors++;
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

/* What is known of the writes of a key. Rows that come past a suspended guard are not
 * counted, so nothing is known then. */
static flight_writes writes_of(seen_guard *g, uint64_t hash)
{
    const control *c = g->control;
    flight_writes w = {c->writes[hash % CONTROL_WRITES], false};
    w.none = !c->suspended && sn_guard_is_ours(g) && !sn_control_writing(c, hash);
    return w;
}

int seen_guard_get(seen_guard *g, const void *key, size_t len, seen_guard_bytes *value)
{
    seen_guard_bytes got = {NULL, 0};
    uint64_t hash = seen_hash_seeded(g->control->seed, key, len);
    g->count.gets++;
    if (!(g->config.flags & SEEN_GUARD_NO_FILTER)) {
        enum filter_answer a =
            sn_guard_is_ours(g) ? sn_mapped_ask(&g->filters, hash) : FILTER_OPEN;
        if (a == FILTER_NO) {
            g->count.refused++;
            return 0;
        }
        if (a == FILTER_OPEN)
            g->count.open++;
    }
    int rc = ask_cache(g, hash, key, len, &got);
    if (rc == LATER || rc == PAST) {
        bool joined;
        fetching f = {g, hash, rc == PAST};
        rc = sn_flight_fetch(&g->flights, hash, key, len, writes_of(g, hash), fetch, &f,
                             &got, &joined);
        if (joined)
            g->count.joined++;
    }
    if (rc == 1 && value)
        *value = got;
    else
        free(got.data);
    return rc;
}

/* ---- statistics ------------------------------------------------------------------ */

void seen_guard_get_stats(seen_guard *g, seen_guard_stats *s)
{
    static const char *const why[] = {"loading", "stale", "lost"};
    const control *c = g->control;
    memset(s, 0, sizeof *s);
#define COPY(field) s->field = g->count.field
    COPY(gets), COPY(refused), COPY(open), COPY(hits), COPY(markers), COPY(joined);
    COPY(queries), COPY(misses), COPY(past_cache), COPY(cache_errors), COPY(db_errors);
    COPY(crowded), COPY(timeouts), COPY(writes), COPY(doubts), COPY(builds),
        COPY(build_errors);
#undef COPY
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
