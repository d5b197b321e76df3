/* nodes.h - one server or all servers of a cluster: sends requests and returns replies,
 * even if slots move or connections break meanwhile. Knows no filters. */
#ifndef SEEN_REDIS_NODES_H
#define SEEN_REDIS_NODES_H
#include "redis_url.h"
#include "server_request.h"

typedef struct nodes nodes;

/* NULL and nodes_reason() if no server answers in time. */
nodes *nodes_open(const redis_url *u);
void nodes_close(nodes *ns);
bool nodes_is_cluster(const nodes *ns);

/* Sends all requests, each to the owner of its slot, and waits for all replies. Follows
 * MOVED and ASK, reconnects and waits while slots have no owner, until the URL's
 * timeout. Two requests to one slot may be executed in any order. false:
 * nodes_reason(). Replies may be errors of the command. */
bool nodes_run(nodes *ns, request *r, size_t n);

const char *nodes_reason(void);
void nodes_counts(const nodes *ns, uint64_t *retries, uint64_t *moved);

#endif
