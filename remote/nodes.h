/* nodes.h - connections to one server or to all of a cluster: requests out, replies
 * back, whatever moves or breaks meanwhile. Knows no filters. */
#ifndef SEEN_REDIS_NODES_H
#define SEEN_REDIS_NODES_H
#include "redis_url.h"
#include <hiredis/hiredis.h>
#include <stddef.h>

typedef struct nodes nodes;

typedef struct request {
    unsigned slot; /* of its key: slot_of() */
    char *bytes;   /* the command as sent, from request_* below */
    size_t len, room;
    redisReply *reply; /* when done; free with requests_free() */
    bool unsure; /* sent again after a connection broke: may have been done twice */
    void *ask;   /* own to nodes.c */
} request;

/* NULL and nodes_reason() if no server answers in time. */
nodes *nodes_open(const redis_url *u);
void nodes_close(nodes *ns);
bool nodes_is_cluster(const nodes *ns);

/* Sends all requests, each to the owner of its slot, and waits for all replies. Follows
 * MOVED and ASK, reconnects and waits while slots have no owner, until the URL's
 * timeout. Requests to one slot are done in order if there is at most one of them at a
 * time. false: nodes_reason(). Replies may be errors of the command. */
bool nodes_run(nodes *ns, request *r, size_t n);

const char *nodes_reason(void);
void nodes_counts(const nodes *ns, uint64_t *retries, uint64_t *moved);

unsigned slot_of(const char *key, size_t len);

/* Commands piece by piece: start says how many words follow. */
void request_start(request *r, size_t words);
void request_word(request *r, const void *p, size_t len);
void request_text(request *r, const char *s);
void request_number(request *r, uint64_t n);
void requests_free(request *r, size_t n);

/* A whole command of texts: request_words(r, WORDS("GET", name)). */
void request_words(request *r, size_t n, const char *const *words);
#define WORDS(...)                                                                     \
    sizeof WORD_LIST(__VA_ARGS__) / sizeof(char *), WORD_LIST(__VA_ARGS__)
#define WORD_LIST(...) ((const char *[]){__VA_ARGS__})

#endif
