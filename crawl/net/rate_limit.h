/* rate_limit.h - --limit-rate: bytes per second over all connections, on average.
 *
 * An answer that was begun is read at full speed, because a connection that is held
 * back may run into its time limit and lose its page. Instead, no request is sent
 * before what was received, and what requests under way are expected to bring, is paid
 * for: a token bucket that holds one second, may go into debt and is asked before each
 * request. */
#ifndef CRAWL_RATE_LIMIT_H
#define CRAWL_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rate_limit {
    uint64_t rate;   /* bytes per second; 0: no limit */
    double tokens;   /* bytes that may be received now; negative: a debt */
    double expected; /* bytes of an answer, by the latest ones */
    uint64_t at;     /* milliseconds: when TOKENS was right */
} rate_limit;

void rate_limit_start(rate_limit *r, uint64_t rate, uint64_t now);

/* Milliseconds until a request may be sent; 0: now. */
uint64_t rate_limit_wait(rate_limit *r, uint64_t now);

/* A request is sent: takes what its answer is expected to bring, and returns that. */
uint64_t rate_limit_begin(rate_limit *r);

/* Its answer brought BYTES where TAKEN were expected. */
void rate_limit_end(rate_limit *r, uint64_t taken, uint64_t bytes);

#endif
