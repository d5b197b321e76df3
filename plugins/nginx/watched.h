/* watched.h - a filter file that may be replaced at any time, and its exact list.
 *
 * Knows no nginx. One per worker: the pages are shared through the mapping, the handle
 * is not. A stat reveals that another file was renamed over the old one. The old
 * mapping is used until the new file is open and checked, and is kept if that is
 * damaged. */
#ifndef WATCHED_H
#define WATCHED_H
#include "exact_list.h"
#include "last_good.h"

#include <seen.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct watched {
    const char *path;    /* of the filter */
    const char *list;    /* of the exact list; NULL: none */
    const char *format;  /* of another system's filter; NULL: our own */
    bool verify;         /* check every checksum of a new file */
    bool load;           /* copy it into memory instead of mapping it */
    last_good shared;    /* with the other workers */
    seen_filter *filter; /* NULL: nothing to ask */
    exact_list lines;
    seen_stats stats;                 /* of the filter when it was opened */
    struct timespec written;          /* the filter's file */
    struct stat filter_was, list_was; /* the files last looked at, good or bad */
    bool looked;
    char why[512]; /* the last failure, or what is open now */
} watched;

enum watched_news {
    WATCHED_SAME,     /* nothing changed since the last look */
    WATCHED_NEW,      /* a new file is in use; .why describes it */
    WATCHED_BAD,      /* the new file cannot be used, or is missing: .why says more */
    WATCHED_INHERITED /* as WATCHED_BAD, but the last good one of other workers is used
                       */
};

/* Looks at the files; two stats when nothing changed. */
enum watched_news watched_look(watched *w);

/* Checks that the filter can be opened, without reading all of it: 0, or -1 and
 * .why. */
int watched_check(watched *w);

/* True if KEY is in the filter and, if there is one, in the list. Needs an open
 * filter. */
bool watched_has(const watched *w, const void *key, size_t len);

void watched_close(watched *w);
#endif
