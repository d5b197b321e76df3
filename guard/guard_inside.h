/* guard_inside.h - the guard's own structure, for its files only. */
#ifndef GUARD_INSIDE_H
#define GUARD_INSIDE_H
#include "control.h"
#include "flight.h"
#include "gate.h"
#include "seen_guard.h"

struct seen_guard {
    seen_guard_config config; /* strings copied */
    control *c;
    gate gate;
    flights flights;
    uint64_t tag;
    struct guard_counts {
        _Atomic uint64_t gets, refused, open, hits, markers, joined, queries, misses,
            past_cache, cache_errors, db_errors, writes, doubts, builds, build_errors;
    } n;
    pthread_t thread;
    pthread_mutex_t wake_lock;
    pthread_cond_t wake;
    bool running;
    _Atomic bool stop;
};

/* Keeps the sentence for seen_guard_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int sn_guard_fail(int code, const char *fmt, ...);

/* Milliseconds of a clock that only goes forward. */
int64_t sn_guard_now_ms(void);

/* Whether the memory shared is about this guard's database. */
bool sn_guard_is_ours(const seen_guard *g);

/* Starts and stops the thread that builds when a filter is due. */
int sn_guard_start_thread(seen_guard *g);
void sn_guard_stop_thread(seen_guard *g);
#endif
