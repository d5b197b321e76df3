/* shared_backend.h - the backend that guards on many machines share, for its own files.
 */
#ifndef GUARD_SHARED_BACKEND_H
#define GUARD_SHARED_BACKEND_H
#include "guard_internal.h"
#include "pool.h"
#include "server_connection.h"
#include "shared_scripts.h"

enum { SHARED_WAIT_MS = 400, SHARED_PAUSE_MS = 200, SHARED_SERVERS = 16 };

/* Which filter, and which of its bits belong to a key. */
typedef struct shared_shape {
    char id[20]; /* "": none */
    uint64_t bits;
    uint32_t probes;
} shared_shape;

/* The state as this process last saw it. */
typedef struct shared_view {
    char run[96]; /* of the server that said so; "": nothing was heard yet */
    uint64_t tag;
    seen_hasher hasher; /* of keys, for marks and filters */
    char epoch[20], why[12];
    shared_shape live, next;
    bool suspended;
    uint64_t enforced_ms; /* so long the filter may still refuse keys; 0: not */
    uint64_t generation, built, added, deleted, capacity, marks;
} shared_view;

typedef struct shared_backend {
    pool pool;
    char *host[SHARED_SERVERS];
    int port[SHARED_SERVERS];
    unsigned servers;
    char *name, *user, *password;
    char *state; /* the key of the state: {NAME} */
    unsigned replicas, write_lease_ms, enforce_lease_ms;
    uint64_t tag;
    pthread_mutex_t lock; /* of the view */
    fork_watch fork;
    shared_view view;
    uint64_t random; /* of this process, for tokens */
    _Atomic uint64_t tokens;
    _Atomic int64_t down_until; /* readers do not try before */
} shared_backend;

/* ---- shared_server.c: connections, and scripts run through them ---- */

typedef struct shared_server {
    sn_conn *conn;
    char run[96]; /* its run id and replication id: others after a start or failover */
    char sha[SHARED_SCRIPTS][48];
} shared_server;

/* A connection to the master with the scripts loaded, which may be silent for SILENCE
 * seconds. NULL with a reason. */
shared_server *sn_shared_connect(shared_backend *h, double silence);
void sn_shared_disconnect(void *server);

/* Asks S who it is and sets .run: 2 for a master with the replicas it needs, 1 for
 * another master, 0 for anything else, with a reason. */
int sn_shared_identify(shared_backend *h, shared_server *s);

/* A command, word by word; memory that runs out is reported when it is sent. */
typedef struct shared_words {
    char *bytes;
    size_t len, room;
    unsigned count;
    bool failed;
} shared_words;
void sn_words_add(shared_words *w, const void *p, size_t len);
void sn_words_text(shared_words *w, const char *s);
void sn_words_number(shared_words *w, uint64_t n);
/* EVALSHA of SCRIPT with KEYS keys, of which the first is added: the state's. */
void sn_words_script(shared_words *w, const shared_backend *h, const shared_server *s,
                     enum shared_script script, unsigned keys);
/* The key KIND:ID beside the state's. */
void sn_words_key(shared_words *w, const shared_backend *h, const char *kind,
                  const char *id, const void *more, size_t len);

/* Sends the words, frees them, and returns a reply that is not an error; on failure
 * NULL with a reason, and S is broken. */
redisReply *sn_shared_send(shared_server *s, shared_words *w);
/* The first letter of a script's reply, 0 if it has none; the text of element I, "" if
 * it has none. */
char sn_reply_says(const redisReply *r);
const char *sn_reply_text(const redisReply *r, size_t i);

/* ---- shared_backend.c ---- */

/* A view of the state that fits S: the last one, or a new one if FRESH or if the last
 * came from another server. 0 or a negative code; S is then broken. */
int sn_shared_look(shared_backend *h, shared_server *s, bool fresh, shared_view *v);

/* Sizes a filter without a name. SEEN_ETOOBIG above 512 MB. */
int sn_shared_size(uint64_t keys, double error, shared_shape *out);
size_t sn_shared_bytes(const shared_shape *f); /* of its bitmap, with the last byte */
uint64_t sn_shared_bit(const shared_shape *f, uint64_t hash, uint32_t probe);
/* "m" and HASH. */
void sn_shared_mark(char out[24], uint64_t hash);
uint64_t sn_shared_token(shared_backend *h);
/* Waits until enough replicas have everything sent over S: 0 or a negative code.
 * Replicas that confirm still follow S, so no other server had become master. */
int sn_shared_wait(shared_backend *h, shared_server *s);
/* Has replicas confirm that S still is their master: 0 or a negative code. */
int sn_shared_confirm(shared_backend *h, shared_server *s);

/* ---- shared_write.c, shared_build.c ---- */
int sn_shared_begin(seen_guard *g, const seen_key *keys, size_t n, bool add,
                    seen_guard_write **out);
void sn_shared_end(seen_guard_write *w, int outcome, uint64_t deleted);
int sn_shared_build(seen_guard *g, bool asked);
#endif
