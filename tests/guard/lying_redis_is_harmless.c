/* lying_redis_is_harmless.c - a Redis that lies to the cache is an error, never a
 * crash, a signal, or an answer made of nothing. */
#include "seen.h"
#include "seen_guard.h"
#include "tap.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What is answered to each command; LEN 0 closes the connection. */
typedef struct lie {
    const char *text;
    size_t len;
} lie;
#define LIE(s) ((lie){s, sizeof s - 1})

static lie on_info, on_get, on_set, on_eval, on_del, on_script, on_evalsha;
static int listener;
static uint16_t port;

/* Commands of the test are small: each comes in one piece. */
static lie answer(const char *command)
{
    return strstr(command, "\r\nINFO\r\n")      ? on_info
           : strstr(command, "\r\nGET\r\n")     ? on_get
           : strstr(command, "\r\nSET\r\n")     ? on_set
           : strstr(command, "\r\nEVAL\r\n")    ? on_eval
           : strstr(command, "\r\nSCRIPT\r\n")  ? on_script
           : strstr(command, "\r\nEVALSHA\r\n") ? on_evalsha
                                                : on_del;
}

static void *serve_one(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char command[65536];
    ssize_t n;
    while ((n = recv(fd, command, sizeof command - 1, 0)) > 0) {
        command[n] = 0;
        lie l = answer(command);
        if (!l.len || send(fd, l.text, l.len, MSG_NOSIGNAL) < 0) {
            shutdown(fd, SHUT_WR); /* an end, and then a reset: the way to EPIPE */
            break;
        }
    }
    close(fd);
    return NULL;
}

static void *serve(void *arg)
{
    (void)arg;
    for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        pthread_t t;
        if (pthread_create(&t, NULL, serve_one, (void *)(intptr_t)fd) != 0)
            exit(2);
        pthread_detach(t);
    }
    return NULL;
}

static void begin(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(listener, 16) < 0 ||
        getsockname(listener, (struct sockaddr *)&a, &len) < 0)
        exit(2);
    port = ntohs(a.sin_port);
    pthread_t t;
    if (pthread_create(&t, NULL, serve, NULL) != 0)
        exit(2);
    pthread_detach(t);
}

static void honest(void)
{
    on_info = LIE("$13\r\nrun_id:abc\r\n\0\r\n");
    on_get = LIE("$-1\r\n");
    on_set = LIE("+OK\r\n");
    on_eval = LIE(":1\r\n");
    on_del = LIE(":1\r\n");
}

enum { GET, FILL, DROP };

/* One call on a connection of its own. */
static int call(int which)
{
    seen_guard_cache c;
    seen_guard_bytes value = {0}, in = {"value", 5};
    uint64_t server;
    if (seen_guard_redis("127.0.0.1", port, "p:", 1, &c) != 0)
        return -1000;
    int rc = which == GET    ? c.get(c.ctx, "key", 3, 7, 1000, &value, &server)
             : which == FILL ? c.fill(c.ctx, "key", 3, 7, &in, 1000)
                             : c.drop(c.ctx, "key", 3);
    free(value.data);
    c.close(c.ctx);
    return rc;
}

static const lie wrong[] = {
    LIE(":-5\r\n"),
    LIE(":2\r\n"),
    LIE(":4294967297\r\n"),
    LIE(":9223372036854775807\r\n"),
    LIE(":99999999999999999999\r\n"),
    LIE("*-1\r\n"),
    LIE("*0\r\n"),
    LIE("*1\r\n$1\r\nN\r\n"),
    LIE("*2147483647\r\n"),
    LIE("*4294967296\r\n"),
    LIE("$-7\r\n"),
    LIE("$9223372036854775807\r\nx"),
    LIE("$0\r\n\r\n"),
    LIE("$1\r\n\0\r\n"),
    LIE("$1\r\nL\r\n"),
    LIE("$2\r\nNo\r\n"),
    LIE("$5\r\nother\r\n"),
    LIE("$100\r\nhalf"),
    LIE("-ERR no\r\n"),
    LIE("-\r\n"),
    LIE("HTTP/1.1 400 Bad Request\r\n\r\n"),
    LIE("\0\0\r\n"),
    LIE(""),
};
enum { WRONG = sizeof wrong / sizeof *wrong };

/* The number of lies about *WHAT that CALL believed. */
static int believed(lie *what, int which)
{
    int n = 0;
    for (int i = 0; i < WRONG; i++) {
        honest();
        *what = wrong[i];
        int rc = call(which);
        /* Any number says that a DEL was done; *-1 is a nil of the old kind. */
        bool fine = which == DROP && wrong[i].text[0] == ':' && rc == 0;
        fine |= what == &on_set && !strcmp(wrong[i].text, "*-1\r\n");
        fine |= what == &on_get && !strcmp(wrong[i].text, "*-1\r\n");
        if (rc >= 0 && !fine) {
            note("lie %d: %d", i, rc);
            n++;
        }
    }
    return n;
}

/* ---- a filter in the lying server ---- */

