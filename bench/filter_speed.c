/* filter_speed.c - lookups and adds beside the machine's own limit, in one run.
 *
 * The limit is a loop that does nothing but read (or read and write) one random
 * 64-byte line a key, prefetched 64 ahead into the second-level cache, in memory of the
 * same size on the same pages. Every figure is the median of rounds in which limit,
 * ours and the peers take turns, so that a noisy machine disturbs all alike; read the
 * ratios.
 *
 *   filter_speed [MILLIONS]...       default 1 10 100
 *   filter_speed --count has|add|loop   100,000 single calls, to count instructions */
#include "seen.h"
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define QUERIES ((size_t)4 << 20)
#define ROUNDS 7
#define AHEAD 64

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x7fb5d329728ea185u;
    x = (x ^ (x >> 27)) * 0x81dadef4bc2dd44du;
    return x ^ (x >> 33);
}

static uint64_t mulhi(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static volatile uint64_t sink;

void leveldb_peer_build(uint64_t n); /* leveldb_peer.cc */
int leveldb_peer_has(const void *key, size_t len);

/* ---- the machine's limit ------------------------------------------------------- */

/* Equal buffers differ in speed by where the host put them; so the limit is measured on
 * the very bytes of the filter: its allocator is ours and remembers the body. */
static uint64_t *body;

static void *keep(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    if (bytes < 4 << 20)
        return memset(aligned_alloc(align, (bytes + align - 1) / align * align), 0,
                      bytes);
    size_t huge = 2 << 20;
    char *p = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p += -(uintptr_t)p & (huge - 1);
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void *keep_body(void *ctx, size_t bytes, size_t align)
{
    void *p = keep(ctx, bytes, align);
    if (align == 64 && !body)
        body = p;
    return p;
}

static void leave(void *ctx, void *p, size_t bytes)
{
    (void)ctx, (void)p, (void)bytes; /* the process ends soon */
}

/* The limit as it is often measured: 32 ahead, into the first-level cache. */
static void limit_usual(uint64_t *m, uint64_t lines, const uint64_t *h, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 32 < n)
            __builtin_prefetch(m + 8 * mulhi(h[i + 32], lines));
        sum += m[8 * mulhi(h[i], lines) + (h[i] & 7)];
    }
    sink = sum;
}

static void limit_read(uint64_t *m, uint64_t lines, const uint64_t *h, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(m + 8 * mulhi(h[i + AHEAD], lines), 0, 2);
        sum += m[8 * mulhi(h[i], lines) + (h[i] & 7)];
    }
    sink = sum;
}

static void limit_write(uint64_t *m, uint64_t lines, const uint64_t *h, size_t n)
{
    static volatile uint64_t zero;
    uint64_t nothing = zero; /* the compiler must not know: the filter stays as it is */
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(m + 8 * mulhi(h[i + AHEAD], lines), 0, 2);
        m[8 * mulhi(h[i], lines) + (h[i] & 7)] |= nothing;
    }
}

/* ---- rounds --------------------------------------------------------------------- */

