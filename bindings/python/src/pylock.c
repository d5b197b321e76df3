/* pylock.c - one object, many threads, no GIL: readers in parallel, a writer alone.
 *
 * A batch releases the GIL while it works, so other threads may use the object in the
 * meantime. They wait here, without the GIL, which the working thread needs to
 * finish. */
#include "pyseen.h"

void py_lock_init(py_lock *l)
{
    l->running = 0;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->free, NULL);
}

void py_lock_destroy(py_lock *l)
{
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->free);
}

static bool taken(const py_lock *l, bool writing)
{
    return writing ? l->running != 0 : l->running < 0;
}

void py_lock_wait(py_lock *l, bool writing)
{
    while (taken(l, writing)) {
        Py_BEGIN_ALLOW_THREADS
        pthread_mutex_lock(&l->mutex);
        while (taken(l, writing))
            pthread_cond_wait(&l->free, &l->mutex);
        pthread_mutex_unlock(&l->mutex);
        Py_END_ALLOW_THREADS
    }
}

void py_lock_enter(py_lock *l, bool writing)
{
    py_lock_wait(l, writing);
    pthread_mutex_lock(&l->mutex);
    l->running = writing ? -1 : l->running + 1;
    pthread_mutex_unlock(&l->mutex);
}

void py_lock_leave(py_lock *l)
{
    pthread_mutex_lock(&l->mutex);
    l->running = l->running < 0 ? 0 : l->running - 1;
    pthread_cond_broadcast(&l->free);
    pthread_mutex_unlock(&l->mutex);
}
