/* pool.c - connections opened as needed, kept when idle, left behind in a fork. */
#include "pool.h"
#include "guard_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void locks_init(pool *p)
{
    pthread_mutex_init(&p->lock, NULL);
    sn_guard_cond_init(&p->freed);
}

static void fork_lock(void *ctx)
{
    pthread_mutex_lock(&((pool *)ctx)->lock);
}
static void fork_unlock(void *ctx)
{
    pthread_mutex_unlock(&((pool *)ctx)->lock);
}
static void fork_child(void *ctx)
{
    pool *p = ctx;
    while (p->idle > 0)
        (p->abandon ? p->abandon : p->disconnect)(p->conn[--p->idle]);
    p->open = 0; /* those in use are in use by threads that are not here */
    locks_init(p);
}

int sn_pool_init(pool *p, unsigned most, void *(*connect)(void *),
                 void (*disconnect)(void *), void *ctx)
{
    memset(p, 0, sizeof *p);
    p->most = most ? most : 8;
    p->wait_ms = POOL_WAIT_MS;
    p->connect = connect;
    p->disconnect = disconnect;
    p->ctx = ctx;
    p->conn = calloc(p->most, sizeof *p->conn);
    if (!p->conn)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    locks_init(p);
    p->fork = (fork_watch){p, fork_lock, fork_unlock, fork_child};
    sn_fork_watch(&p->fork);
    return 0;
}

void sn_pool_destroy(pool *p)
{
    sn_fork_unwatch(&p->fork);
    while (p->idle > 0)
        p->disconnect(p->conn[--p->idle]);
    pthread_cond_destroy(&p->freed);
    pthread_mutex_destroy(&p->lock);
    free(p->conn);
}

void *sn_pool_take_or(pool *p, int *code)
{
    int late = 0;
    struct timespec end = sn_guard_deadline(p->wait_ms);
    pthread_mutex_lock(&p->lock);
    while (p->idle == 0 && p->open == p->most && late != ETIMEDOUT)
        late = pthread_cond_timedwait(&p->freed, &p->lock, &end);
    void *conn = p->idle > 0 ? p->conn[--p->idle] : NULL;
    bool make = !conn && p->open < p->most;
    p->open += make;
    pthread_mutex_unlock(&p->lock);
    if (conn)
        return conn;
    if (make && (conn = p->connect(p->ctx)))
        return conn;
    if (make)
        sn_pool_give(p, NULL, true);
    else
        sn_guard_fail(SEEN_GUARD_CROWDED,
                      "all %u connections were in use for %u ms: give the adapter more",
                      p->most, p->wait_ms);
    if (code)
        *code = make ? SEEN_EIO : SEEN_GUARD_CROWDED;
    return NULL;
}

void *sn_pool_take(pool *p)
{
    return sn_pool_take_or(p, NULL);
}

void sn_pool_give(pool *p, void *conn, bool broken)
{
    if (conn && broken)
        p->disconnect(conn);
    pthread_mutex_lock(&p->lock);
    if (!broken)
        p->conn[p->idle++] = conn;
    else if (p->open > 0)
        p->open--;
    pthread_cond_signal(&p->freed);
    pthread_mutex_unlock(&p->lock);
}
