/* rate_limit.h - --limit-rate: bytes per second over all connections, on average.
 *
 * * A started answer is read at full speed, because a connection that is held back
 * may run into its time limit and lose its page. Instead, requests wait: a token
 * bucket, which holds one second and may go into debt, pays for the bytes received
 * and for those that requests under way are expected to bring. */
#ifndef CRAWL_RATE_LIMIT_H
#define CRAWL_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rate_limit {
    uint64_t rate;   /* bytes per second; 0: no limit */
    double tokens;   /* bytes that may be received now; negative: a debt */
    double expected; /* bytes of an answer, estimated from the latest ones */
    uint64_t at;     /* milliseconds: when TOKENS was computed */
} rate_limit;

void rate_limit_start(rate_limit *r, uint64_t rate, uint64_t now);

/* Milliseconds until a request may be sent; 0: now. */
uint64_t rate_limit_wait(rate_limit *r, uint64_t now);

/* A request is sent: takes the bytes its answer is expected to bring, and returns
 * them. */
uint64_t rate_limit_begin(rate_limit *r);

/* Its answer brought BYTES where TAKEN were expected. */
void rate_limit_end(rate_limit *r, uint64_t taken, uint64_t bytes);

#endif
