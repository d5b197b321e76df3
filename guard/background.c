/* background.c - the thread that builds filters when they are due and runs the
 * backend's periodic work. */
#include "guard_internal.h"

static void *background(void *arg)
{
    seen_guard *g = arg;
    unsigned pause = 100;
    int64_t build_at = 0;
    pthread_mutex_lock(&g->wake_lock);
    while (!g->stop) {
        pthread_mutex_unlock(&g->wake_lock);
        unsigned keep = g->backend->keep ? g->backend->keep(g) : pause;
        if (g->config.flags & SEEN_GUARD_BACKGROUND && sn_guard_now_ms() >= build_at) {
            if (g->backend->due(g)) {
                int rc = g->backend->build(g, false);
                pause = rc > 0          ? 100
                        : rc == 0       ? 500
                        : pause < 30000 ? pause * 2
                                        : 30000;
            }
            build_at = sn_guard_now_ms() + pause;
        }
        struct timespec t = sn_guard_deadline(keep < pause ? keep : pause);
        pthread_mutex_lock(&g->wake_lock);
        if (!g->stop)
            pthread_cond_timedwait(&g->wake, &g->wake_lock, &t);
    }
    pthread_mutex_unlock(&g->wake_lock);
    return NULL;
}

int sn_guard_start_thread(seen_guard *g)
{
    if (pthread_create(&g->thread, NULL, background, g) != 0)
        return sn_guard_fail(SEEN_ENOMEM, "cannot start a thread");
    g->running = true;
    return 0;
}

void sn_guard_stop_thread(seen_guard *g)
{
    if (!g->running)
        return;
    pthread_mutex_lock(&g->wake_lock);
    g->stop = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->wake_lock);
    pthread_join(g->thread, NULL);
    g->running = false;
}
