/* remote.h - a filter that many processes share, kept in plain Redis or Valkey.
 *
 * No module is needed: the bits are ordinary strings, and asking-and-adding is one
 * atomic BITFIELD a key and batch, so that of all processes exactly one hears "new".
 * In a cluster the filter is split by hash over many keys, which all nodes share; slots
 * may move and owners may die meanwhile.
 *
 *     seen_remote *r;
 *     seen_remote_spec spec = {.keys = 100000000, .error = 1e-6, .make = true};
 *     if (seen_remote_open("redis://10.0.0.1:6379/visited", &spec, &r) < 0)
 *         fprintf(stderr, "%s\n", seen_remote_reason());
 *     seen_remote_add(r, keys, n, dup);     // dup[i]: somebody had key i before
 *     seen_remote_close(r);
 *
 * Promises. A key that was added answers yes. A filter that is missing, or a piece of
 * it that was deleted or evicted, is an error and never "everything is new". After a
 * connection broke in the middle of a batch, keys that the retry finds there may be the
 * batch's own: they are called new, so that nothing is lost and something may come
 * twice (seen_remote_stats counts them). A failover of Redis may forget what it had
 * confirmed, since its replication is asynchronous: such keys are new again.
 *
 * Not for use by several threads at once: open one each. */
#ifndef SEEN_REMOTE_H
#define SEEN_REMOTE_H
#include "seen.h"

typedef struct seen_remote seen_remote;

/* URLs: redis://[[USER]:PASSWORD@]HOST[:PORT]/NAME[?OPTION=VALUE&...]
 *       rediss://...            with TLS, if this build has it
 *       redis+unix:///PATH/TO/SOCKET?name=NAME
 * Options: db=N; timeout=SECONDS (of patience with a broken connection, 30);
 * and for filters of other programs, which are never made here unless .make is set:
 *   scheme=mmh3&bits=M&seeds=K      SETBIT NAME mmh3.hash(key, 0..K-1) % M
 *   scheme=mmh3&bits=M&seeds=5,7,11 the same with these seeds; &unsigned=1 for
 *                                   mmh3.hash(..., signed=False)
 *   scheme=scrapy&bit=30&hashes=6   ScrapyRedisBloomFilter
 *   scheme=module                   BF.* commands of a module: ours or another's */
typedef struct seen_remote_spec {
    bool make;       /* make the filter if it is missing; otherwise that is an error */
    bool module;     /* the same as scheme=module */
    uint64_t keys;   /* when made: expected keys; 0: a million */
    double error;    /* when made: 0 is 0.01 */
    uint32_t pieces; /* when made: keys in Redis; 0: as many as suit */
    uint64_t seed;   /* when made */
} seen_remote_spec;

/* SEEN_OK; SEEN_EINVAL for a bad URL, SEEN_EIO for a server that cannot be reached,
 * SEEN_EFORMAT if NAME holds something else, SEEN_EKIND if it is missing and may not be
 * made, SEEN_EDAMAGED if a piece is gone. SPEC may be NULL. */
int seen_remote_open(const char *url, const seen_remote_spec *spec, seen_remote **out);
void seen_remote_close(seen_remote *r); /* NULL is fine */

/* Adds N keys in order; dup[i] is whether key i was there before. Of equal keys in one
 * batch only the first is new. A few hundred keys at a time are fastest. On an error
 * the batch may be in partly, and dup says nothing. */
int seen_remote_add(seen_remote *r, const seen_key *keys, size_t n, bool *dup);
int seen_remote_has(seen_remote *r, const seen_key *keys, size_t n, bool *found);

/* Removes the filter whole: description first, so that a half-removed one is an error
 * to whoever still uses it. */
int seen_remote_remove(seen_remote *r);

typedef struct seen_remote_stats {
    const char *scheme;
    uint64_t keys;  /* it was made for; 0: unknown */
    double error;   /* promised with that many in; 0: unknown */
    uint64_t bytes; /* in Redis */
    uint32_t pieces;
    uint64_t added;   /* new keys of this process */
    uint64_t unsure;  /* of these, called new only because a connection broke */
    uint64_t retries; /* commands sent again */
    uint64_t moved;   /* redirections followed */
} seen_remote_stats;
void seen_remote_get_stats(seen_remote *r, seen_remote_stats *out);

/* Looks whether every piece is there: SEEN_OK or SEEN_EDAMAGED. *FILL becomes the share
 * of bits that are set, by the first megabyte of the first piece; below 0 if a module
 * keeps them. *ERROR_NOW becomes what that means for an absent key. */
int seen_remote_check(seen_remote *r, double *fill, double *error_now);

/* What went wrong last in this thread, as one sentence without a final stop. */
const char *seen_remote_reason(void);

/* Whether NAME looks like one of the URLs above. */
bool seen_remote_is_url(const char *name);

#endif
