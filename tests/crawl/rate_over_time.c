/* rate_over_time.c - --limit-rate holds on average, whatever the answers: by a clock of
 * its own, so that no machine is too slow for it. */
#include "net/rate_limit.h"
#include "tap.h"

enum { MOST = 64 };

typedef struct flight {
    uint64_t end, taken, bytes; /* end 0: free */
} flight;

/* A crawl of SECONDS with CONNECTIONS at once; answer I has SIZE(I) bytes and takes 1
 * to 300 ms. Returns the bytes received, and the most of any ten seconds. */
static uint64_t simulate(uint64_t rate, unsigned connections, unsigned seconds,
                         uint64_t (*size)(uint64_t i), uint64_t *most_of_ten)
{
    static uint64_t by_second[4000];
    flight f[MOST] = {{0}};
    rate_limit r;
    uint64_t sum = 0, n = 0, random = 5;
    for (unsigned s = 0; s < seconds; s++)
        by_second[s] = 0;
    rate_limit_start(&r, rate, 1000);
    for (uint64_t now = 1000; now < 1000 + seconds * 1000ull; now++)
        for (unsigned k = 0; k < connections; k++) {
            if (f[k].end && f[k].end <= now) {
                rate_limit_end(&r, f[k].taken, f[k].bytes);
                sum += f[k].bytes;
                by_second[(now - 1000) / 1000] += f[k].bytes;
                f[k].end = 0;
            }
            if (!f[k].end && !rate_limit_wait(&r, now)) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                f[k] = (flight){now + 1 + (random >> 33) % 300, rate_limit_begin(&r),
                                size(n++)};
            }
        }
    *most_of_ten = 0;
    for (unsigned s = 0; s + 10 <= seconds; s++) {
        uint64_t ten = 0;
        for (unsigned k = 0; k < 10; k++)
            ten += by_second[s + k];
        if (ten > *most_of_ten)
            *most_of_ten = ten;
    }
    return sum;
}

static uint64_t small(uint64_t i)
{
    return 500 + i * 7919 % 3000;
}
static uint64_t mixed(uint64_t i)
{
    return i % 50 == 49 ? 4000000 : 2000 + i * 104729 % 60000;
}

int main(void)
{
    uint64_t ten, sum = simulate(100000, 16, 300, small, &ten);
    ok(sum <= 100000 * 301ull + 16 * 3500 && sum > 100000 * 300ull * 9 / 10,
       "300 s at 100 kB/s, small answers: %llu bytes, not more and hardly less",
       (unsigned long long)sum);
    ok(ten <= 100000 * 11 + 16 * 3500, "nor in any ten seconds (%llu)",
       (unsigned long long)ten);
    sum = simulate(1000000, 64, 1000, mixed, &ten);
    ok(sum <= 1000000 * 1001ull + 64 * 4000000ull && sum > 1000000 * 1000ull * 9 / 10,
       "1,000 s at 1 MB/s, every fiftieth answer of 4 MB: %llu bytes",
       (unsigned long long)sum);
    sum = simulate(2000, 64, 3600, mixed, &ten);
    ok(sum <= 2000 * 3601ull + 4000000,
       "an hour at 2 kB/s: one large answer is a debt that is paid first (%llu)",
       (unsigned long long)sum);
    sum = simulate(0, 16, 100, small, &ten);
    ok(sum > 16 * 100 * 1000 / 301 * 500ull, "without a limit nothing waits (%llu)",
       (unsigned long long)sum);

    rate_limit r;
    rate_limit_start(&r, 1000, 0);
    rate_limit_end(&r, rate_limit_begin(&r), 11000);
    ok(rate_limit_wait(&r, 0) == 10001,
       "after 11,000 bytes at 1,000 a second the debt is paid in ten");
    ok(rate_limit_wait(&r, 10000) > 0 && rate_limit_wait(&r, 10001) == 0,
       "not earlier, not later");
    ok(rate_limit_wait(&r, 1000000) == 0 && r.tokens == 1000,
       "idle time saves up one second, not more");
    return done();
}
