/* remote_state.h - the state of an open filter in Redis, shared by the files that
 * implement remote.h: remote_create.c finds or creates it, remote_batch.c asks and
 * adds, remote.c does the rest. */
#ifndef SEEN_REDIS_REMOTE_STATE_H
#define SEEN_REDIS_REMOTE_STATE_H
#include "bit_scheme.h"
#include "nodes.h"
#include "remote.h"

struct seen_remote {
    redis_url url;
    nodes *nodes;
    bit_scheme shape;
    uint32_t mark; /* of our pieces */
    uint64_t keys;
    double error;
    bool described; /* NAME is a description, and the pieces have names of their own */
    uint64_t added, unsure;
    request *requests; /* two per piece */
    uint32_t *used;    /* keys of a round in each piece */
};

/* Stores the message for seen_remote_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int remote_fail(int code, const char *fmt, ...);

/* One command of WORDS() on KEY; SEEN_OK with *OUT, or SEEN_EIO. */
int remote_command(seen_remote *r, const char *key, redisReply **out, size_t n,
                   const char *const *words);

void remote_piece_name(const seen_remote *r, uint32_t piece, char *buf, size_t size);

/* Fails with SEEN_EIO: a reply of a type that its command never sends. */
int remote_bad_reply(const seen_remote *r);

/* Fails with SEEN_EDAMAGED: PIECE was deleted or evicted. */
int remote_piece_lost(const seen_remote *r, uint32_t piece);

/* Finds the filter on the server, or creates it if SPEC allows. 1: another process is
 * creating it right now, so look again. */
int remote_find_or_create(seen_remote *r, const seen_remote_spec *spec);

#endif
