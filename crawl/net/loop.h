/* loop.h - one epoll for all sockets, with a callback for each. */
#ifndef CRAWL_LOOP_H
#define CRAWL_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

/* Embedded in whatever owns a descriptor. */
typedef struct watch {
    void (*ready)(struct watch *w, uint32_t events); /* EPOLLIN, EPOLLOUT, ... */
    int fd;
    uint32_t events; /* as registered; 0: not yet */
} watch;

int loop_new(void);                                 /* the epoll descriptor; dies */
void loop_set(int loop, watch *w, uint32_t events); /* 0 takes it out */
void loop_run(int loop, int timeout_ms);            /* waits once, calls those ready */

/* Milliseconds that only go forward. */
uint64_t loop_now(void);

#endif
