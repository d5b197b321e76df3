/* libbloom_peer.c - the packaged libbloom and libseen on the same bits: nanoseconds a
 * key.
 *
 * Both ask and add the same keys of 40 bytes; half of those asked are there. */
#include "seen.h"
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEN 40
#ifdef BITS_T
#define FORMAT "libbloom"
#else
#define FORMAT "libbloom1"
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000000, yes = 0, ours = 0;
    char *text = malloc(2 * n * LEN);
    seen_key *keys = malloc(2 * n * sizeof *keys);
    bool *found = malloc(2 * n);
    for (size_t i = 0; i < 2 * n; i++) {
        /* members and strangers alternate */
        char *p = text + i * LEN, line[64];
        snprintf(line, sizeof line, "https://example.org/a/path/number/%06zx",
                 i * 2654435761u % 0xffffff);
        memcpy(p, line, LEN);
        keys[i] = (seen_key){p, LEN};
    }
    struct bloom b;
    if (bloom_init(&b, (int)n, 0.01))
        return 2;
    seen_params params = {.keys = n, .error = 0.01};
    seen_filter *f;
    if (seen_new_foreign(FORMAT, &params, &f) < 0)
        return 2;
    double t0 = now();
    for (size_t i = 0; i < 2 * n; i += 2)
        bloom_add(&b, keys[i].data, LEN);
    double t1 = now();
    seen_key batch[64];
    for (size_t i = 0; i < n; i += 64) {
        size_t c = n - i < 64 ? n - i : 64;
        for (size_t j = 0; j < c; j++)
            batch[j] = keys[2 * (i + j)];
        seen_add_many(f, batch, c, NULL, NULL);
    }
    double t2 = now();
    for (size_t i = 0; i < 2 * n; i++)
        yes += bloom_check(&b, keys[i].data, LEN) == 1;
    double t3 = now();
    seen_has_many(f, keys, 2 * n, found);
    double t4 = now();
    for (size_t i = 0; i < 2 * n; i++)
        ours += found[i];
    printf("%zu keys, 1%%: add %.0f ns libbloom, %.0f ns seen (%.1f times faster); "
           "ask %.0f ns, %.0f ns (%.1f times faster); %s answers\n",
           n, (t1 - t0) / (double)n * 1e9, (t2 - t1) / (double)n * 1e9,
           (t1 - t0) / (t2 - t1), (t3 - t2) / (double)(2 * n) * 1e9,
           (t4 - t3) / (double)(2 * n) * 1e9, (t3 - t2) / (t4 - t3),
           yes == ours ? "the same" : "OTHER");
    return yes != ours;
}
