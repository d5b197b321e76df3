/* build_from_streams.c - building from streams: keys beyond the memory wait on disk,
 * the result is the same, and every failure is an error that leaves nothing. */
#include "seen.h"
#include "filter/filter.h"
#include "tap.h"
#include <endian.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/seen-build-XXXXXX";

static int files_in(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

/* Feeds N small integers, from FROM on, in batches of odd sizes. */
static int feed(seen_builder *b, uint64_t from, uint64_t n)
{
    static seen_key key[1000];
    static uint64_t number[1000];
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < n;) {
        size_t m = 1 + (size_t)(i * 7 % 1000);
        m = m < n - i ? m : (size_t)(n - i);
        for (size_t j = 0; j < m; j++) {
            number[j] = htole64(from + i + j);
            key[j] = (seen_key){number + j, 8};
        }
        rc = seen_builder_add(b, key, m);
        i += m;
    }
    return rc;
}

static int calls;
static uint64_t last_done, last_of, spilled;
static int stop_at;

static int watch(void *ctx, const seen_build_progress *p)
{
    calls++;
    spilled = p->temporary;
    if (p->phase == SEEN_BUILD_SOLVING) {
        last_done = p->done;
        last_of = p->of;
    }
    return stop_at && (stop_at == 1) == (p->phase == SEEN_BUILD_TAKING);
}

/* 64 MiB hold 1.6 million keys, so that most of these wait on disk. */
static void on_disk(void)
{
    enum { N = 5000000 };
    seen_builder *b;
    seen_filter *f, *g;
    seen_build_spec spec = {.error = 0.01, .seed = 3, .tmp = dir};
    seen_builder_new(&spec, &b);
    feed(b, 0, N);
    int rc = seen_builder_finish(b, &f);
    seen_builder_free(b);
    spec = (seen_build_spec){.error = 0.01,
                             .seed = 3,
                             .tmp = dir,
                             .work = 64 << 20,
                             .threads = 2,
                             .progress = watch};
    ok(rc == 0 && seen_builder_new(&spec, &b) == 0, "a builder with little memory");
    feed(b, N / 2, N / 2);
    feed(b, 0, N); /* half of them twice */
    rc = seen_builder_finish(b, &g);
    ok(rc == 0 && calls > 5 && spilled == 8 * (N + N / 2) && last_of == N + N / 2,
       "takes 7.5 million keys, %d MB of them on disk, and tells how far it is",
       (int)(spilled / 1000000));
    ok(files_in(dir) == 0, "under no name");
    seen_builder_free(b);
    uint64_t lost = 0, wrong = 0;
    for (uint64_t i = 0; i < N; i++)
        lost += !seen_has_u64(g, i);
    for (uint64_t i = 0; i < 1000000; i++)
        wrong += seen_has_u64(g, N + i);
    ok(seen_added(f) == N && seen_added(g) == N && lost == 0,
       "%d distinct keys are in the filter, all found", N);
    ok(wrong > 9000 && wrong < 10700, "%.4f of absent ones are, too",
       (double)wrong / 1e6);
    double grew = (double)seen_bytes(g) / (double)seen_bytes(f);
    ok(grew > 0.99 && grew < 1.01, "and it is as large as one built in memory (%.4f)",
       grew);
    seen_free(f);
    seen_free(g);
}

static void failures(void)
{
    seen_builder *b;
    seen_filter *f = NULL;
    seen_build_spec spec = {.error = 2};
    ok(seen_builder_new(&spec, &b) == SEEN_EINVAL && !b, "an error of 2 is refused");
    spec = (seen_build_spec){.error = 1e-12};
    ok(seen_builder_new(&spec, &b) == SEEN_EINVAL, "so is 1e-12: %s", seen_reason());
    spec = (seen_build_spec){.error = 0.01, .memory = 1000000};
    ok(seen_builder_new(&spec, &b) == SEEN_EINVAL, "so are error and memory at once");
    spec = (seen_build_spec){.work = 1000};
    ok(seen_builder_new(&spec, &b) == SEEN_EINVAL, "so is a kilobyte to work with: %s",
       seen_reason());
    spec = (seen_build_spec){.keys = (uint64_t)1 << 50, .tmp = dir};
    ok(seen_builder_new(&spec, &b) == SEEN_EIO && errno == ENOSPC,
       "a disk too small for what is expected shows at once: %s", seen_reason());
    spec = (seen_build_spec){.work = 64 << 20, .tmp = "/nowhere/at/all"};
    seen_builder_new(&spec, &b);
    int rc = feed(b, 0, 5000000);
    ok(rc == SEEN_EIO && strstr(seen_reason(), "/nowhere/at/all"),
       "a folder that is not there is an error when it is needed: %s", seen_reason());
    ok(feed(b, 0, 1) < 0 && seen_builder_finish(b, &f) < 0 && !f,
       "after which the builder takes nothing more");
    seen_builder_free(b);

    /* A limit on the length of files stands for a full disk. */
    struct rlimit before, little;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    little = before;
    little.rlim_cur = 20 << 20;
    setrlimit(RLIMIT_FSIZE, &little);
    spec = (seen_build_spec){.work = 64 << 20, .tmp = dir};
    seen_builder_new(&spec, &b);
    rc = feed(b, 0, 10000000);
    setrlimit(RLIMIT_FSIZE, &before);
    ok(rc == SEEN_EIO && strstr(seen_reason(), dir), "a full disk is an error: %s",
       seen_reason());
    seen_builder_free(b);
    ok(files_in(dir) == 0, "and nothing is left behind");

    for (stop_at = 1; stop_at <= 2; stop_at++) {
        spec = (seen_build_spec){.work = 64 << 20, .tmp = dir, .progress = watch};
        seen_builder_new(&spec, &b);
        rc = feed(b, 0, 3000000);
        if (stop_at == 2)
            rc = rc == 0 ? seen_builder_finish(b, &f) : 1;
        ok(rc == SEEN_ECANCEL && !f, "it stops on request while %s",
           stop_at == 1 ? "taking" : "solving");
        seen_builder_free(b);
    }
    stop_at = 0;
    seen_builder_free(NULL);
}

