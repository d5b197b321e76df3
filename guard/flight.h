/* flight.h - of many threads that want the same key at once, one fetches it.
 *
 * A thread never gets the result of a fetch that began before it asked: that fetch may
 * have looked before a row was committed that the thread knows of. So it waits for the
 * running one to end and shares the next. */
#ifndef GUARD_FLIGHT_H
#define GUARD_FLIGHT_H
#include "seen_guard.h"

#include <pthread.h>

enum { FLIGHT_BUCKETS = 64 };
typedef struct flight flight;

typedef struct flights {
    struct flight_bucket {
        pthread_mutex_t lock;
        flight *first;
    } bucket[FLIGHT_BUCKETS];
} flights;

void sn_flights_init(flights *fs);
void sn_flights_destroy(flights *fs); /* with nobody in them */

/* Fetches one key into VALUE (from malloc); the result is shared. */
typedef int flight_fetch(void *ctx, const void *key, size_t len,
                         seen_guard_bytes *value);

/* Runs FETCH, or shares another thread's; *JOINED says which. */
int sn_flights_fetch(flights *fs, uint64_t hash, const void *key, size_t len,
                     flight_fetch *fetch, void *ctx, seen_guard_bytes *value,
                     bool *joined);
#endif
