/* pool.h - a few connections for many threads. */
#ifndef GUARD_POOL_H
#define GUARD_POOL_H
#include <pthread.h>
#include <stdbool.h>

typedef struct pool {
    void *(*connect)(void *ctx); /* NULL with a reason if it cannot */
    void (*disconnect)(void *conn);
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t freed;
    unsigned most, open, idle;
    void **conn; /* the idle ones */
} pool;

int sn_pool_init(pool *p, unsigned most, void *(*connect)(void *),
                 void (*disconnect)(void *), void *ctx);
void sn_pool_destroy(pool *p); /* with all connections given back */

/* A connection, waited for if all are in use; NULL if it cannot be made. */
void *sn_pool_take(pool *p);
/* Gives CONN back, or closes it if it is BROKEN. */
void sn_pool_give(pool *p, void *conn, bool broken);
#endif
