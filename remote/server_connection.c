/* server_connection.c - hiredis with limits on time and memory. */
#include "server_connection.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sn_conn {
    redisContext *context;
    sn_conn_limits limits;
    char name[280]; /* host:port, for messages */
    bool broken;
};

/* ---- reasons ------------------------------------------------------------------- */

static _Thread_local char reason[700];

const char *sn_conn_reason(void)
{
    return reason;
}

bool sn_conn_fail(const char *fmt, ...)
{
    char text[sizeof reason]; /* an argument may be the previous reason */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    memcpy(reason, text, sizeof reason);
    return false;
}

/* Marks C as broken. hiredis reports a read that waited too long as EAGAIN. */
static bool broke(sn_conn *c, const char *why)
{
    if (!why)
        why = c->context->errstr;
    if (!strcmp(why, strerror(EAGAIN)))
        why = "no answer in time";
    c->broken = true;
    return sn_conn_fail("%s: %s", c->name, why);
}

bool sn_conn_broken(const sn_conn *c)
{
    return c->broken || c->context->err;
}

/* ---- limits -------------------------------------------------------------------- */

double sn_conn_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Never zero, which would mean for ever. */
static struct timeval patience(double s)
{
    s = s < 0.001 ? 0.001 : s;
    return (struct timeval){(time_t)s, (suseconds_t)((s - (double)(time_t)s) * 1e6)};
}

/* hiredis allocates an array before its first element arrives, so the length that the
 * server claims is checked first. */
#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif
static redisReplyObjectFunctions bounded;
static void *(*create_array)(const redisReadTask *, element_count);

static void *create_bounded(const redisReadTask *task, element_count n)
{
    const sn_conn_limits *limits = task->privdata;
    return (size_t)n > limits->most_elements || !limits->most_elements
               ? NULL
               : create_array(task, n);
}

static pthread_once_t bound_once = PTHREAD_ONCE_INIT;

static void make_bounded(void)
{
    redisReader *r = redisReaderCreate();
    if (!r)
        return;
    bounded = *r->fn;
    create_array = bounded.createArray;
    bounded.createArray = create_bounded;
    redisReaderFree(r);
}

/* ---- connecting ---------------------------------------------------------------- */

sn_conn *sn_conn_open(const char *host, int port, const sn_conn_limits *limits)
{
    sn_conn *c = calloc(1, sizeof *c);
    pthread_once(&bound_once, make_bounded);
    if (!c || !create_array) {
        free(c);
        sn_conn_fail("out of memory");
        return NULL;
    }
    c->limits = *limits;
    snprintf(c->name, sizeof c->name, port ? "%s:%d" : "%s", host, port);
    struct timeval tv = patience(limits->connect);
    c->context = port ? redisConnectWithTimeout(host, port, tv)
                      : redisConnectUnixWithTimeout(host, tv);
    if (!c->context || c->context->err) {
        sn_conn_fail("%s: %s", c->name,
                     c->context ? c->context->errstr : "out of memory");
        sn_conn_close(c);
        return NULL;
    }
    c->context->reader->fn = &bounded;
    c->context->reader->privdata = &c->limits;
    redisSetTimeout(c->context, patience(limits->silence));
    if (port)
        redisEnableKeepAlive(c->context);
    return c;
}

void sn_conn_close(sn_conn *c)
{
    if (!c)
        return;
    if (c->context)
        redisFree(c->context);
    free(c);
}

redisContext *sn_conn_context(sn_conn *c)
{
    return c->context;
}

/* ---- commands ------------------------------------------------------------------ */

void sn_conn_queue(sn_conn *c, const char *bytes, size_t len)
{
    redisAppendFormattedCommand(c->context, bytes, len);
}

bool sn_conn_send(sn_conn *c)
{
    int sent = 0;
    while (!sent)
        if (redisBufferWrite(c->context, &sent) != REDIS_OK)
            return broke(c, NULL);
    return true;
}

redisReply *sn_conn_reply(sn_conn *c)
{
    void *reply = NULL;
    size_t bytes = 0;
    double end = 0;
    while (redisGetReplyFromReader(c->context, &reply) == REDIS_OK) {
        if (reply)
            return reply;
        if (end == 0)
            end = sn_conn_now() + c->limits.reply;
        if (sn_conn_now() > end || bytes > c->limits.most_bytes) {
            broke(c, bytes > c->limits.most_bytes ? "an endless answer"
                                                  : "no answer in time");
            return NULL;
        }
        size_t before = c->context->reader->len;
        if (redisBufferRead(c->context) != REDIS_OK)
            break;
        bytes += c->context->reader->len - before;
    }
    broke(c, NULL);
    return NULL;
}

redisReply *sn_conn_command(sn_conn *c, int argc, const char **argv, const size_t *lens)
{
    sn_sigpipe s = sn_sigpipe_hold();
    redisReply *reply = NULL;
    if (redisAppendCommandArgv(c->context, argc, argv, lens) != REDIS_OK)
        broke(c, NULL);
    else if (sn_conn_send(c))
        reply = sn_conn_reply(c);
    sn_sigpipe_release(&s);
    return reply;
}

/* ---- SIGPIPE ------------------------------------------------------------------- */

/* hiredis writes with write(2), which raises SIGPIPE on a broken connection. The signal
 * is blocked and, if it arrives, removed; one that was pending before stays. */
sn_sigpipe sn_sigpipe_hold(void)
{
    sn_sigpipe s;
    sigset_t pipe, waiting;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&waiting);
    s.pending = sigismember(&waiting, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &s.before);
    return s;
}

void sn_sigpipe_release(const sn_sigpipe *s)
{
    sigset_t pipe;
    struct timespec none = {0, 0};
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!s->pending)
        while (sigtimedwait(&pipe, NULL, &none) > 0)
            ;
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}
