/* outcome.h - how a page ended, and the room its words take. */
#ifndef CRAWL_OUTCOME_H
#define CRAWL_OUTCOME_H

enum outcome {
    OUT_OK,        /* an answer came, whatever its status */
    OUT_ROBOTS,    /* robots.txt forbids it */
    OUT_DNS,       /* the name does not resolve */
    OUT_CONNECT,   /* no connection */
    OUT_TLS,       /* the certificate is not trusted, or the handshake failed */
    OUT_TIMEOUT,   /* too slow */
    OUT_BROKEN,    /* not HTTP, or ended too early */
    OUT_PRIVATE,   /* an address that is not public */
    OUT_REDIRECTS, /* too many in a row */
    OUT_HOST,      /* given up with its host */
    OUT_LIMIT,     /* over --host-pages */
    OUT_TRAP,      /* its host shows nothing new any more */
    OUT_SESSION,   /* an address with a session id: fetched without it */
    OUT_KINDS
};
const char *outcome_name(int outcome);

/* Bytes, with the NUL: a reason in words, and an ETag that is sent back. */
enum { WHY_ROOM = 256, ETAG_ROOM = 200 };

#endif
