/* late_names.c - name servers as one would not like them: an answer that comes after
 * its page was given up, and an address where nobody answers before one that does. */
#include "net/fetch.h"
#include "tap.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- the system's resolver, which waits until it is told to answer ----------------
 */

static sem_t may_answer[2]; /* slow.test, other.test */
static atomic_int asked;

enum { SILENT = INADDR_LOOPBACK + 1 }; /* 127.0.0.2 */

/* libcurl calls these instead of the C library's. */
__attribute__((visibility("default"))) int
getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
            struct addrinfo **out)
{
    struct {
        struct addrinfo list[2];
        struct sockaddr_in in[2];
    } *a = calloc(1, sizeof *a);
    bool two = !strcmp(host, "two.test");
    (void)hints;
    atomic_fetch_add(&asked, 1);
    if (!two)
        sem_wait(&may_answer[!strcmp(host, "other.test")]);
    for (int i = 0; i < 1 + two; i++) {
        uint32_t address = two && i == 0 ? SILENT : INADDR_LOOPBACK;
        a->in[i] = (struct sockaddr_in){.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)atoi(port)),
                                        .sin_addr.s_addr = htonl(address)};
        a->list[i].ai_family = AF_INET;
        a->list[i].ai_addr = (struct sockaddr *)&a->in[i];
        a->list[i].ai_addrlen = sizeof a->in[i];
        a->list[i].ai_next = two && i == 0 ? &a->list[1] : NULL;
    }
    *out = a->list;
    return 0;
}

__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *list)
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
    fetch_clear(&p->f);
    if (url_normalise(text, (size_t)n, p->text, sizeof p->text, &p->f.u) != URL_OK)
        exit(2);
    p->f.done = on_done;
    e->start(e, &p->f);
}

static config times(double timeout, double connect_timeout)
{
    return (config){.timeout = timeout,
                    .connect_timeout = connect_timeout,
                    .connections = 10,
                    .allow_private = true,
                    .user_agent = "test",
                    .product = "test"};
}

static void run_until(engine *e, int loop, const page *p)
{
    while (!p->ended) {
        loop_run(loop, 10);
        e->tick(e);
    }
}

/* A port of ADDRESS with a queue of BACKLOG; -1 if it is taken. */
static int listen_on(uint32_t address, unsigned port, int backlog)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(address)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, backlog) == 0)
        return fd;
    close(fd);
    return -1;
}

static unsigned port_of(int fd)
{
    struct sockaddr_in a;
    socklen_t len = sizeof a;
    return getsockname(fd, (struct sockaddr *)&a, &len) < 0 ? 0 : ntohs(a.sin_port);
}

static void *answer_once(void *arg)
{
    static const char text[] = "HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n"
                               "Location: /early\r\nRetry-After: 9\r\n\r\n"
                               "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    char request[1000];
    int fd = accept(*(int *)arg, NULL, NULL);
    if (read(fd, request, sizeof request) > 0 && write(fd, text, sizeof text - 1) < 0)
        perror("write");
    close(fd);
    return NULL;
}

static void silent_address(void)
{
    int here, silent = -1, waiting[8];
    /* The same port of both; a queue that is full lets whoever connects wait. */
    do {
        here = listen_on(INADDR_LOOPBACK, 0, 8);
        silent = listen_on(SILENT, port_of(here), 0);
        if (silent < 0)
            close(here);
    } while (silent < 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port_of(here)),
                            .sin_addr.s_addr = htonl(SILENT)};
    for (int i = 0; i < 8; i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(waiting[i], (struct sockaddr *)&a, sizeof a) == 0)
            note("connected");
    }
    pthread_t server;
    pthread_create(&server, NULL, answer_once, &here);
    config c = times(600, 1);
    int loop = loop_new();
    engine *e = engine_curl(&c, loop, NULL);
    static page p;
    start(e, &p, "two.test", port_of(here));
    run_until(e, loop, &p);
    ok(p.f.outcome == OUT_OK && !strcmp(p.f.address, "127.0.0.1"),
       "an address that does not answer leaves time for the next (%s, %s)",
       outcome_name(p.f.outcome), p.f.address);
    ok(p.f.status == 200 && !*p.f.type && !p.f.location && p.f.retry_after < 0,
       "what was said before the answer is not said of the page");
    if (p.f.outcome != OUT_OK)
        pthread_cancel(server);
    pthread_join(server, NULL);
    e->free(e);
    fetch_free(&p.f);
    close(loop);
    for (int i = 0; i < 8; i++)
        close(waiting[i]);
    close(silent);
    close(here);
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

    config c = times(600, 600);
    int loop = loop_new();
    engine *e = engine_curl(&c, loop, NULL);
    static page given_up, other, again;
    start(e, &given_up, "slow.test", port);
    /* libcurl looks names up in threads; let this one begin. */
    while (!atomic_load(&asked)) {
        loop_run(loop, 1);
        e->tick(e);
    }
    e->cancel_all(e);
    ok(given_up.ended && given_up.f.outcome == OUT_BROKEN,
       "a page is given up without waiting for the address of its host");

    start(e, &other, "other.test", port);
    start(e, &again, "slow.test", port);
    sem_post(&may_answer[0]); /* to both who asked */
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
    silent_address();
    return done();
}
