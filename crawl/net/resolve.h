/* resolve.h - names to addresses, without stopping the loop.
 *
 * A few threads ask the system's resolver; answers come back through the loop and are
 * cached for five minutes, failures for one. */
#ifndef CRAWL_RESOLVE_H
#define CRAWL_RESOLVE_H

#include "config.h"
#include "loop.h"

#include <sys/socket.h>

enum { RESOLVE_MOST = 8 };

typedef struct addresses {
    int count; /* 0: the name does not resolve */
    struct sockaddr_storage a[RESOLVE_MOST];
    socklen_t len[RESOLVE_MOST];
} addresses;

typedef struct resolver resolver;

resolver *resolver_new(const config *c, int loop);
void resolver_free(resolver *r);

/* Finds the addresses of HOST (as in a URL: a name, an IPv4 number, IPv6 in brackets)
 * and calls DONE, at once if they are known. The addresses are valid in DONE only. */
void resolver_ask(resolver *r, const char *host, size_t len, uint16_t port,
                  void (*done)(void *ctx, const addresses *a), void *ctx);

/* Stops waiting for HOST: DONE will not be called with CTX. Otherwise a late answer
 * could reach a CTX that meanwhile waits for another name. */
void resolver_forget(resolver *r, const char *host, size_t len, uint16_t port,
                     const void *ctx);

#endif
