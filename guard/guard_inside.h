/* guard_inside.h - the guard's own structure, for its files only. */
#ifndef GUARD_INSIDE_H
#define GUARD_INSIDE_H
#include "control.h"
#include "mapped_filters.h"
#include "seen_guard.h"
#include "single_flight.h"

#include <time.h>

struct seen_guard {
    seen_guard_config config; /* with defaults filled in; .path is file.path */
    control_file file;
    control *control; /* file.mapped */
    mapped_filters filters;
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

/* Whether the shared memory is about this guard's database and still at .path. */
bool sn_guard_is_ours(seen_guard *g);

/* Starts and stops the thread that builds when a filter is due. */
int sn_guard_start_thread(seen_guard *g);
void sn_guard_stop_thread(seen_guard *g);
#endif
