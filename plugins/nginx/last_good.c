/* last_good.c - keeps descriptors in a datagram socket (SCM_RIGHTS).
 *
 * The new message is sent before the old one is removed. So a worker that is killed in
 * between leaves two, and the next reader gets the older one: stale, but never none. */
#include "last_good.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int last_good_open(last_good *l)
{
    int pair[2];
    l->in = l->out = -1;
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        return -1;
    l->in = pair[0];
    l->out = pair[1];
    return 0;
}

void last_good_close(last_good *l)
{
    if (l->in >= 0) {
        close(l->in);
        close(l->out);
    }
    l->in = l->out = -1;
}

/* A message of one byte with room for the descriptors; it points into itself. */
typedef struct message {
    struct msghdr m;
    struct iovec data;
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * LAST_GOOD_FILES)];
    } control;
} message;

static void message_init(message *g, int files)
{
    memset(g, 0, sizeof *g);
    g->data = (struct iovec){&g->byte, 1};
    g->m.msg_iov = &g->data;
    g->m.msg_iovlen = 1;
    g->m.msg_control = g->control.room;
    g->m.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)files);
}

/* The first message: the number of descriptors in FD, or 0 if there is no message. */
static int receive(const last_good *l, int flags, int fd[LAST_GOOD_FILES])
{
    message g;
    message_init(&g, LAST_GOOD_FILES);
    for (int i = 0; i < LAST_GOOD_FILES; i++)
        fd[i] = -1;
    if (l->out < 0 || recvmsg(l->out, &g.m, flags | MSG_CMSG_CLOEXEC) < 0)
        return 0;
    struct cmsghdr *c = CMSG_FIRSTHDR(&g.m);
    if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len <= CMSG_LEN(0))
        return 0;
    memcpy(fd, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
    return (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
}

static void close_all(const int fd[LAST_GOOD_FILES])
{
    for (int i = 0; i < LAST_GOOD_FILES; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

void last_good_put(const last_good *l, const int fd[LAST_GOOD_FILES])
{
    int old[LAST_GOOD_FILES], n = fd[1] >= 0 ? 2 : 1;
    message g;
    if (l->in < 0 || fd[0] < 0)
        return;
    message_init(&g, n);
    g.control.head.cmsg_level = SOL_SOCKET;
    g.control.head.cmsg_type = SCM_RIGHTS;
    g.control.head.cmsg_len = CMSG_LEN(sizeof(int) * (size_t)n);
    memcpy(CMSG_DATA(&g.control.head), fd, sizeof(int) * (size_t)n);
    bool some = receive(l, MSG_PEEK, old) > 0;
    close_all(old);
    if (sendmsg(l->in, &g.m, MSG_NOSIGNAL) < 0)
        return;
    if (some) {
        receive(l, 0, old);
        close_all(old);
    }
}

bool last_good_get(const last_good *l, int fd[LAST_GOOD_FILES])
{
    return receive(l, MSG_PEEK, fd) > 0;
}