enum what {
    LIMIT_READ,
    LIMIT_USUAL,
    LIMIT_WRITE,
    HAS_HASHES,
    HAS_KEYS,
    HAS_ONE,
    ADD_HASHES,
    ADD_KEYS,
    ADD_ONE,
    SPLIT_HAS,
    SPLIT_ONE,
    CLASSIC_HAS,
    CLASSIC_ONE,
    BLOOM_HAS,
    BLOOM_ADD,
    LEVELDB_HAS,
    WHATS
};
static const char *const label[WHATS] = {
    "limit: random line reads",
    "  the same, 32 ahead into the first level",
    "limit: random line read-modify-writes",
    "blocked, batch of hashes",
    "blocked, batch of 8-byte keys",
    "blocked, one by one",
    "blocked, add batch of hashes",
    "blocked, add batch of keys",
    "blocked, add one by one",
    "split, batch of hashes",
    "split, one by one",
    "classic, batch of hashes",
    "classic, one by one",
    "libbloom, one by one",
    "libbloom, add",
    "LevelDB's filter, one by one",
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

static seen_filter *made(seen_kind kind, uint64_t n)
{
    seen_filter *f;
    seen_spec spec = {.kind = kind,
                      .keys = n,
                      .memory = n * 10 / 8,
                      .alloc = {kind == SEEN_BLOCKED ? keep_body : keep, leave, NULL}};
    if (seen_new(&spec, &f) < 0) {
        fprintf(stderr, "filter_speed: %s\n", seen_reason());
        exit(2);
    }
    return f;
}

/* Fills with hashes of 0..n-1; returns ns a key. */
static double fill(seen_filter *f, uint64_t n, bool bulk)
{
    size_t chunk = bulk ? (size_t)n : (size_t)1 << 20;
    uint64_t *h = malloc(chunk * 8);
    bool *dup = malloc(chunk);
    double spent = 0;
    for (uint64_t i = 0; i < n; i += chunk) {
        size_t m = n - i < chunk ? (size_t)(n - i) : chunk;
        for (size_t j = 0; j < m; j++) {
            uint64_t x = i + j;
            h[j] = seen_hash(f, &x, 8);
        }
        double t = now();
        seen_add_hashes(f, h, m, bulk ? NULL : dup, NULL);
        spent += now() - t;
    }
    free(h), free(dup);
    return spent / (double)n;
}

static void bench(uint64_t n)
{
    body = NULL;
    seen_filter *blocked = made(SEEN_BLOCKED, n), *split = made(SEEN_SPLIT, n);
    seen_filter *classic = made(SEEN_CLASSIC, n);
    uint64_t lines = n * 10 / 512;
    struct bloom bloom;
    int have_bloom = n <= 100000000 && bloom_init(&bloom, (int)n, 0.00819) == 0;
    bool have_leveldb = n <= 10000000; /* its keys must all be in memory at once */
    if (have_leveldb)
        leveldb_peer_build(n);
    double bulk = fill(blocked, n, true), error[3];
    fill(split, n, true);
    fill(classic, n, false);
    if (have_bloom)
        for (uint64_t i = 0; i < n; i++)
            bloom_add(&bloom, &i, 8);
    error[0] = seen_error_predicted(blocked), error[1] = seen_error_predicted(split);
    error[2] = seen_error_predicted(classic);
    uint64_t *h = malloc(QUERIES * 8), *x = malloc(QUERIES * 8);
    seen_key *keys = malloc(QUERIES * sizeof *keys);
    bool *out = malloc(QUERIES);
    double t[WHATS][ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (size_t i = 0; i < QUERIES; i++) { /* half of them are in */
            uint64_t d = mix(i * ROUNDS + (uint64_t)r + 1);
            x[i] = d & 1 ? d % n : d;
            h[i] = seen_hash(blocked, &x[i], 8);
            keys[i] = (seen_key){&x[i], 8};
        }
#define TIME(what, ...)                                                                \
    do {                                                                               \
        double t0 = now();                                                             \
        __VA_ARGS__;                                                                   \
        t[what][r] = (now() - t0) / (double)QUERIES;                                   \
    } while (0)
#define EACH(call)                                                                     \
    for (size_t i = 0; i < QUERIES; i++)                                               \
    yes += (uint64_t)(call)
        uint64_t yes = 0;
        TIME(LIMIT_READ, limit_read(body, lines, h, QUERIES));
        TIME(LIMIT_USUAL, limit_usual(body, lines, h, QUERIES));
        TIME(HAS_HASHES, seen_has_hashes(blocked, h, QUERIES, out));
        TIME(HAS_KEYS, seen_has_many(blocked, keys, QUERIES, out));
        TIME(HAS_ONE, EACH(seen_has(blocked, &x[i], 8)));
        TIME(SPLIT_HAS, seen_has_hashes(split, h, QUERIES, out));
        TIME(SPLIT_ONE, EACH(seen_has(split, &x[i], 8)));
        TIME(CLASSIC_HAS, seen_has_hashes(classic, h, QUERIES, out));
        TIME(CLASSIC_ONE, EACH(seen_has(classic, &x[i], 8)));
        if (have_bloom) {
            TIME(BLOOM_HAS, EACH(bloom_check(&bloom, &x[i], 8)));
            TIME(BLOOM_ADD, EACH(bloom_add(&bloom, &x[i], 8)));
        }
        if (have_leveldb)
            TIME(LEVELDB_HAS, EACH(leveldb_peer_has(&x[i], 8)));
        TIME(LIMIT_WRITE, limit_write(body, lines, h, QUERIES));
        TIME(ADD_HASHES, seen_add_hashes(blocked, h, QUERIES, out, NULL));
        TIME(ADD_KEYS, seen_add_many(blocked, keys, QUERIES, out, NULL));
        TIME(ADD_ONE, EACH(seen_add(blocked, &x[i], 8)));
        sink = yes;
    }
    double limit[2] = {0, 0};
    printf("\n%g million keys, 10 bits a key, half of the lookups present\n",
           (double)n / 1e6);
    printf("  %-40s %8s %10s %10s\n", "", "ns a key", "of limit", "error");
    for (int w = 0; w < WHATS; w++) {
        if ((w == BLOOM_HAS || w == BLOOM_ADD) && !have_bloom)
            continue;
        if (w == LEVELDB_HAS && !have_leveldb)
            continue;
        bool write =
            w == LIMIT_WRITE || w == BLOOM_ADD || (w >= ADD_HASHES && w <= ADD_ONE);
        double ns = median(t[w], ROUNDS);
        if (w == LIMIT_READ || w == LIMIT_WRITE)
            limit[write] = ns;
        printf("  %-40s %8.1f %9.2fx", label[w], ns, limit[write] / ns);
        int e = w == HAS_HASHES ? 0 : w == SPLIT_HAS ? 1 : w == CLASSIC_HAS ? 2 : -1;
        if (e >= 0)
            printf(" %9.3f%%", 100 * error[e]);
        puts("");
    }
    printf("  %-40s %8.1f %9.2fx\n", "blocked, all keys in one bulk add", bulk,
           limit[1] / bulk);
    seen_free(blocked), seen_free(split), seen_free(classic);
    if (have_bloom)
        bloom_free(&bloom);
    free(h), free(x), free(keys), free(out);
}

/* Grown from nothing beside one made to measure: bytes and time of lookups. */
static void growth(uint64_t n)
{
    seen_filter *grown, *made_one;
    seen_spec spec = {.kind = SEEN_BLOCKED, .error = 0.01};
    seen_new(&spec, &grown);
    spec.keys = n, spec.flags = SEEN_FIXED;
    seen_new(&spec, &made_one);
    fill(grown, n, false), fill(made_one, n, false);
    uint64_t *h = malloc(QUERIES * 8);
    bool *out = malloc(QUERIES);
    double t[2][ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (size_t i = 0; i < QUERIES; i++) {
            uint64_t d = mix(i * ROUNDS + (uint64_t)r + 1), x = d & 1 ? d % n : d;
            h[i] = seen_hash(grown, &x, 8);
        }
        for (int g = 0; g < 2; g++) {
            double t0 = now();
            seen_has_hashes(g ? grown : made_one, h, QUERIES, out);
            t[g][r] = (now() - t0) / (double)QUERIES;
        }
    }
    double one = median(t[0], ROUNDS), many = median(t[1], ROUNDS);
    seen_stats s;
    seen_get_stats(grown, &s);
    printf("  %8g million keys: %2u layers, %.2f times the bytes, lookups %.1f ns, "
           "%.2f times\n",
           (double)n / 1e6, s.layers,
           (double)seen_bytes(grown) / (double)seen_bytes(made_one), many, many / one);
    seen_free(grown), seen_free(made_one);
    free(h), free(out);
}

static int count(const char *what)
{
    seen_filter *f = made(SEEN_BLOCKED, 100000);
    uint64_t yes = 0;
    for (uint64_t i = 0; i < 100000; i++)
        if (strcmp(what, "add") == 0)
            yes += (uint64_t)seen_add(f, &i, 8);
        else if (strcmp(what, "has") == 0)
            yes += seen_has(f, &i, 8);
        else
            yes += i; /* the loop alone */
    sink = yes;
    seen_free(f);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--count") == 0)
        return count(argv[2]);
    for (int i = 1; i < argc; i++)
        if (!(atof(argv[i]) > 0)) {
            fprintf(stderr, "usage: bench/filters [MILLIONS OF KEYS]...\n");
            return 2;
        }
    printf("instructions: %s; each figure the median of %d rounds of %zu keys\n",
           seen_simd(), ROUNDS, QUERIES);
    for (int i = 1; i < argc; i++)
        bench((uint64_t)(atof(argv[i]) * 1e6));
    if (argc == 1) {
        bench(1000000);
        bench(10000000);
        bench(100000000);
        puts("\ngrown from nothing, beside one made to measure (1% error)");
        for (uint64_t n = 1000000; n <= 10000000; n += 1500000)
            growth(n);
    }
    return 0;
}
