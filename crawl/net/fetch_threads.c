/* fetch_threads.c - -j: several threads fetch and read pages; to the crawl they look
 * like one engine.
 *
 * The crawl's own thread keeps the queues, the seen-set and the log, and decides; so
 * what is true of one thread, kill -9 included, is true of many. Requests go to the
 * thread that their lane selects, in batches: those of one turn of the crawl's loop
 * together. Each thread has a loop and an engine of its own, reads the pages it fetched
 * (fetch_reader) and gives back what one turn of its loop brought. A fetch belongs to
 * one thread at a time; the locks it passes through make all writes to it visible. */
#include "fetch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct threads_engine threads_engine;

/* Fetches in the order in which they came. */
typedef struct fetch_list {
    fetch *first, **end; /* end: NULL if it is empty */
} fetch_list;

typedef struct fetcher {
    pthread_t thread;
    threads_engine *all;
    config conf; /* with this thread's share of the connections */
    int loop;
    watch wake;
    engine *engine;
    void *reading;   /* state of the reader */
    fetch_list done; /* in this turn; of the thread */
    fetch_list next; /* to be sent in this turn; of the crawl's thread */
    pthread_mutex_t lock;
    fetch_list inbox; /* under LOCK, as the two below */
    bool stop, cancel;
} fetcher;

struct threads_engine {
    engine base;
    const fetch_reader *reader;
    fetcher *fetchers;
    unsigned count;
    unsigned in_flight;
    watch back;
    pthread_mutex_t lock;
    fetch_list answered; /* under LOCK */
};

static void list_add(fetch_list *l, fetch *f)
{
    f->next = NULL;
    *(l->end ? l->end : &l->first) = f;
    l->end = &f->next;
}

/* Moves all of FROM to the end of TO; true if TO was empty. */
static bool list_move(fetch_list *to, fetch_list *from)
{
    bool empty = !to->end;
    *(to->end ? to->end : &to->first) = from->first;
    to->end = from->end;
    *from = (fetch_list){NULL, NULL};
    return empty;
}

static fetch *list_take(fetch_list *l, pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    fetch *first = l->end ? l->first : NULL;
    *l = (fetch_list){NULL, NULL};
    pthread_mutex_unlock(lock);
    return first;
}

static void ring(const watch *w)
{
    uint64_t one = 1;
    if (write(w->fd, &one, sizeof one) < 0 && errno != EAGAIN)
        kit_die("waking a thread: %s", strerror(errno));
}

static void silence(watch *w)
{
    uint64_t n;
    if (read(w->fd, &n, sizeof n) < 0 && errno != EAGAIN)
        kit_die("waking a thread: %s", strerror(errno));
}

static void hang_bell(watch *w, void (*ready)(watch *w, uint32_t events), int loop)
{
    *w = (watch){ready, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), 0};
    if (w->fd < 0)
        kit_die("eventfd: %s", strerror(errno));
    loop_set(loop, w, EPOLLIN);
}

/* Moves all of FROM to TO, which LOCK guards, and wakes the other side if TO was
 * empty. */
static void hand_over(fetch_list *from, fetch_list *to, pthread_mutex_t *lock,
                      const watch *bell)
{
    if (!from->end)
        return;
    pthread_mutex_lock(lock);
    bool empty = list_move(to, from);
    pthread_mutex_unlock(lock);
    if (empty)
        ring(bell);
}

/* ---- in a thread ----------------------------------------------------------------- */

static void on_wake(watch *w, uint32_t events)
{
    (void)events;
    silence(w);
}

/* A fetch is done. Its page is read here, and the crawl learns of it after this
 * turn. */
static void on_fetched(fetch *f)
{
    fetcher *t = f->fetcher;
    t->all->reader->read(t->reading, &t->conf, f);
    list_add(&t->done, f);
}

