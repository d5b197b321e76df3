/* pthread.h - one thread: a lock is always free, and no other thread can be started.
 * The library then does the work itself. */
#ifndef SN_WASM_PTHREAD_H
#define SN_WASM_PTHREAD_H
#include <errno.h>
#include <time.h>
#define __NEED_pthread_t
#define __NEED_pthread_mutex_t
#define __NEED_pthread_cond_t
#define __NEED_pthread_once_t
#include <bits/alltypes.h>

#define PTHREAD_ONCE_INIT 0
#define PTHREAD_MUTEX_INITIALIZER {0}

#define SN_DONE(name, ...)                                                             \
    static inline int name(__VA_ARGS__)                                                \
    {                                                                                  \
        return 0;                                                                      \
    }
SN_DONE(pthread_mutex_init, pthread_mutex_t *m, const void *attr)
SN_DONE(pthread_mutex_destroy, pthread_mutex_t *m)
SN_DONE(pthread_mutex_lock, pthread_mutex_t *m)
SN_DONE(pthread_mutex_unlock, pthread_mutex_t *m)
SN_DONE(pthread_cond_init, pthread_cond_t *c, const void *attr)
SN_DONE(pthread_cond_destroy, pthread_cond_t *c)
SN_DONE(pthread_cond_broadcast, pthread_cond_t *c)
SN_DONE(pthread_cond_wait, pthread_cond_t *c, pthread_mutex_t *m)
SN_DONE(pthread_cond_timedwait, pthread_cond_t *c, pthread_mutex_t *m,
        const struct timespec *until)
SN_DONE(pthread_join, pthread_t t, void **result)

static inline int pthread_create(pthread_t *t, const void *attr, void *(*run)(void *),
                                 void *arg)
{
    return EAGAIN;
}

static inline int pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (!*once)
        run();
    *once = 1;
    return 0;
}
#endif
