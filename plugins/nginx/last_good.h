/* last_good.h - passes the last accepted file from workers to later workers.
 *
 * A worker that starts while the file at the path is damaged has no filter, though the
 * others still have a good one mapped. So a worker that accepts a file puts its open
 * descriptors into a socket that the master made before it forked. They stay there even
 * if the worker dies, and a new worker can use them. Knows no nginx. */
#ifndef LAST_GOOD_H
#define LAST_GOOD_H
#include <stdbool.h>

enum { LAST_GOOD_FILES = 2 }; /* the filter, and its exact list or -1 */

/* Two ends of a socket; -1: none, and everything below does nothing. */
typedef struct last_good {
    int in, out;
} last_good;

int last_good_open(last_good *l); /* 0, or -1 with errno */
void last_good_close(last_good *l);

/* Replaces the stored files by these. The caller still owns the descriptors. */
void last_good_put(const last_good *l, const int fd[LAST_GOOD_FILES]);

/* Gets the files without removing them; the caller closes them. False: none. */
bool last_good_get(const last_good *l, int fd[LAST_GOOD_FILES]);
#endif