static void *run_fetcher(void *ctx)
{
    fetcher *t = ctx;
    engine *e = t->engine;
    for (bool stop = false; !stop;) {
        int ms = e->timeout(e);
        loop_run(t->loop, ms < 0 || ms > 1000 ? 1000 : ms);
        e->tick(e);
        pthread_mutex_lock(&t->lock);
        bool cancel = t->cancel;
        stop = t->stop;
        t->cancel = false;
        pthread_mutex_unlock(&t->lock);
        for (fetch *f = list_take(&t->inbox, &t->lock), *next; f; f = next) {
            next = f->next;
            e->start(e, f);
        }
        if (cancel)
            e->cancel_all(e);
        hand_over(&t->done, &t->all->answered, &t->all->lock, &t->all->back);
    }
    return NULL;
}

/* ---- in the crawl's thread ------------------------------------------------------- */

static void threads_start(engine *base, fetch *f)
{
    threads_engine *e = (threads_engine *)base;
    fetcher *t = &e->fetchers[f->lane % e->count];
    f->answer = f->done;
    f->done = on_fetched;
    f->fetcher = t;
    f->extracted = false;
    e->in_flight++;
    list_add(&t->next, f);
}

static void send_next(threads_engine *e)
{
    for (unsigned i = 0; i < e->count; i++) {
        fetcher *t = &e->fetchers[i];
        hand_over(&t->next, &t->inbox, &t->lock, &t->wake);
    }
}

static void collect_answers(threads_engine *e)
{
    for (fetch *f = list_take(&e->answered, &e->lock), *next; f; f = next) {
        next = f->next;
        e->in_flight--;
        f->done = f->answer;
        f->done(f);
    }
}

static void on_back(watch *w, uint32_t events)
{
    threads_engine *e = (threads_engine *)((char *)w - offsetof(threads_engine, back));
    (void)events;
    silence(w);
    collect_answers(e);
}

/* Called before the loop waits, so this is where a batch goes out. */
static int threads_timeout(engine *base)
{
    send_next((threads_engine *)base);
    return -1;
}

static void threads_tick(engine *base)
{
    collect_answers((threads_engine *)base);
}

static void tell_all(threads_engine *e, bool stop)
{
    for (unsigned i = 0; i < e->count; i++) {
        fetcher *t = &e->fetchers[i];
        pthread_mutex_lock(&t->lock);
        t->stop = stop;
        t->cancel = true;
        pthread_mutex_unlock(&t->lock);
        ring(&t->wake);
    }
}

static void threads_cancel(engine *base)
{
    threads_engine *e = (threads_engine *)base;
    send_next(e);
    tell_all(e, false);
    while (e->in_flight) {
        usleep(1000);
        collect_answers(e);
    }
}

static void threads_free(engine *base)
{
    threads_engine *e = (threads_engine *)base;
    tell_all(e, true);
    for (unsigned i = 0; i < e->count; i++) {
        fetcher *t = &e->fetchers[i];
        pthread_join(t->thread, NULL);
        t->engine->free(t->engine);
        e->reader->free(t->reading);
        free(t->reading);
        pthread_mutex_destroy(&t->lock);
        close(t->wake.fd);
        close(t->loop);
    }
    pthread_mutex_destroy(&e->lock);
    close(e->back.fd);
    free(e->fetchers);
    free(e);
}

engine *engine_threads(const config *c, int loop, cookie_jar *jar,
                       const fetch_reader *reader)
{
    threads_engine *e = kit_alloc(sizeof *e);
    e->base = (engine){threads_start, threads_cancel, threads_timeout, threads_tick,
                       threads_free};
    e->count = c->threads;
    e->reader = reader;
    e->fetchers = kit_alloc(e->count * sizeof *e->fetchers);
    pthread_mutex_init(&e->lock, NULL);
    hang_bell(&e->back, on_back, loop);
    /* Signals are for the crawl's thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < e->count; i++) {
        fetcher *t = &e->fetchers[i];
        t->all = e;
        t->conf = *c;
        t->reading = kit_alloc(reader->state);
        t->conf.connections = (c->connections + e->count - 1) / e->count;
        t->loop = loop_new();
        hang_bell(&t->wake, on_wake, t->loop);
        t->engine = engine_curl(&t->conf, t->loop, jar);
        pthread_mutex_init(&t->lock, NULL);
        int rc = pthread_create(&t->thread, NULL, run_fetcher, t);
        if (rc)
            kit_die("-j %u: %s", e->count, strerror(rc));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return &e->base;
}
