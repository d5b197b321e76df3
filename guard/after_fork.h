/* after_fork.h - what a fork would break, and what the child does about it.
 *
 * A fork copies locks that other threads hold and connections that the parent goes on
 * using. Each structure with locks registers here: its locks are taken before a fork
 * and released after it in the parent, and the child makes it usable again. */
#ifndef GUARD_AFTER_FORK_H
#define GUARD_AFTER_FORK_H

typedef struct fork_watch {
    void *ctx;
    void (*lock)(void *ctx); /* before the fork; NULL: the child needs nothing of it */
    void (*unlock)(void *ctx); /* after it, in the parent */
    void (*child)(void *ctx);  /* after it, in the child, which has one thread */
    struct fork_watch *after, *before; /* in the list of all */
} fork_watch;

/* Forks take the locks in the order in which they were registered. */
void sn_fork_watch(fork_watch *w);
void sn_fork_unwatch(fork_watch *w);
#endif
