/* fake_adapters.h - a database and a cache in memory, with hooks, so that tests can
 * stop the world between any two steps. */
#ifndef FAKE_ADAPTERS_H
#define FAKE_ADAPTERS_H
#include "seen_guard.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- a table of small numbers as keys; the value is "v" and the number ---- */

enum { FAKE_ROWS = 20000 };
typedef struct fake_db {
    pthread_mutex_t lock;
    _Atomic bool row[FAKE_ROWS];
    _Atomic int queries, running, most_running;
    int fail;                        /* the code that every call returns, 0: works */
    void (*in_get)(void *);          /* called after the row was looked up */
    void (*in_scan)(void *, long n); /* called at the n-th key of a scan, from 0 */
    void *arg;
} fake_db;

static long fake_number(const void *key, size_t len)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)(len < 31 ? len : 31), (const char *)key);
    long n = atol(text);
    return n >= 0 && n < FAKE_ROWS ? n : 0;
}

static int fake_get(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    fake_db *t = ctx;
    int now = ++t->running;
    if (now > t->most_running)
        t->most_running = now;
    t->queries++;
    bool there = t->row[fake_number(key, len)];
    if (t->in_get)
        t->in_get(t->arg);
    t->running--;
    if (t->fail)
        return t->fail;
    if (!there)
        return 0;
    value->data = malloc(len + 2);
    value->len = len + 1;
    memcpy(value->data, "v", 1);
    memcpy((char *)value->data + 1, key, len);
    return 1;
}

static int fake_insert(void *ctx, const void *key, size_t len, const void *v,
                       size_t vlen)
{
    fake_db *t = ctx;
    (void)v;
    (void)vlen;
    if (t->fail)
        return t->fail;
    bool was = t->row[fake_number(key, len)];
    t->row[fake_number(key, len)] = true;
    return !was;
}

static int fake_erase(void *ctx, const void *key, size_t len)
{
    fake_db *t = ctx;
    if (t->fail)
        return t->fail;
    bool was = t->row[fake_number(key, len)];
    t->row[fake_number(key, len)] = false;
    return was;
}

static int fake_scan(void *ctx, int (*each)(void *, const void *, size_t), void *arg)
{
    fake_db *t = ctx;
    static bool seen[FAKE_ROWS];
    long n = 0;
    int rc = t->fail;
    for (long i = 0; i < FAKE_ROWS; i++)
        seen[i] = t->row[i]; /* the snapshot */
    for (long i = 0; i < FAKE_ROWS && rc == 0; i++) {
        if (!seen[i])
            continue;
        if (t->in_scan)
            t->in_scan(t->arg, n);
        n++;
        char key[24];
        rc = each(arg, key, (size_t)sprintf(key, "%ld", i));
    }
    return rc;
}

static seen_guard_db fake_adapter(fake_db *t)
{
    return (seen_guard_db){t, fake_get, fake_insert, fake_erase, fake_scan, NULL};
}

/* ---- a cache with a hundred entries ---- */

enum { FAKE_ENTRIES = 100 };
typedef struct fake_cache {
    pthread_mutex_t lock;
    struct fake_entry {
        char key[80];
        char text[64]; /* as in Redis: V..., N, L... */
    } entry[FAKE_ENTRIES];
    int fail;
    uint64_t server;
    _Atomic int drops;
} fake_cache;

static struct fake_entry *fake_entry(fake_cache *c, const void *key, size_t len,
                                     bool make)
{
    struct fake_entry *empty = NULL;
    for (int i = 0; i < FAKE_ENTRIES; i++) {
        struct fake_entry *e = c->entry + i;
        if (e->text[0] && strlen(e->key) == len && memcmp(e->key, key, len) == 0)
            return e;
        if (!e->text[0])
            empty = e;
    }
    if (!make || !empty)
        return NULL;
    snprintf(empty->key, sizeof empty->key, "%.*s", (int)len, (const char *)key);
    return empty;
}

static void fake_lease(char *text, uint64_t token)
{
    snprintf(text, 40, "L%016llx", (unsigned long long)token);
}

static int fake_cache_get(void *ctx, const void *key, size_t len, uint64_t token,
                          unsigned lease_ms, seen_guard_bytes *value, uint64_t *server)
{
    fake_cache *c = ctx;
    (void)lease_ms;
    *server = c->server;
    if (c->fail)
        return c->fail;
    pthread_mutex_lock(&c->lock);
    struct fake_entry *e = fake_entry(c, key, len, true);
    int rc = !e                ? SEEN_EIO
             : !e->text[0]     ? SEEN_GUARD_LEASED
             : *e->text == 'V' ? SEEN_GUARD_HIT
             : *e->text == 'N' ? SEEN_GUARD_MARKER
                               : SEEN_GUARD_BUSY;
    if (rc == SEEN_GUARD_LEASED)
        fake_lease(e->text, token);
    if (rc == SEEN_GUARD_HIT) {
        value->data = strdup(e->text + 1);
        value->len = strlen(e->text + 1);
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static int fake_cache_set(fake_cache *c, const void *key, size_t len, uint64_t token,
                          const char *text)
{
    char lease[40];
    int rc = c->fail;
    if (rc)
        return rc;
    fake_lease(lease, token);
    pthread_mutex_lock(&c->lock);
    struct fake_entry *e = fake_entry(c, key, len, false);
    if (e && strcmp(e->text, lease) == 0) {
        snprintf(e->text, sizeof e->text, "%s", text);
        rc = 1;
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

static int fake_cache_fill(void *ctx, const void *key, size_t len, uint64_t token,
                           const seen_guard_bytes *value, unsigned ttl_ms)
{
    char text[64] = "N";
    (void)ttl_ms;
    if (value)
        snprintf(text, sizeof text, "V%.*s", (int)value->len,
                 (const char *)value->data);
    return fake_cache_set(ctx, key, len, token, text);
}

static int fake_cache_release(void *ctx, const void *key, size_t len, uint64_t token)
{
    return fake_cache_set(ctx, key, len, token, "");
}

static int fake_cache_drop(void *ctx, const void *key, size_t len)
{
    fake_cache *c = ctx;
    c->drops++;
    if (c->fail)
        return c->fail;
    pthread_mutex_lock(&c->lock);
    struct fake_entry *e = fake_entry(c, key, len, false);
    if (e)
        e->text[0] = 0;
    pthread_mutex_unlock(&c->lock);
    return 0;
}

__attribute__((unused)) static seen_guard_cache fake_cache_adapter(fake_cache *c)
{
    return (seen_guard_cache){
        c, fake_cache_get, fake_cache_fill, fake_cache_release, fake_cache_drop, NULL};
}
#endif
