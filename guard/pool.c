/* pool.c - see pool.h. */
#include "pool.h"
#include "guard_inside.h"

#include <stdlib.h>
#include <string.h>

int sn_pool_init(pool *p, unsigned most, void *(*connect)(void *),
                 void (*disconnect)(void *), void *ctx)
{
    memset(p, 0, sizeof *p);
    p->most = most ? most : 8;
    p->connect = connect;
    p->disconnect = disconnect;
    p->ctx = ctx;
    p->conn = calloc(p->most, sizeof *p->conn);
    if (!p->conn)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->freed, NULL);
    return 0;
}

void sn_pool_destroy(pool *p)
{
    while (p->idle > 0)
        p->disconnect(p->conn[--p->idle]);
    pthread_cond_destroy(&p->freed);
    pthread_mutex_destroy(&p->lock);
    free(p->conn);
}

void *sn_pool_take(pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->idle == 0 && p->open == p->most)
        pthread_cond_wait(&p->freed, &p->lock);
    if (p->idle > 0) {
        void *conn = p->conn[--p->idle];
        pthread_mutex_unlock(&p->lock);
        return conn;
    }
    p->open++;
    pthread_mutex_unlock(&p->lock);
    void *conn = p->connect(p->ctx);
    if (!conn)
        sn_pool_give(p, NULL, true);
    return conn;
}

void sn_pool_give(pool *p, void *conn, bool broken)
{
    if (conn && broken)
        p->disconnect(conn);
    pthread_mutex_lock(&p->lock);
    if (broken)
        p->open--;
    else
        p->conn[p->idle++] = conn;
    pthread_cond_signal(&p->freed);
    pthread_mutex_unlock(&p->lock);
}
