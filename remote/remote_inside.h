/* remote_inside.h - a filter in Redis, for the files that are it: remote_make.c finds
 * or makes it, remote_round.c asks and adds, remote.c is the rest. */
#ifndef SEEN_REDIS_REMOTE_INSIDE_H
#define SEEN_REDIS_REMOTE_INSIDE_H
#include "bit_scheme.h"
#include "nodes.h"
#include "remote.h"

struct seen_remote {
    redis_url url;
    nodes *ns;
    bit_scheme s;
    uint32_t mark; /* of our pieces */
    uint64_t keys;
    double error;
    bool described; /* NAME is a description, pieces have names of their own */
    uint64_t added, unsure;
    request *r;     /* one a piece */
    uint32_t *used; /* keys of a round in each piece */
};

/* Keeps the sentence for seen_remote_reason() and returns CODE. */
__attribute__((format(printf, 2, 3))) int remote_fail(int code, const char *fmt, ...);

/* One command of WORDS() on KEY; SEEN_OK with *OUT, or SEEN_EIO. */
int remote_command(seen_remote *r, const char *key, redisReply **out, size_t n,
                   const char *const *words);

void remote_piece_name(const seen_remote *r, uint32_t piece, char *buf, size_t size);

/* SEEN_EIO: a reply of a kind that its command does not have. */
int remote_strange(const seen_remote *r);

/* SEEN_EDAMAGED: PIECE was deleted or evicted. */
int remote_lost(const seen_remote *r, uint32_t piece);

/* Looks what the name is on the server, and makes it if SPEC allows. 1: somebody else
 * is making it right now, look again. */
int remote_look(seen_remote *r, const seen_remote_spec *spec);

#endif