/* Hashes that all begin alike land in one piece of work. */
static void crowded(void)
{
    enum { N = 3000000 };
    uint64_t *h = malloc(N * 8);
    seen_builder *b;
    seen_filter *f = NULL;
    for (uint64_t i = 0; i < N; i++)
        h[i] = i; /* the first step of remix spreads these evenly */
    seen_build_spec spec = {.work = 64 << 20, .tmp = dir};
    seen_builder_new(&spec, &b);
    int rc = seen_builder_add_hashes(b, h, N);
    rc = rc == 0 ? seen_builder_finish(b, &f) : rc;
    seen_builder_free(b);
    bool *found = malloc(N), all = true;
    if (f)
        seen_has_hashes(f, h, N, found);
    for (uint64_t i = 0; f && i < N; i++)
        all &= found[i];
    ok(rc == 0 && f && all, "three million integers as hashes: all are found");
    free(found);
    free(h);
    seen_free(f);
}

/* One key again and again, and all keys again and again: the filter is that of the
 * distinct ones, byte for byte. */
static void repeated(void)
{
    enum { N = 1000000 };
    seen_builder *b;
    seen_filter *f[3] = {NULL};
    int rc = 0;
    for (int kind = 0; kind < 3; kind++) {
        static uint64_t same[1000];
        seen_hasher nine;
        seen_hasher_init(&nine, SEEN_HASH_DEFAULT, 9, 0);
        seen_build_spec spec = {
            .work = 64 << 20, .tmp = dir, .seed = 9, .memory = 700000};
        seen_builder_new(&spec, &b);
        for (int i = 0; i < 1000; i++)
            same[i] =
                seen_hasher_hash(&nine, "\5\0\0\0\0\0\0\0", 8); /* the integer 5 */
        for (int i = 0; rc == 0 && kind == 1 && i < 6000; i++)
            rc = seen_builder_add_hashes(b, same, 1000);
        for (int i = 0; rc == 0 && i < (kind == 2 ? 6 : 1); i++)
            rc = feed(b, 0, N);
        rc = rc == 0 ? seen_builder_finish(b, f + kind) : rc;
        seen_builder_free(b);
    }
    bool equal[3] = {false};
    for (int i = 1; i < 3; i++)
        equal[i] = f[0] && f[i] && seen_added(f[i]) == N &&
                   seen_bytes(f[i]) == seen_bytes(f[0]) &&
                   memcmp(f[i]->layer->body, f[0]->layer->body, seen_bytes(f[0])) == 0;
    ok(rc == 0 && equal[1], "a key six million times counts once");
    ok(rc == 0 && equal[2], "so do a million keys, six times each");
    for (int i = 0; i < 3; i++)
        seen_free(f[i]);
}

/* A set of whole hashes, done with growing, becomes the smallest filter. */
static void from_set(void)
{
    enum { N = 50000 };
    seen_spec set = {.kind = SEEN_SET, .seed = 4},
              small = {.kind = SEEN_RIBBON, .error = 0.004};
    seen_filter *f, *g = NULL;
    seen_new(&set, &f);
    for (uint64_t i = 0; i < N; i++)
        seen_add_u64(f, i);
    int rc = seen_rebuild(f, &small, &g);
    uint64_t lost = 0;
    for (uint64_t i = 0; rc == 0 && i < N; i++)
        lost += !seen_has_u64(g, i);
    ok(rc == 0 && lost == 0 && seen_added(g) == N && seen_bytes(g) * 8 < 9 * N,
       "a set is rebuilt as a ribbon: %.2f bits a key instead of %.0f",
       rc == 0 ? 8.0 * (double)seen_bytes(g) / N : 0, 8.0 * (double)seen_bytes(f) / N);
    seen_free(f);
    seen_free(g);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 2;
    on_disk();
    failures();
    crowded();
    repeated();
    from_set();
    ok(rmdir(dir) == 0, "the folder is empty at the end");
    return done();
}
