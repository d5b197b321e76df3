/* server_connection.h - one connection to a Redis or Valkey server.
 *
 * This is the only code that reads and writes through hiredis; nodes.h and the guard's
 * cache use it. Every server is treated as hostile: no call waits longer than the
 * limits, a reply cannot take more memory than they allow, and a broken connection
 * never raises SIGPIPE in the program. */
#ifndef SEEN_REMOTE_SERVER_CONNECTION_H
#define SEEN_REMOTE_SERVER_CONNECTION_H
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct sn_conn_limits {
    double connect;       /* seconds until connected */
    double silence;       /* seconds without a byte */
    double reply;         /* seconds for one whole reply */
    size_t most_elements; /* of one array in a reply; 0: no array at all */
    size_t most_bytes;    /* of one reply */
} sn_conn_limits;

typedef struct sn_conn sn_conn;

/* Connects to HOST and PORT, or to the socket at path HOST if PORT is 0. NULL:
 * sn_conn_reason() says why. */
sn_conn *sn_conn_open(const char *host, int port, const sn_conn_limits *limits);
void sn_conn_close(sn_conn *c); /* NULL is fine */

/* The connection itself, for server_tls.c. */
redisContext *sn_conn_context(sn_conn *c);

/* True if C broke: every later call on it fails. */
bool sn_conn_broken(const sn_conn *c);

/* One command and its reply, which may be an error of the command. NULL: C broke. LENS
 * may be NULL for texts. */
redisReply *sn_conn_command(sn_conn *c, int argc, const char **argv,
                            const size_t *lens);

/* The same in steps, for pipelines: queue commands in the form of the protocol, send
 * them all, read the replies in order. Hold SIGPIPE back meanwhile. */
void sn_conn_queue(sn_conn *c, const char *bytes, size_t len);
bool sn_conn_send(sn_conn *c);
redisReply *sn_conn_reply(sn_conn *c);

/* Between the two, writing to a broken connection raises no signal in this thread. */
typedef struct sn_sigpipe {
    sigset_t before;
    bool pending;
} sn_sigpipe;
sn_sigpipe sn_sigpipe_hold(void);
void sn_sigpipe_release(const sn_sigpipe *s);

/* The last error in this thread, as one sentence without a final stop. fail stores such
 * a sentence and returns false. */
const char *sn_conn_reason(void);
__attribute__((format(printf, 1, 2))) bool sn_conn_fail(const char *fmt, ...);

/* Seconds on a clock that never goes back. */
double sn_conn_now(void);

#endif
