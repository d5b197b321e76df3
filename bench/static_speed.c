/* static_speed.c - ribbon and cuckoo against the machine's own limit.
 *
 *   static_speed [N]... [NAME]...   numbers of keys, 1e6 1e7 1e8 if none is given, of
 *                                   the kinds below (ribbon8, cuckoo9 ...), or all
 *
 * For each: bits a key over the least possible, log2(1/error) with the measured error;
 * ns a key to build on one core, the hashes given; ns a lookup in batches and one by
 * one, half of the keys present; and the limit: independent random lines of 64 bytes
 * in as many bytes as the filter has, fetched 32 ahead, in the same run. CPU time of
 * this thread, the best of five; huge pages where the system gives them. */
#include "seen.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#define CPU CLOCK_THREAD_CPUTIME_ID

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

enum { ASKED = 4 << 20, AHEAD = 32 };
static uint64_t asked[ASKED];
static bool found[ASKED];
static volatile uint64_t sink;

/* ns for a random line of LEN bytes. */
static double limit(uint64_t len)
{
    uint64_t round = (len + (2 << 20)) & ~(uint64_t)((2 << 20) - 1);
    char *raw = mmap(NULL, round + (2 << 20), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *p = raw + (-(uintptr_t)raw & ((2 << 20) - 1));
    double best = 1e9;
    if (raw == MAP_FAILED)
        return 0;
    madvise(p, round, MADV_HUGEPAGE);
    memset(p, 1, round);
    for (int round3 = 0; round3 < 5; round3++) {
        uint64_t sum = 0, lines = len / 64;
        double t = now(CPU);
        for (size_t i = 0; i < ASKED; i++) {
            if (i + AHEAD < ASKED)
                __builtin_prefetch(
                    p +
                    64 * (uint64_t)((unsigned __int128)asked[i + AHEAD] * lines >> 64));
            sum +=
                (uint64_t)p[64 * (uint64_t)((unsigned __int128)asked[i] * lines >> 64)];
        }
        sink = sum;
        t = (now(CPU) - t) / ASKED * 1e9;
        best = t < best ? t : best;
    }
    munmap(raw, round + (2 << 20));
    return best;
}

static void ask(const char *name, const seen_filter *f, uint64_t n, double build)
{
    double batch = 1e9, single = 1e9;
    uint64_t wrong = 0, absent = 0, lost = 0;
    for (size_t i = 0; i < ASKED; i++)
        asked[i] = mix(i & 1 ? n + i : (uint64_t)((unsigned __int128)mix(i) * n >> 64));
    for (int round = 0; round < 5; round++) {
        double t = now(CPU);
        seen_has_hashes(f, asked, ASKED, found);
        t = (now(CPU) - t) / ASKED * 1e9;
        batch = t < batch ? t : batch;
    }
    for (size_t i = 0; i < ASKED; i++) {
        absent += i & 1;
        wrong += (i & 1) && found[i];
        lost += !(i & 1) && !found[i];
    }
    for (int round = 0; round < 5; round++) {
        uint64_t yes = 0;
        double t = now(CPU);
        for (size_t i = 0; i < ASKED / 4; i++)
            yes += (uint64_t)seen_has_hash(f, asked[i]);
        sink = yes;
        t = (now(CPU) - t) / (ASKED / 4) * 1e9;
        single = t < single ? t : single;
    }
    double e = seen_error_predicted(f), least = limit(seen_bytes(f));
    double bits = 8.0 * (double)seen_bytes(f) / (double)n;
    printf("%-9s %10.4g %8.3f %10.3g %10.3g %7.4f %8.1f %8.1f %8.1f %8.1f %7.2f%s\n",
           name, (double)n, bits, (double)wrong / (double)absent, e, bits / -log2(e),
           build, batch, single, least, batch / least,
           lost ? "  KEYS ARE MISSING" : "");
    fflush(stdout);
}

static void ribbon(const uint64_t *h, uint64_t n, double error, const char *name)
{
    seen_build_spec spec = {.error = error, .threads = 1, .work = (uint64_t)8 << 30};
    seen_builder *b;
    seen_filter *f;
    double t = now(CLOCK_PROCESS_CPUTIME_ID);
    if (seen_builder_new(&spec, &b) < 0 || seen_builder_add_hashes(b, h, n) < 0 ||
        seen_builder_finish(b, &f) < 0) {
        fprintf(stderr, "%s\n", seen_reason());
        exit(2);
    }
    t = (now(CLOCK_PROCESS_CPUTIME_ID) - t) / (double)n * 1e9;
    seen_builder_free(b);
    ask(name, f, n, t);
    seen_free(f);
}

static void cuckoo(const uint64_t *h, uint64_t n, uint32_t k, const char *name)
{
    seen_spec spec = {
        .kind = SEEN_CUCKOO, .keys = n, .error = 0.5, .probes = k, .flags = SEEN_FIXED};
    seen_filter *f;
    if (seen_new(&spec, &f) < 0) {
        fprintf(stderr, "%s\n", seen_reason());
        exit(2);
    }
    double t = now(CPU);
    if (seen_add_hashes(f, h, n, NULL, NULL) < 0)
        printf("full: ");
    t = (now(CPU) - t) / (double)n * 1e9;
    ask(name, f, n, t);
    seen_free(f);
}

static const struct {
    const char *name;
    double error; /* of a ribbon */
    uint32_t k;   /* of a cuckoo filter */
} kinds[] = {{"ribbon8", 1.0 / 256, 0}, {"ribbon1%", 0.01, 0}, {"ribbon2", 0.25, 0},
             {"cuckoo8", 0, 8},         {"cuckoo9", 0, 9},     {"cuckoo12", 0, 12},
             {"cuckoo16", 0, 16},       {"cuckoo22", 0, 22},   {"cuckoo24", 0, 24}};
#define KINDS (sizeof kinds / sizeof *kinds)

int main(int argc, char **argv)
{
    double sizes[16] = {1e6, 1e7, 1e8};
    int given = 0;
    unsigned wanted = 0;
    for (int a = 1; a < argc; a++) {
        for (size_t k = 0; k < KINDS; k++)
            wanted |= (strcmp(argv[a], kinds[k].name) == 0) << k;
        if (strtod(argv[a], NULL) > 0 && given < 16)
            sizes[given++] = strtod(argv[a], NULL);
    }
    given = given ? given : 3;
    wanted = wanted ? wanted : ~0u;
    printf("instructions: %s\n%-9s %10s %8s %10s %10s %7s %8s %8s %8s %8s %7s\n",
           seen_simd(), "kind", "keys", "bits/key", "error", "predicted", "/least",
           "build", "batch", "single", "limit", "b/limit");
    for (int a = 0; a < given; a++) {
        uint64_t n = (uint64_t)sizes[a], *h = malloc(n * 8);
        if (!h)
            return 2;
        for (uint64_t i = 0; i < n; i++)
            h[i] = mix(i);
        for (size_t k = 0; k < KINDS; k++)
            if (wanted >> k & 1 && kinds[k].k)
                cuckoo(h, n, kinds[k].k, kinds[k].name);
            else if (wanted >> k & 1)
                ribbon(h, n, kinds[k].error, kinds[k].name);
        free(h);
    }
    return 0;
}
