/* single_flight.c - fetches under way, found by key, each with the threads that share
 * it. */
#include "single_flight.h"

#include <stdlib.h>
#include <string.h>

struct flight {
    flight *next;
    uint64_t hash;
    size_t len;
    unsigned users;             /* threads that hold a pointer to this */
    uint64_t started, finished; /* numbers of fetches, the last of each */
    flight_writes writes;       /* when the last one started */
    int rc;                     /* of fetch number `finished` */
    seen_guard_bytes value;
    pthread_cond_t ended;
    char key[];
};

static void locks_init(single_flight *sf)
{
    for (int i = 0; i < FLIGHT_BUCKETS; i++) {
        pthread_mutex_init(&sf->bucket[i].lock, NULL);
        sf->bucket[i].first = NULL;
    }
}

/* The fetches of the parent's threads are not ours to wait for. */
static void fork_child(void *ctx)
{
    locks_init(ctx);
}

void sn_flight_init(single_flight *sf)
{
    locks_init(sf);
    sf->fork = (fork_watch){sf, NULL, NULL, fork_child};
    sn_fork_watch(&sf->fork);
}

void sn_flight_destroy(single_flight *sf)
{
    sn_fork_unwatch(&sf->fork);
    for (int i = 0; i < FLIGHT_BUCKETS; i++)
        pthread_mutex_destroy(&sf->bucket[i].lock);
}

static flight *find_or_make(struct flight_bucket *b, uint64_t hash, const void *key,
                            size_t len)
{
    flight *f;
    for (f = b->first; f; f = f->next)
        if (f->hash == hash && f->len == len && memcmp(f->key, key, len) == 0)
            return f;
    f = calloc(1, sizeof *f + len);
    if (!f)
        return NULL;
    f->hash = hash;
    f->len = len;
    memcpy(f->key, key, len);
    pthread_cond_init(&f->ended, NULL);
    f->next = b->first;
    b->first = f;
    return f;
}

static void leave(struct flight_bucket *b, flight *f)
{
    if (--f->users)
        return;
    flight **at = &b->first;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    pthread_cond_destroy(&f->ended);
    free(f->value.data);
    free(f);
}

/* A copy for this thread; SEEN_ENOMEM if there is no memory for it. */
static int share(const flight *f, seen_guard_bytes *value)
{
    if (f->rc != 1)
        return f->rc;
    value->data = malloc(f->value.len + 1);
    if (!value->data)
        return SEEN_ENOMEM;
    memcpy(value->data, f->value.data, f->value.len);
    value->len = f->value.len;
    return 1;
}

/* Whether the fetch under way, if there is one, sees every row that was committed
 * before NOW. */
static bool sees_all(const flight *f, flight_writes now)
{
    return f->started != f->finished && f->writes.none && now.none &&
           f->writes.begun == now.begun;
}

int sn_flight_fetch(single_flight *sf, uint64_t hash, const void *key, size_t len,
                    flight_writes now, flight_fetch *fetch, void *ctx,
                    seen_guard_bytes *value, bool *joined)
{
    struct flight_bucket *b = sf->bucket + hash % FLIGHT_BUCKETS;
    *joined = false;
    pthread_mutex_lock(&b->lock);
    flight *f = find_or_make(b, hash, key, len);
    if (!f) {
        pthread_mutex_unlock(&b->lock);
        return fetch(ctx, key, len, value);
    }
    f->users++;
    /* The one under way, or the first that starts after now. */
    uint64_t wanted = sees_all(f, now) ? f->started : f->started + 1;
    while (f->finished < wanted && f->started != f->finished)
        pthread_cond_wait(&f->ended, &b->lock);
    int rc;
    if (f->finished >= wanted) {
        *joined = true;
        rc = share(f, value);
    } else {
        f->started++;
        f->writes = now; /* read before the fetch starts: the cautious side */
        pthread_mutex_unlock(&b->lock);
        seen_guard_bytes got = {NULL, 0};
        rc = fetch(ctx, key, len, &got);
        pthread_mutex_lock(&b->lock);
        f->finished = f->started;
        free(f->value.data);
        f->rc = rc;
        f->value = got;
        if (f->users > 1) {
            rc = share(f, value);
        } else { /* nobody else: no copy */
            *value = got;
            f->value.data = NULL;
        }
        pthread_cond_broadcast(&f->ended);
    }
    leave(b, f);
    pthread_mutex_unlock(&b->lock);
    return rc;
}
