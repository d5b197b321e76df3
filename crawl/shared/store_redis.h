/* store_redis.h - what the files of the shared store know of each other.
 *
 *   join      what the workers of a crawl agree on (join.c)
 *   leases    which hosts are this worker's for now (leases.c)
 *   shards    how scripts and words get to Redis (script_calls.c)
 *   replicas  --wait (replicas.c)
 *   the store itself: links and done pages out, counts back (store_redis.c) */
#ifndef CRAWL_STORE_REDIS_H
#define CRAWL_STORE_REDIS_H

#include "queue/schedule.h"
#include "nodes.h"
#include "scripts.h"
#include "seen.h"

enum { SHARDS = 64 };

/* A host leased to this worker. */
typedef struct lease {
    host *h;
    char **items;
    size_t count, next;
    unsigned open; /* taken and not yet done */
    bool lost, leaving;
    struct lease *list;
} lease;

/* Words to send to one shard. */
typedef struct outbox {
    buf words; /* each: length as varint, bytes */
    size_t count;
    buf pages; /* of done pages: the number of each in the outputs, as uint32_t */
} outbox;

typedef struct redis_state {
    nodes *ns;
    redis_url u;
    char sha[SCRIPTS][41];
    char prefix[SHARDS][1100];
    unsigned slot[SHARDS];
    char worker[40], mode[16], cap[32], err[32], lease_ms[32];
    seen_hasher hasher; /* of addresses; its secret is in Redis */
    outbox push[SHARDS], again[SHARDS], done[SHARDS], release[SHARDS];
    size_t waiting; /* words in all of them, and leases to give back */
    uint64_t batch; /* of done pages */
    buf refused;    /* pages that were no longer ours: their numbers in the outputs */
    lease *leases;
    uint64_t claimed_at, claim_wait, renewed_at;
    bool look[SHARDS]; /* hosts were given back here: there may be more to do */
    unsigned first_shard;
    uint64_t *pushed; /* fingerprints this worker has sent already, the latest ones */
    uint64_t status[5];
    bool warned;
    uint64_t owner[SHARDS], alone_until[SHARDS], owners_at; /* for --wait */
} redis_state;

static inline redis_state *state(const schedule *q)
{
    return q->store_state;
}

/* ---- shards: all of these end the program if Redis does not answer -----------------
 */

/* Names the shards, and loads the scripts into the server. */
void shards_open(redis_state *s);
unsigned shard_of(const char *origin, size_t len);
void shards_run(redis_state *s, request *r, size_t n);
void reply_check(const request *r); /* ends the program if the reply is an error */
/* The text of a reply; ends the program if the reply is not text. */
const char *reply_text(const redisReply *r);
/* The same for a list, and for number I of a list of N. */
void reply_array(const redisReply *r);
uint64_t reply_number(const redisReply *r, size_t i, size_t n);
/* One command of WORDS() to the owner of KEY; the reply may be an error. */
redisReply *shards_command(redis_state *s, request *r, const char *key, size_t n,
                           const char *const *word);

/* A script for one shard; ARGS words follow. */
void script_start(redis_state *s, request *r, unsigned shard, int script, size_t args);
/* Runs N scripts of one kind; no reply is an error. */
void scripts_run(redis_state *s, request *r, size_t n, int script);

void box_add(redis_state *s, outbox *b, const void *p, size_t n);
/* Sends all boxes through SCRIPT, a request a shard at a time; HEAD words come first,
 * and STEP words belong together. Of done pages, those refused are kept in s->refused.
 */
void boxes_send(redis_state *s, outbox *boxes, int script, const char *const *head,
                size_t head_count, size_t step);
/* Copies the boxes, to send them again; TO is overwritten. */
void boxes_copy(redis_state *s, const outbox *from, outbox *to);

/* ---- leases ------------------------------------------------------------------------
 */

void leases_open(schedule *q);
void leases_refill(schedule *q);
void leases_give_back(schedule *q); /* those that are leaving */
void leases_leave(schedule *q);     /* marks all of them so */
job *lease_next(schedule *q, host *h);
uint64_t lease_queued(const host *h);
void lease_idle(schedule *q, host *h);

/* ---- replicas ----------------------------------------------------------------------
 */

/* Waits until replicas have what was sent (--wait), because asynchronous replication
 * may lose what a server confirmed. A server without replicas is not waited for again
 * for a while. False if one had fewer than wanted: it may be a new master that never
 * received what we sent. */
bool replicas_wait(schedule *q, const bool touched[SHARDS]);

/* ---- join --------------------------------------------------------------------------
 */

/* Reads from Redis how the crawl remembers and what its seeds are; the first worker
 * decides. */
void join_crawl(schedule *q);

/* Makes Redis the store of Q (store_redis.c); dies if it does not answer. */
void store_redis_open(schedule *q);

#endif
