/* late_name.c - a name server that answers after its page was given up: the answer is
 * nobody else's. */
#include "fetch.h"
#include "tap.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <semaphore.h>
#include <unistd.h>

/* ---- the system's resolver, which waits until it is told to answer ----------------
 */

static sem_t may_answer[2]; /* slow.test, other.test */

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **out)
{
    struct {
        struct addrinfo list;
        struct sockaddr_in in;
    } *a = calloc(1, sizeof *a);
    (void)hints;
    sem_wait(&may_answer[!strcmp(host, "other.test")]);
    a->in.sin_family = AF_INET;
    a->in.sin_port = htons((uint16_t)atoi(port));
    a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    a->list.ai_addr = (struct sockaddr *)&a->in;
    a->list.ai_addrlen = sizeof a->in;
    *out = &a->list;
    return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
    free(list);
}

/* ---- pages ------------------------------------------------------------------------
 */

typedef struct page {
    fetch f;
    char text[100];
    bool ended;
} page;

static void on_done(fetch *f)
{
    ((page *)f)->ended = true;
}

static void start(engine *e, page *p, const char *host, unsigned port)
{
    char text[100];
    int n = snprintf(text, sizeof text, "http://%s:%u/", host, port);
    if (url_normalise(text, (size_t)n, p->text, sizeof p->text, &p->f.u) != URL_OK)
        exit(2);
    p->f.done = on_done;
    e->start(e, &p->f);
}

static void run_until(engine *e, int loop, const page *p)
{
    while (!p->ended) {
        loop_run(loop, 10);
        e->tick(e);
    }
}

int main(void)
{
    /* A port that is taken, and on which nobody listens. */
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&a, len) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return 2;
    unsigned port = ntohs(a.sin_port);
    sem_init(&may_answer[0], 0, 0);
    sem_init(&may_answer[1], 0, 0);

    config c = {.timeout = 0.01,
                .connect_timeout = 600,
                .connections = 10,
                .allow_private = true,
                .user_agent = "test",
                .product = "test"};
    int loop = loop_new();
    engine *e = engine_plain(&c, loop);
    static page given_up, other, again;
    start(e, &given_up, "slow.test", port);
    run_until(e, loop, &given_up);
    ok(given_up.f.outcome == OUT_TIMEOUT, "a page whose host has no address in time");

    c.timeout = 600;
    start(e, &other, "other.test", port);
    start(e, &again, "slow.test", port);
    sem_post(&may_answer[0]);
    run_until(e, loop, &again);
    ok(again.f.outcome == OUT_CONNECT, "the late answer is for who waits for it");
    ok(!other.ended && !*other.f.address,
       "and not for the page of another host that has taken the place");
    sem_post(&may_answer[1]);
    run_until(e, loop, &other);
    ok(other.f.outcome == OUT_CONNECT, "which gets its own");
    e->free(e);
    fetch_free(&given_up.f);
    fetch_free(&other.f);
    fetch_free(&again.f);
    close(loop);
    close(fd);
    return done();
}
