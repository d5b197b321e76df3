/* reads.c - file reads per absent key against bits per key: none, builtin, ours.
 *
 * The same database of 200,000 keys each time, compacted, no block cache; a read is
 * one pread of a data block. Also what writing the filters costs. */
#include "leveldb/reads.h"
#include "seen_leveldb.h"

#include <time.h>

enum { KEYS = 200000, ASKED = 100000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef leveldb_filterpolicy_t *maker(int bits);

/* Reads per absent key; the seconds of the compaction that wrote the filters; the
 * nanoseconds of one absent get. */
static double run(const char *dir, maker *make, int bits, int hashed, double *write,
                  double *get)
{
    char path[300], rm[400];
    store s;
    uint64_t reads;
    snprintf(path, sizeof path, "%s/db", dir);
    store_open(&s, path, make ? make(bits) : NULL);
    store_fill(&s, 0, KEYS, hashed);
    double t = now();
    leveldb_compact_range(s.db, NULL, 0, NULL, 0);
    *write = now() - t;
    t = now();
    store_ask(&s, 1, ASKED, KEYS, hashed, &reads);
    *get = (now() - t) / 2 / ASKED * 1e9;
    store_close(&s);
    snprintf(rm, sizeof rm, "rm -rf '%s'", path);
    if (system(rm))
        exit(2);
    return (double)reads / ASKED;
}

int main(void)
{
    static const int bits[] = {4, 6, 8, 10, 12, 16, 20};
    char dir[] = "/tmp/seen-bench.XXXXXX";
    double w[3], g[3];
    if (!mkdtemp(dir))
        return 2;
    set_mmap_limit(0);
    for (int hashed = 0; hashed < 2; hashed++) {
        printf("%s keys: file reads per absent key\n"
               "  bits/key      none   builtin      ours   ratio   absent get, ns: "
               "none builtin ours\n",
               hashed ? "hashed" : "neighbouring");
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            double none = run(dir, NULL, 0, hashed, w, g);
            double builtin = run(dir, leveldb_filterpolicy_create_bloom, bits[i],
                                 hashed, w + 1, g + 1);
            double ours = run(dir, seen_leveldb_policy, bits[i], hashed, w + 2, g + 2);
            printf("  %8d  %8.5f  %8.5f  %8.5f  %6.1f   %19.0f %7.0f %4.0f\n", bits[i],
                   none, builtin, ours, ours > 0 ? builtin / ours : 0, g[0], g[1],
                   g[2]);
            fflush(stdout);
        }
    }
    rmdir(dir);
    return 0;
}
