/* reads_per_absent_key.c - file reads per absent key: no filter, the builtin, ours.
 *
 *     reads [shapes]
 *
 * Against bits per key, as a table and drawn; or at 10 bits per key for keys of several
 * shapes. The same database of 200,000 keys each time, every second one of a series,
 * compacted, no block cache; a read is one pread of a data block. */
#include "leveldb/counted_reads.h"
#include "seen_leveldb.h"

#include <math.h>
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

static const int bits[] = {4, 6, 8, 10, 12, 16, 20};
enum { TRIED = sizeof bits / sizeof *bits, PER_DECADE = 4, DECADES = 5 };

/* The row of the chart for so many reads; below the last: none was seen. */
static int row_of(double reads)
{
    double down = reads > 0 ? -log10(reads) * PER_DECADE : DECADES * PER_DECADE + 1;
    return down > DECADES * PER_DECADE ? DECADES * PER_DECADE + 1 : (int)(down + 0.5);
}

/* Reads per absent key downward, each decade four rows, against bits per key. */
static void draw(double reads[TRIED][3])
{
    puts("\n  n none, b builtin, s ours");
    for (int row = 0; row <= DECADES * PER_DECADE + 1; row++) {
        if (row > DECADES * PER_DECADE)
            printf("  %8s |", "none");
        else if (row % PER_DECADE)
            printf("  %8s |", "");
        else
            printf("  %8g |", pow(10, -row / PER_DECADE));
        for (int x = 0, i = 0; x <= bits[TRIED - 1]; x++) {
            bool here = x == bits[i];
            for (int p = 0; p < 3; p++)
                putchar(here && row_of(reads[i][p]) == row ? "nbs"[p] : ' ');
            i += here;
        }
        putchar('\n');
    }
    printf("  %8s +", "");
    for (int x = 0; x <= bits[TRIED - 1]; x++)
        fputs("---", stdout);
    printf("\n  %8s  ", "");
    for (int x = 0, i = 0; x <= bits[TRIED - 1]; x++) {
        if (x == bits[i])
            printf("%2d ", bits[i++]);
        else
            fputs("   ", stdout);
    }
    puts(" bits per key\n");
}

static void by_shape(const char *dir)
{
    double w, g;
    printf("%-24s %9s %9s %9s %7s\n", "10 bits per key", "none", "builtin", "ours",
           "ratio");
    for (int shape = 0; shape < SHAPES; shape++) {
        double none = run(dir, NULL, 0, shape, &w, &g);
        double builtin = run(dir, leveldb_filterpolicy_create_bloom, 10, shape, &w, &g);
        double ours = run(dir, seen_leveldb_policy, 10, shape, &w, &g);
        printf("%-24s %9.5f %9.5f %9.5f %7.1f\n", shape_name[shape], none, builtin,
               ours, ours > 0 ? builtin / ours : 0);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/seen-bench.XXXXXX";
    double w[3], g[3];
    if (!mkdtemp(dir))
        return 2;
    set_mmap_limit(0);
    if (argc > 1 && strcmp(argv[1], "shapes") == 0) {
        by_shape(dir);
        rmdir(dir);
        return 0;
    }
    for (int hashed = 0; hashed < 2; hashed++) {
        printf("%s keys: file reads per absent key\n"
               "  bits/key      none   builtin      ours   ratio   absent get, ns: "
               "none builtin ours\n",
               hashed ? "hashed" : "neighbouring");
        double reads[TRIED][3];
        for (size_t i = 0; i < TRIED; i++) {
            double none = run(dir, NULL, 0, hashed, w, g);
            double builtin = run(dir, leveldb_filterpolicy_create_bloom, bits[i],
                                 hashed, w + 1, g + 1);
            double ours = run(dir, seen_leveldb_policy, bits[i], hashed, w + 2, g + 2);
            printf("  %8d  %8.5f  %8.5f  %8.5f  %6.1f   %19.0f %7.0f %4.0f\n", bits[i],
                   none, builtin, ours, ours > 0 ? builtin / ours : 0, g[0], g[1],
                   g[2]);
            fflush(stdout);
            memcpy(reads[i], (double[]){none, builtin, ours}, sizeof reads[i]);
        }
        draw(reads);
    }
    rmdir(dir);
    return 0;
}
