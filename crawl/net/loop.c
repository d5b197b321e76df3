/* loop.c - a thin layer over epoll. */
#include "loop.h"
#include "messages.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int loop_new(void)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        kit_die("epoll: %s", strerror(errno));
    return fd;
}

void loop_set(int loop, watch *w, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = w};
    if (events == w->events)
        return;
    int op = !w->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    /* A descriptor that libcurl has closed has already left the epoll. */
    if (epoll_ctl(loop, op, w->fd, &e) < 0 && op == EPOLL_CTL_MOD && errno == ENOENT)
        epoll_ctl(loop, EPOLL_CTL_ADD, w->fd, &e);
    else if (op == EPOLL_CTL_ADD && errno == EEXIST)
        epoll_ctl(loop, EPOLL_CTL_MOD, w->fd, &e);
    w->events = events;
}

void loop_run(int loop, int timeout_ms)
{
    struct epoll_event e[256];
    int n = epoll_wait(loop, e, 256, timeout_ms);
    for (int i = 0; i < n; i++) {
        watch *w = e[i].data.ptr;
        w->ready(w, e[i].events);
    }
}

uint64_t loop_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
