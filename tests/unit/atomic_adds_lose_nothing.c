/* atomic_adds_lose_nothing.c - many threads on one filter: no bit is lost, and what is
 * read, copied or saved meanwhile is whole. Run under TSan as well. */
#include "seen.h"
#include "test_keys.h"
#include "tap.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4 };
static seen_filter *f;
static uint64_t each;
static int running; /* threads that still add */

static int to_descriptor(void *ctx, const void *p, size_t len)
{
    for (const char *at = p; len;) {
        ssize_t n = write(*(int *)ctx, at, len);
        if (n < 0)
            return SEEN_EIO;
        at += n;
        len -= (size_t)n;
    }
    return 0;
}

static void *adder(void *arg)
{
    uint64_t from = (uint64_t)(uintptr_t)arg * each, h[64];
    bool dup[64], lost_one = false;
    for (uint64_t i = 0; i < each; i += 64) {
        for (uint64_t j = 0; j < 64; j++) {
            uint64_t x = from + i + j;
            h[j] = seen_hash(f, LE8(x));
        }
        if (i / 64 % 2)
            seen_add_hashes(f, h, 64, dup, NULL);
        else
            for (int j = 0; j < 64; j++)
                seen_add_hash(f, h[j]);
        if (!seen_has_hash(f, h[63]))
            lost_one = true;
    }
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    return lost_one ? "lost" : NULL;
}

/* Saves, writes, copies and measures F until the threads are done; returns how often
 * something was not as promised. What was in before it began must be in the file. */
static unsigned read_meanwhile(const char *path, unsigned *rounds)
{
    unsigned wrong = 0;
    seen_filter *g;
    seen_stats s;
    uint64_t before = seen_added(f);
    do {
        wrong += seen_save(f, path) != 0 ||
                 seen_open(path, SEEN_READ | SEEN_VERIFY, &g) != 0 ||
                 seen_added(g) < before;
        seen_free(g);
        int fd = open(path, O_WRONLY | O_TRUNC);
        wrong += seen_write(f, to_descriptor, &fd) != 0;
        close(fd);
        wrong += seen_open(path, SEEN_LOAD, &g) != 0;
        seen_free(g);
        wrong += seen_copy(f, &g) != 0;
        seen_free(g);
        seen_get_stats(f, &s);
        wrong += s.added < before || seen_lost_expected(f) < 0;
        before = s.added;
    } while (++*rounds < 4 || __atomic_load_n(&running, __ATOMIC_ACQUIRE));
    return wrong;
}

int main(void)
{
    char path[] = "/tmp/seen-atomic-XXXXXX";
    close(mkstemp(path));
    each = WORK(200000) / 64 * 64;
    static const seen_kind kinds[] = {SEEN_CLASSIC, SEEN_BLOCKED, SEEN_SPLIT};
    for (int k = 0; k < 3; k++) {
        seen_spec spec = {.kind = kinds[k],
                          .keys = THREADS * each,
                          .error = 0.01,
                          .flags = SEEN_ATOMIC};
        ok(seen_new(&spec, &f) == 0, "an atomic %s filter", seen_kind_name(kinds[k]));
        pthread_t t[THREADS];
        running = THREADS;
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_create(&t[i], NULL, adder, (void *)i);
        unsigned rounds = 0, wrong = read_meanwhile(path, &rounds);
        int lost = 0;
        for (int i = 0; i < THREADS; i++) {
            void *r;
            pthread_join(t[i], &r);
            lost += r != NULL;
        }
        ok(wrong == 0,
           "%s: saved, written, copied and measured meanwhile, always whole",
           seen_kind_name(kinds[k]));
        uint64_t denied = 0;
        for (uint64_t i = 0; i < THREADS * each; i++)
            denied += !seen_has_u64(f, i);
        ok(denied == 0 && lost == 0,
           "%s: %d threads added disjoint keys and all are found",
           seen_kind_name(kinds[k]), THREADS);
        double n = (double)seen_added(f), want = (double)(THREADS * each);
        ok(n > want * 0.98 && n <= want * 1.001,
           "%s: the count is right but for false positives "
           "(%.0f of %.0f)",
           seen_kind_name(kinds[k]), n, want);
        seen_free(f);
    }
    unlink(path);
    return done();
}
