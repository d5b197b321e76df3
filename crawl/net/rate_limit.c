/* rate_limit.c - a token bucket that may go into debt. */
#include "rate_limit.h"

enum { FIRST_GUESS = 32 << 10, WEIGHT = 8 };

void rate_limit_start(rate_limit *r, uint64_t rate, uint64_t now)
{
    *r = (rate_limit){rate, (double)rate, FIRST_GUESS, now};
}

uint64_t rate_limit_wait(rate_limit *r, uint64_t now)
{
    if (!r->rate)
        return 0;
    double rate = (double)r->rate;
    if (now > r->at) {
        r->tokens += rate * (double)(now - r->at) / 1000;
        r->at = now;
    }
    if (r->tokens > rate)
        r->tokens = rate;
    return r->tokens > 0 ? 0 : 1 + (uint64_t)(-r->tokens * 1000 / rate);
}

uint64_t rate_limit_begin(rate_limit *r)
{
    if (!r->rate)
        return 0;
    uint64_t taken = (uint64_t)r->expected;
    r->tokens -= (double)taken;
    return taken;
}

void rate_limit_end(rate_limit *r, uint64_t taken, uint64_t bytes)
{
    if (!r->rate)
        return;
    r->tokens += (double)taken - (double)bytes;
    r->expected += ((double)bytes - r->expected) / WEIGHT;
}
