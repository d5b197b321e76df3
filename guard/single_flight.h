/* single_flight.h - when many threads want one key at once, one of them fetches it.
 *
 * A thread must not get the result of a fetch that is older than a commit it knows
 * about. So it joins a fetch that is under way only if no write of the key was under
 * way when the fetch started and none has started since; otherwise it waits for that
 * fetch to end and shares the next one. */
#ifndef GUARD_SINGLE_FLIGHT_H
#define GUARD_SINGLE_FLIGHT_H
#include "after_fork.h"
#include "seen_guard.h"

#include <pthread.h>

enum { FLIGHT_BUCKETS = 64 };
typedef struct flight flight;

typedef struct single_flight {
    fork_watch fork;
    struct flight_bucket {
        pthread_mutex_t lock;
        flight *first;
    } bucket[FLIGHT_BUCKETS];
} single_flight;

void sn_flight_init(single_flight *sf);
void sn_flight_destroy(single_flight *sf); /* with nobody in them */

/* Fetches one key into VALUE (from malloc); the result is shared. */
typedef int flight_fetch(void *ctx, const void *key, size_t len,
                         seen_guard_bytes *value);

/* What is known of the writes of a key at one moment. */
typedef struct flight_writes {
    uint64_t begun; /* a number that changes with every write of the key that starts */
    bool none;      /* certainly none is under way */
} flight_writes;

/* Runs FETCH, or shares another thread's; *JOINED says which. NOW is read by the caller
 * right before. */
int sn_flight_fetch(single_flight *sf, uint64_t hash, const void *key, size_t len,
                    flight_writes now, flight_fetch *fetch, void *ctx,
                    seen_guard_bytes *value, bool *joined);
#endif
