/* pool.h - a few connections for many threads; a caller waits for one, but not for
 * ever. */
#ifndef GUARD_POOL_H
#define GUARD_POOL_H
#include "after_fork.h"

#include <pthread.h>
#include <stdbool.h>

enum { POOL_WAIT_MS = 5000 };

typedef struct pool {
    void *(*connect)(void *ctx); /* NULL with a reason if it cannot */
    void (*disconnect)(void *conn);
    /* In the child of a fork: forgets CONN without telling the server, because the
     * parent keeps using it. Set after sn_pool_init; NULL: disconnect says nothing. */
    void (*abandon)(void *conn);
    void *ctx;
    unsigned wait_ms; /* how long a caller waits for a connection; POOL_WAIT_MS */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    fork_watch fork;
    unsigned most, open, idle;
    void **conn; /* the idle ones */
} pool;

int sn_pool_init(pool *p, unsigned most, void *(*connect)(void *),
                 void (*disconnect)(void *), void *ctx);
void sn_pool_destroy(pool *p); /* with all connections given back */

/* A connection; if all are in use, the next that is given back within .wait_ms. NULL
 * with a reason if there is none or it cannot be made; *CODE is then SEEN_GUARD_CROWDED
 * or SEEN_EIO. CODE may be NULL. */
void *sn_pool_take_or(pool *p, int *code);
void *sn_pool_take(pool *p);
/* Gives CONN back, or closes it if it is BROKEN. */
void sn_pool_give(pool *p, void *conn, bool broken);
#endif
