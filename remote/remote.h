/* remote.h - a filter in plain Redis or Valkey, shared by many processes.
 *
 * No module is needed: the bits are ordinary strings, and adding a batch is one atomic
 * BITFIELD per piece, so exactly one of all processes learns that a key is new. In a
 * cluster the filter is split by hash over many keys, which are spread over all nodes;
 * slots may move and owners may die while it is in use.
 *
 *     seen_remote *r;
 *     seen_remote_spec spec = {.keys = 100000000, .error = 1e-6, .make = true};
 *     if (seen_remote_open("redis://10.0.0.1:6379/visited", &spec, &r) < 0)
 *         fprintf(stderr, "%s\n", seen_remote_reason());
 *     seen_remote_add(r, keys, n, dup);     // dup[i]: key i was added before
 *     seen_remote_close(r);
 *
 * Promises. A key that was added is found. A missing filter, or a piece of it that was
 * deleted or evicted, is an error and never "everything is new". If a connection breaks
 * in the middle of a batch, keys that the retry finds may be the batch's own: they are
 * reported as new, so no key is lost but one may be new twice (seen_remote_stats
 * counts them). Replication in Redis is asynchronous, so a failover may forget keys it
 * had confirmed: they are new again.
 *
 * One thread at a time may use a seen_remote; open one for each thread. */
#ifndef SEEN_REMOTE_H
#define SEEN_REMOTE_H
#include "seen.h"

typedef struct seen_remote seen_remote;

/* URLs: redis://[[USER]:PASSWORD@]HOST[:PORT]/NAME[?OPTION=VALUE&...]
 *       rediss://...            with TLS, if this build has it
 *       redis+unix:///PATH/TO/SOCKET?name=NAME
 * The password may instead be in the environment variable SEEN_REDIS_PASSWORD, or in a
 * file: password-file=PATH. ps shows a URL to everybody.
 * Options: db=N; timeout=SECONDS until a broken connection is an error [30];
 * and for filters of other programs:
 *   scheme=mmh3&bits=M&seeds=K      SETBIT NAME mmh3.hash(key, 0..K-1) % M
 *   scheme=mmh3&bits=M&seeds=5,7,11 the same with these seeds; &unsigned=1 for
 *                                   mmh3.hash(..., signed=False)
 *   scheme=scrapy&bit=30&hashes=6   ScrapyRedisBloomFilter
 *   scheme=module                   BF.* commands of a module: ours or another's */
typedef struct seen_remote_spec {
    bool make;     /* create the filter if it is missing; otherwise that is an error */
    bool module;   /* the same as scheme=module */
    uint64_t keys; /* if created: expected keys; 0: a million */
    double error;  /* if created: 0 is 0.01 */
    uint32_t pieces; /* if created: keys in Redis; 0: chosen by size */
    uint64_t seed;   /* if created; 0, with .seed_high 0: a random secret */
    uint64_t seed_high;
} seen_remote_spec;

/* SEEN_OK; SEEN_EINVAL for a bad URL, SEEN_EIO for a server that cannot be reached,
 * SEEN_EFORMAT if NAME holds something else, SEEN_EKIND if it is missing and .make is
 * not set, SEEN_EDAMAGED if a piece is gone. SPEC may be NULL. */
int seen_remote_open(const char *url, const seen_remote_spec *spec, seen_remote **out);
void seen_remote_close(seen_remote *r); /* NULL is fine */

/* Adds N keys in order; dup[i] is true if key i was there before. Of equal keys in one
 * batch only the first is new. A few hundred keys at a time are fastest. After an
 * error part of the batch may have been added, and dup is undefined. */
int seen_remote_add(seen_remote *r, const seen_key *keys, size_t n, bool *dup);
int seen_remote_has(seen_remote *r, const seen_key *keys, size_t n, bool *found);

/* Removes the filter, its description first: a process that still uses a half-removed
 * filter gets an error. */
int seen_remote_remove(seen_remote *r);

typedef struct seen_remote_stats {
    const char *scheme;
    uint64_t keys;  /* its capacity; 0: unknown */
    double error;   /* promised with that many keys; 0: unknown */
    uint64_t bytes; /* in Redis */
    uint32_t pieces;
    uint64_t added;   /* new keys of this process */
    uint64_t unsure;  /* of these, reported as new only because a connection broke */
    uint64_t retries; /* commands sent again */
    uint64_t moved;   /* redirections followed */
} seen_remote_stats;
void seen_remote_get_stats(seen_remote *r, seen_remote_stats *out);

/* Checks that every piece exists: SEEN_OK or SEEN_EDAMAGED. Sets *FILL to the share of
 * set bits, estimated from the first megabyte of the first piece, or below 0 if a
 * module holds the bits, and *ERROR_NOW to the false positive rate at that fill. */
int seen_remote_check(seen_remote *r, double *fill, double *error_now);

/* The last error in this thread, as one sentence without a final stop. */
const char *seen_remote_reason(void);

#endif
