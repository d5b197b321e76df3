/* guard_internal.h - the guard's own structure, for its files only. */
#ifndef GUARD_INTERNAL_H
#define GUARD_INTERNAL_H
#include "control.h"
#include "mapped_filters.h"
#include "seen_guard.h"
#include "single_flight.h"

#include <time.h>

/* One question on its way through the guard. */
typedef struct question {
    const void *key;
    size_t len;
    uint64_t hash; /* set by the backend; only for finding equal questions before */
} question;

/* Answers of a backend besides 1, 0 and errors of the database. */
enum {
    ASK_LATER = 100, /* another reader is filling the cache entry */
    ASK_PAST = 101   /* neither filter nor cache can answer: ask the database */
};

/* Where filter, marks and cache live: in memory that the processes of one machine share
 * (local_backend.c), or in a Redis that many machines share (shared_backend.c). */
typedef struct guard_backend {
    /* Asks the filter (if FILTER_TOO) and the cache; a caller that gets the lease of an
     * entry asks the database and fills it. Counts what happened. */
    int (*ask)(seen_guard *g, question *q, bool filter_too, seen_guard_bytes *value);
    flight_writes (*writes)(seen_guard *g, const question *q);
    /* As seen_guard_begin and _end. ADD: the keys may come to be in the database. */
    int (*begin)(seen_guard *g, const seen_key *keys, size_t n, bool add,
                 seen_guard_write **out);
    void (*end)(seen_guard_write *w, int outcome, uint64_t deleted);
    /* As seen_guard_build and _suspend. ASKED: by the caller, not the background. */
    int (*build)(seen_guard *g, bool asked);
    int (*suspend)(seen_guard *g);
    bool (*due)(seen_guard *g); /* whether a new filter should be built */
    /* Periodic work; returns the milliseconds until the next call. NULL: none. */
    unsigned (*keep)(seen_guard *g);
    void (*stats)(seen_guard *g, seen_guard_stats *s);
    void (*close)(seen_guard *g);
} guard_backend;

extern const guard_backend sn_local_backend, sn_shared_backend;
int sn_local_backend_open(seen_guard *g, const seen_guard_config *config);
int sn_shared_backend_open(seen_guard *g, const seen_guard_config *config);

/* A write under way; backends put their own behind it. */
struct seen_guard_write {
    seen_guard *g;
};

struct seen_guard {
    seen_guard_config config; /* with defaults filled in; strings are the backend's */
    const guard_backend *backend;
    /* Of the local backend: */
    control_file file;
    control *control; /* file.mapped */
    mapped_filters filters;
    /* Of the shared backend: */
    struct shared_backend *shared;

    single_flight flights;
    uint64_t tag;
    struct guard_counts {
        _Atomic uint64_t gets, refused, open, hits, markers, joined, queries, misses,
            past_cache, cache_errors, db_errors, crowded, timeouts, writes, doubts,
            builds, build_errors;
    } count;
    pthread_t thread;
    pthread_mutex_t wake_lock;
    pthread_cond_t wake;
    fork_watch fork;
    bool running;
    _Atomic bool stop;
};

/* Keeps the sentence for seen_guard_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int sn_guard_fail(int code, const char *fmt, ...);

/* Counts an error of the database by its kind. */
void sn_guard_count_db_error(seen_guard *g, int code);

/* Milliseconds of a clock that only goes forward; a moment of it; a condition that
 * waits by it. */
int64_t sn_guard_now_ms(void);
struct timespec sn_guard_deadline(unsigned ms_from_now);
void sn_guard_cond_init(pthread_cond_t *c);

/* Asks the database, and counts it. */
int sn_guard_query(seen_guard *g, const question *q, seen_guard_bytes *value);

/* ---- the local backend: local_backend.c, marked_write.c, rebuild.c ---- */

/* Whether the shared memory is about this guard's database and still at .path. */
bool sn_local_is_ours(seen_guard *g);
int sn_local_begin(seen_guard *g, const seen_key *keys, size_t n, bool add,
                   seen_guard_write **out);
void sn_local_end(seen_guard_write *w, int outcome, uint64_t deleted);
int sn_local_build(seen_guard *g, bool asked);
int sn_local_suspend(seen_guard *g);
bool sn_local_due(seen_guard *g);

/* The size of the next filter: twice the keys KNOWN, or what was expected. */
uint64_t sn_guard_room(const seen_guard *g, uint64_t known);
/* Keys of the next try, after ROOM were too few. */
uint64_t sn_guard_more(uint64_t room);
/* What a scan returns if it ends early. */
enum { SCAN_TOO_SMALL = 200, SCAN_GIVEN_UP = 201 };
/* Counts the outcome of a build; RC is 0, one of the two above, or an error. */
int sn_guard_built(seen_guard *g, int rc);

/* Starts and stops the background thread (background.c). */
int sn_guard_start_thread(seen_guard *g);
void sn_guard_stop_thread(seen_guard *g);
#endif
