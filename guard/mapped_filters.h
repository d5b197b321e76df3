/* mapped_filters.h - this process's mapping of the filters that the control file names:
 * asked by readers, added to by writers, exchanged when the numbers change. */
#ifndef GUARD_MAPPED_FILTERS_H
#define GUARD_MAPPED_FILTERS_H
#include "after_fork.h"
#include "control.h"

#include <pthread.h>
#include <seen.h>

typedef struct mapped_filter {
    uint32_t number; /* 0: none */
    seen_filter *filter;
} mapped_filter;

typedef struct mapped_filters {
    control *control;
    seen_hasher hasher; /* of all filters, from the seed in the control file */
    const char *path;   /* filter N is the file PATH.N */
    pthread_rwlock_t lock;
    fork_watch fork;
    mapped_filter live, next;
    _Atomic uint32_t cannot; /* this process cannot map that one ... */
    _Atomic int64_t until;   /* ... and tries again then (milliseconds) */
} mapped_filters;

enum filter_answer { FILTER_NO, FILTER_MAYBE, FILTER_OPEN };

/* PATH is kept, not copied. */
void sn_mapped_open(mapped_filters *m, control *c, const char *path);
void sn_mapped_close(mapped_filters *m);

/* Whether the key of HASH may exist: FILTER_NO is certain, FILTER_OPEN means that there
 * is no filter to ask. */
enum filter_answer sn_mapped_ask(mapped_filters *m, uint64_t hash);

/* Adds HASH to the filter in use and to the one being built. Cannot fail: a filter that
 * does not accept the key is taken out of use (or its build is given up) instead. */
void sn_mapped_add(mapped_filters *m, uint64_t hash);

/* Bytes of the filter in use, as far as this process has it. */
uint64_t sn_mapped_bytes(mapped_filters *m);

/* Makes the file of filter NUMBER from F, readable to this user only, and maps it. */
int sn_mapped_make(mapped_filters *m, uint32_t number, const seen_filter *f,
                   seen_filter **out);

/* Removes the file of filter NUMBER; 0: none. */
void sn_mapped_remove(const mapped_filters *m, uint32_t number);
#endif
