/* after_fork.c - one list for the process, and the three handlers of pthread_atfork. */
#include "after_fork.h"

#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static fork_watch *first, *last;

static void prepare(void)
{
    pthread_mutex_lock(&list_lock);
    for (fork_watch *w = first; w; w = w->after)
        if (w->lock)
            w->lock(w->ctx);
}

static void in_parent(void)
{
    for (fork_watch *w = last; w; w = w->before)
        if (w->unlock)
            w->unlock(w->ctx);
    pthread_mutex_unlock(&list_lock);
}

static void in_child(void)
{
    for (fork_watch *w = first; w; w = w->after)
        w->child(w->ctx);
    pthread_mutex_init(&list_lock, NULL);
}

static void install(void)
{
    pthread_atfork(prepare, in_parent, in_child);
}

void sn_fork_watch(fork_watch *w)
{
    pthread_once(&once, install);
    pthread_mutex_lock(&list_lock);
    w->after = NULL;
    w->before = last;
    *(last ? &last->after : &first) = w;
    last = w;
    pthread_mutex_unlock(&list_lock);
}

void sn_fork_unwatch(fork_watch *w)
{
    pthread_mutex_lock(&list_lock);
    *(w->before ? &w->before->after : &first) = w->after;
    *(w->after ? &w->after->before : &last) = w->before;
    pthread_mutex_unlock(&list_lock);
}