static int one_row(void *ctx, const void *key, size_t len, seen_guard_bytes *value)
{
    (void)ctx;
    if (len != 3 || memcmp(key, "row", 3) != 0)
        return 0;
    *value = (seen_guard_bytes){strdup("x"), 1};
    return 1;
}
static int inserted;
static int insert_row(void *ctx, const void *key, size_t len, const void *v,
                      size_t vlen)
{
    (void)ctx, (void)key, (void)len, (void)v, (void)vlen;
    inserted++;
    return 1;
}
static int scan_row(void *ctx, int (*each)(void *, const void *, size_t), void *arg)
{
    (void)ctx;
    return each(arg, "row", 3);
}

static bool complete(lie l)
{
    return l.len == 0 || (l.len >= 2 && memcmp(l.text + l.len - 2, "\r\n", 2) == 0);
}

/* Everything that a guard can do. Builders are patient, so they are left out where the
 * server stops in the middle of an answer. */
static void shared_calls(int *bad, bool build)
{
    char servers[40];
    snprintf(servers, sizeof servers, "127.0.0.1:%d", port);
    seen_guard_shared shared = {.servers = servers, .name = "x", .connections = 1};
    seen_guard_config config = {
        .shared = &shared,
        .db = {NULL, one_row, insert_row, NULL, scan_row, NULL, NULL}};
    seen_guard *g;
    seen_guard_stats st;
    if (seen_guard_open(&config, &g) < 0)
        exit(2);
    *bad += seen_guard_get(g, "row", 3, NULL) != 1;
    inserted = 0;
    *bad += seen_guard_insert(g, "new", 3, "x", 1) >= 0 || inserted;
    *bad += build && seen_guard_build(g) > 0;
    seen_guard_get_stats(g, &st);
    *bad += strcmp(st.state, "enforcing") == 0;
    seen_guard_close(g);
}

static void shared_backend(void)
{
    static const lie state[] = {
        LIE("*1\r\n$1\r\nK\r\n"),
        LIE("*18\r\n$1\r\nx\r\n"),
        LIE("*2\r\n$1\r\nW\r\n$20\r\n99999999999999999999\r\n"),
        LIE("*3\r\n$1\r\nM\r\n$1\r\nE\r\n:7\r\n"),
        LIE("*1048577\r\n"),
        LIE("*18\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:"
            "1\r\n:"
            "1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"),
    };
    int bad = 0;
    honest();
    on_info =
        LIE("$51\r\nrole:master\r\nrun_id:abc\r\nmaster_replid:def\r\n#######\r\n");
    on_script = LIE("$3\r\nsha\r\n");
    for (int i = 0; i < WRONG; i++) {
        on_evalsha = wrong[i];
        shared_calls(&bad, complete(wrong[i]));
    }
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) {
        on_evalsha = state[i];
        shared_calls(&bad, false);
    }
    ok(bad == 0, "a filter in a server that lies: rows are found, nothing is written");
    honest();
    on_evalsha = LIE("*1\r\n$1\r\nK\r\n");
    for (int i = 0; i < WRONG; i++) {
        on_info = wrong[i];
        on_script = LIE("$3\r\nsha\r\n");
        shared_calls(&bad, complete(wrong[i]));
        honest();
        on_info =
            LIE("$51\r\nrole:master\r\nrun_id:abc\r\nmaster_replid:def\r\n#######\r\n");
        on_script = wrong[i];
        shared_calls(&bad, complete(wrong[i]));
    }
    ok(bad == 0, "a server that lies about its identity is harmless, too");
}

int main(void)
{
    begin();
    honest();
    ok(call(GET) == SEEN_GUARD_LEASED && call(FILL) == 1 && call(DROP) == 0,
       "an honest server is heard");
    on_get = LIE("$1\r\nN\r\n");
    ok(call(GET) == SEEN_GUARD_MARKER, "a marker");
    on_get = LIE("$17\r\nL0123456789abcdef\r\n");
    ok(call(GET) == SEEN_GUARD_BUSY, "a lease");
    on_get = LIE("$2\r\nVx\r\n");
    ok(call(GET) == SEEN_GUARD_HIT, "a value");
    ok(believed(&on_get, GET) == 0, "GET: no lie is believed");
    ok(believed(&on_set, GET) == 0, "SET NX: no lie is believed");
    ok(believed(&on_eval, FILL) == 0, "a script: no lie is believed");
    ok(believed(&on_del, DROP) == 0, "DEL: no lie is believed");
    believed(&on_info, GET);
    ok(true, "nor is a lie about the server's name a crash");

    /* A value too large for the socket, to a server that goes away in the middle. */
    honest();
    on_eval = LIE("");
    seen_guard_cache c;
    seen_guard_bytes big = {calloc(1, 64 << 20), 64 << 20};
    if (!big.data || seen_guard_redis("127.0.0.1", port, "p:", 1, &c) != 0)
        return 2;
    ok(c.fill(c.ctx, "key", 3, 7, &big, 1000) < 0,
       "a server that goes away while it is written to is an error, no SIGPIPE");
    c.close(c.ctx);
    free(big.data);
    shared_backend();
    return done();
}
