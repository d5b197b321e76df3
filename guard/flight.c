/* flight.c - see flight.h. */
#include "flight.h"

#include <stdlib.h>
#include <string.h>

struct flight {
    flight *next;
    uint64_t hash;
    size_t len;
    unsigned users;             /* threads that hold a pointer to this */
    uint64_t started, finished; /* numbers of fetches, the last of each */
    int rc;                     /* of fetch number `finished` */
    seen_guard_bytes value;
    pthread_cond_t ended;
    char key[];
};

void sn_flights_init(flights *fs)
{
    for (int i = 0; i < FLIGHT_BUCKETS; i++) {
        pthread_mutex_init(&fs->bucket[i].lock, NULL);
        fs->bucket[i].first = NULL;
    }
}

void sn_flights_destroy(flights *fs)
{
    for (int i = 0; i < FLIGHT_BUCKETS; i++)
        pthread_mutex_destroy(&fs->bucket[i].lock);
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

int sn_flights_fetch(flights *fs, uint64_t hash, const void *key, size_t len,
                     flight_fetch *fetch, void *ctx, seen_guard_bytes *value,
                     bool *joined)
{
    struct flight_bucket *b = fs->bucket + hash % FLIGHT_BUCKETS;
    *joined = false;
    pthread_mutex_lock(&b->lock);
    flight *f = find_or_make(b, hash, key, len);
    if (!f) {
        pthread_mutex_unlock(&b->lock);
        return fetch(ctx, key, len, value);
    }
    f->users++;
    uint64_t wanted = f->started + 1; /* the first fetch that begins after now */
    while (f->finished < wanted && f->started != f->finished)
        pthread_cond_wait(&f->ended, &b->lock);
    int rc;
    if (f->finished >= wanted) {
        *joined = true;
        rc = share(f, value);
    } else {
        f->started++;
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
