/* guard.c - the public calls: opens a guard, asks, writes, builds. The backend decides
 * what is shared, and with whom (guard_internal.h). */
#include "guard_internal.h"

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

static int check_config(const seen_guard_config *config)
{
    if (!config->db.get || !config->db.scan)
        return sn_guard_fail(SEEN_EINVAL, "a guard needs .db.get and .db.scan");
    if (!config->path == !config->shared)
        return sn_guard_fail(SEEN_EINVAL,
                             "a guard needs .path or .shared, and not both");
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
    g->backend = config->shared ? &sn_shared_backend : &sn_local_backend;
    rc = config->shared ? sn_shared_backend_open(g, config)
                        : sn_local_backend_open(g, config);
    if (rc < 0) {
        free(g);
        return rc;
    }
    sn_flight_init(&g->flights);
    pthread_mutex_init(&g->wake_lock, NULL);
    sn_guard_cond_init(&g->wake);
    g->fork = (fork_watch){g, NULL, NULL, fork_child};
    sn_fork_watch(&g->fork);
    if ((config->flags & SEEN_GUARD_BACKGROUND || g->backend->keep) &&
        sn_guard_start_thread(g) < 0) {
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
    g->backend->close(g);
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

int sn_guard_query(seen_guard *g, const question *q, seen_guard_bytes *value)
{
    int rc = g->config.db.get(g->config.db.ctx, q->key, q->len, value);
    g->count.queries++;
    if (rc == 0)
        g->count.misses++;
    if (rc < 0)
        sn_guard_count_db_error(g, rc);
    return rc;
}

/* flight_fetch: waits for the entry that another is filling, up to wait_ms. */
typedef struct fetching {
    seen_guard *g;
    question *q;
    bool no_cache;
} fetching;

static int fetch(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    fetching *f = ctx;
    int64_t end = sn_guard_now_ms() + f->g->config.wait_ms;
    (void)key;
    (void)len;
    for (unsigned pause = 500; !f->no_cache; pause += pause < 10000 ? pause : 0) {
        int rc = f->g->backend->ask(f->g, f->q, false, value);
        if (rc != ASK_LATER && rc != ASK_PAST)
            return rc;
        if (rc == ASK_PAST || sn_guard_now_ms() >= end)
            break;
        usleep(pause);
    }
    return sn_guard_query(f->g, f->q, value);
}

int seen_guard_get(seen_guard *g, const void *key, size_t len, seen_guard_bytes *value)
{
    seen_guard_bytes got = {NULL, 0};
    question q = {key, len, 0};
    g->count.gets++;
    int rc = g->backend->ask(g, &q, !(g->config.flags & SEEN_GUARD_NO_FILTER), &got);
    if (rc == ASK_LATER || rc == ASK_PAST) {
        bool joined;
        fetching f = {g, &q, rc == ASK_PAST};
        rc = sn_flight_fetch(&g->flights, q.hash, key, len, g->backend->writes(g, &q),
                             fetch, &f, &got, &joined);
        if (joined)
            g->count.joined++;
    }
    if (rc == 1 && value)
        *value = got;
    else
        free(got.data);
    return rc;
}

/* ---- writing --------------------------------------------------------------------- */

int seen_guard_begin(seen_guard *g, const seen_key *keys, size_t n,
                     seen_guard_write **out)
{
    *out = NULL;
    if (n > SEEN_GUARD_BATCH)
        return sn_guard_fail(SEEN_ETOOBIG, "%zu keys in one write, %d are possible", n,
                             SEEN_GUARD_BATCH);
    return g->backend->begin(g, keys, n, true, out);
}

void seen_guard_end(seen_guard_write *w, int outcome, uint64_t deleted)
{
    if (outcome == SEEN_GUARD_UNKNOWN)
        w->g->count.doubts++;
    w->g->backend->end(w, outcome, deleted);
}

/* Runs one statement of the adapter between begin and end. */
static int write_one(seen_guard *g, const void *key, size_t len, const void *value,
                     size_t vlen, bool erase)
{
    const seen_guard_db *db = &g->config.db;
    seen_guard_write *w;
    seen_key k = {key, len};
    if (erase ? !db->erase : !db->insert)
        return sn_guard_fail(SEEN_EKIND,
                             "the database was given no statement for that");
    int rc = g->backend->begin(g, &k, 1, !erase, &w);
    if (rc < 0)
        return rc;
    rc = erase ? db->erase(db->ctx, key, len)
               : db->insert(db->ctx, key, len, value, vlen);
    if (rc < 0)
        sn_guard_count_db_error(g, rc);
    seen_guard_end(w,
                   rc == SEEN_GUARD_DOUBT ? SEEN_GUARD_UNKNOWN
                   : rc < 0               ? SEEN_GUARD_ABORTED
                                          : SEEN_GUARD_COMMITTED,
                   erase && rc > 0);
    return rc;
}

int seen_guard_insert(seen_guard *g, const void *key, size_t len, const void *value,
                      size_t vlen)
{
    return write_one(g, key, len, value, vlen, false);
}

int seen_guard_erase(seen_guard *g, const void *key, size_t len)
{
    return write_one(g, key, len, NULL, 0, true);
}

/* ---- building -------------------------------------------------------------------- */

int seen_guard_build(seen_guard *g)
{
    return g->backend->build(g, true);
}

int seen_guard_suspend(seen_guard *g)
{
    return g->backend->suspend(g);
}

/* Rebuilt with twice the room, and fourfold if the table turns out to have more. */
static const seen_growth next_build = {.step = {{0, 2, 1}}},
                         retry = {.step = {{0, 4, 1}}};

uint64_t sn_guard_room(const seen_guard *g, uint64_t known)
{
    uint64_t room = seen_growth_next(&next_build, known);
    return g->config.keys < room ? room : g->config.keys;
}

uint64_t sn_guard_more(uint64_t room)
{
    uint64_t more = seen_growth_next(&retry, room);
    return more ? more : room;
}

int sn_guard_built(seen_guard *g, int rc)
{
    if (rc == 0) {
        g->count.builds++;
        return 1;
    }
    if (rc > 0)
        rc = sn_guard_fail(SEEN_EIO,
                           "given up: a writer could not add to the new filter, "
                           "or the guard is suspended or closed");
    g->count.build_errors++;
    return rc;
}

/* ---- statistics ------------------------------------------------------------------ */

void seen_guard_get_stats(seen_guard *g, seen_guard_stats *s)
{
    memset(s, 0, sizeof *s);
#define COPY(field) s->field = g->count.field
    COPY(gets), COPY(refused), COPY(open), COPY(hits), COPY(markers), COPY(joined);
    COPY(queries), COPY(misses), COPY(past_cache), COPY(cache_errors), COPY(db_errors);
    COPY(crowded), COPY(timeouts), COPY(writes), COPY(doubts), COPY(builds);
    COPY(build_errors);
#undef COPY
    g->backend->stats(g, s);
}
