/* growth_curve.c - what a filter costs that did not know how many keys would come:
 * growth_curve [-e ERROR] [-n MOST] [-o FILE.svg]
 *
 * At numbers of keys from 100 to MOST, a fifth apart: the bits a key, and the time of a
 * lookup of absent keys in batches, of a filter grown by layers, of one grown in
 * place, of one made again from a scratch file, and of one made to measure; all in one
 * run, the best of five rounds in turn. Adds are the CPU time of all of them up to
 * there, without that of reading the clock; of fewer than SMALL, in a filter of its
 * own, the third time in a row: between two points, the lookups drive the adds out of
 * the caches. The table goes to standard output, the curves to FILE, with logarithmic
 * scales. */
#include "messages.h"
#include "scratch_hashes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LAYERS, IN_PLACE, AGAIN, MEASURED, WAYS };
enum { POINTS = 100, BATCH = 4096, ASKED = 64 * BATCH, SMALL = 200000 };

static const char *const way_name[WAYS] = {"layers", "in place", "made again",
                                            "made to measure"};
static const char *const colour[WAYS] = {"#c0392b", "#229954", "#2471a3", "#7f8c8d"};

typedef struct point {
    double keys, bits[WAYS], lookup[WAYS], add[WAYS];
} point;

static double error = 0.01, reading; /* of the clock */
static uint64_t hash[ASKED];
static bool answer[ASKED];

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t key(uint64_t i)
{
    return seen_hash_seeded(1, &i, 8);
}

static seen_filter *make(seen_kind kind, uint64_t keys)
{
    seen_spec spec = {.kind = kind, .error = error, .keys = keys};
    seen_filter *f;
    if (seen_new(&spec, &f) < 0)
        kit_die("%s", seen_reason());
    return f;
}

static seen_filter *made_to_measure(uint64_t keys)
{
    seen_spec spec = {.error = error, .keys = keys, .flags = SEEN_FIXED};
    seen_filter *f;
    if (seen_new(&spec, &f) < 0)
        kit_die("%s", seen_reason());
    return f;
}

/* The time that one reading of the clock takes. */
static double clock_time(void)
{
    double start = cpu();
    for (int i = 0; i < 1000; i++)
        cpu();
    return (cpu() - start) / 1001;
}

/* Adds keys FROM .. TO-1 to F; returns the time it took. */
static double add(seen_filter *f, uint64_t from, uint64_t to)
{
    double took = 0;
    for (uint64_t i = from; i < to;) {
        size_t n = to - i < BATCH ? (size_t)(to - i) : BATCH;
        for (size_t j = 0; j < n; j++)
            hash[j] = key(i + j);
        i += n;
        double start = cpu();
        if (seen_add_hashes(f, hash, n, answer, NULL) < 0)
            kit_die("%s", seen_reason());
        took += fmax(cpu() - start - reading, 0);
    }
    return took;
}

static seen_filter *make_way(int way, kit_scratch **scratch)
{
    seen_filter *f = make(way == LAYERS ? SEEN_BLOCKED : SEEN_AUTO, 0);
    if (way == AGAIN && !(*scratch = kit_scratch_for(f)))
        kit_die("no filter is made again at an error of %g", error);
    return f;
}

/* The time of all adds up to TO. */
static double add_all(int way, uint64_t to)
{
    double took = 0;
    for (int round = 0; round < 3; round++) {
        kit_scratch *scratch = NULL;
        seen_filter *f =
            way == MEASURED ? made_to_measure(to) : make_way(way, &scratch);
        took = add(f, 0, to);
        seen_free(f);
        if (scratch)
            kit_scratch_free(scratch);
    }
    return took;
}

static void measure(point *p, seen_filter *const f[WAYS])
{
    uint64_t n = (uint64_t)p->keys;
    for (size_t i = 0; i < ASKED; i++)
        hash[i] = key(((uint64_t)1 << 50) + n + i);
    for (int w = 0; w < WAYS; w++)
        p->lookup[w] = INFINITY;
    for (int round = 0; round < 5; round++)
        for (int w = 0; w < WAYS; w++) {
            double start = cpu();
            for (size_t i = 0; i < ASKED; i += BATCH)
                seen_has_hashes(f[w], hash + i, BATCH, answer);
            double took = (cpu() - start) / ASKED * 1e9;
            p->lookup[w] = took < p->lookup[w] ? took : p->lookup[w];
        }
    for (int w = 0; w < WAYS; w++)
        p->bits[w] = 8 * (double)seen_bytes(f[w]) / p->keys;
}

/* ---- the drawing -------------------------------------------------------------------
 */

enum { WIDE = 420, HIGH = 260, LEFT = 50, TOP = 30, GAP = 70 };

/* One panel: what() of every way over the keys, in powers of two from LEAST up. */
static void panel(FILE *to, const point *p, size_t n, int x, const char *title,
                  double least, size_t what)
{
    double from = log10(p[0].keys), wide = log10(p[n - 1].keys) - from, most = 0;
    for (size_t i = 0; i < n; i++)
        for (int w = 0; w < WAYS; w++)
            most = fmax(most, ((const double *)((const char *)(p + i) + what))[w]);
    int powers = (int)ceil(log2(most / least));
    fprintf(to, "<text x='%d' y='%d' font-weight='bold'>%s</text>\n", x, TOP - 10,
            title);
    for (int i = 0; i <= powers; i++) {
        int y = TOP + HIGH - HIGH * i / powers;
        fprintf(to,
                "<path d='M%d %dh%d' stroke='#ddd'/><text x='%d' y='%d' "
                "text-anchor='end'>%g</text>\n",
                x, y, WIDE, x - 6, y + 4, ldexp(least, i));
    }
    for (int d = (int)ceil(from - 0.01); d <= (int)(from + wide + 0.01); d++)
        fprintf(to, "<text x='%.0f' y='%d' text-anchor='middle'>10^%d</text>\n",
                x + WIDE * (d - from) / wide, TOP + HIGH + 18, d);
    for (int w = 0; w < WAYS; w++) {
        fprintf(to, "<path fill='none' stroke='%s' stroke-width='2' d='", colour[w]);
        for (size_t i = 0; i < n; i++) {
            const double *y = (const double *)((const char *)(p + i) + what);
            fprintf(to, "%c%.1f %.1f", i ? 'L' : 'M',
                    x + WIDE * (log10(p[i].keys) - from) / wide,
                    TOP + HIGH * (1 - log2(fmax(y[w], least) / least) / powers));
        }
        fprintf(to, "'/>\n");
    }
}

static void draw(const char *name, const point *p, size_t n)
{
    FILE *to = fopen(name, "w");
    if (!to)
        kit_die("%s: cannot be written", name);
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='12'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            2 * (LEFT + WIDE) + GAP, TOP + HIGH + 60);
    panel(to, p, n, LEFT, "bits a key", 8, offsetof(point, bits));
    panel(to, p, n, LEFT + WIDE + GAP, "ns a lookup in batches", 1,
          offsetof(point, lookup));
    for (int w = 0; w < WAYS; w++)
        fprintf(to,
                "<rect x='%d' y='%d' width='14' height='4' fill='%s'/>"
                "<text x='%d' y='%d'>%s</text>\n",
                LEFT + 150 * w, TOP + HIGH + 40, colour[w], LEFT + 150 * w + 20,
                TOP + HIGH + 46, way_name[w]);
    fprintf(to, "</svg>\n");
    if (fclose(to) != 0)
        kit_die("%s: cannot be written", name);
}

/* ------------------------------------------------------------------------------------
 */

static void report(const point *p, size_t n)
{
    printf("%12s", "keys");
    for (int w = 0; w < WAYS; w++)
        printf("  %16s: b   ns  add", way_name[w]);
    puts("");
    double sum[3][WAYS] = {{0}}, worst[2][WAYS] = {{0}};
    for (size_t i = 0; i < n; i++) {
        printf("%12.0f", p[i].keys);
        for (int w = 0; w < WAYS; w++) {
            printf("  %18.2f %4.1f %4.0f", p[i].bits[w], p[i].lookup[w], p[i].add[w]);
            double over[2] = {p[i].bits[w] / p[i].bits[MEASURED],
                              p[i].lookup[w] / p[i].lookup[MEASURED]};
            sum[2][w] += p[i].add[w] / (double)n;
            for (int k = 0; k < 2; k++) {
                sum[k][w] += over[k] / (double)n;
                worst[k][w] = over[k] > worst[k][w] ? over[k] : worst[k][w];
            }
        }
        puts("");
    }
    for (int w = 0; w < MEASURED; w++)
        printf("%s over made to measure, mean (worst): bytes %.2f (%.2f), time %.2f "
               "(%.2f); an add %.0f ns\n",
               way_name[w], sum[0][w], worst[0][w], sum[1][w], worst[1][w], sum[2][w]);
}

int main(int argc, char **argv)
{
    double most = 1e7;
    const char *file = NULL;
    for (int o; (o = getopt(argc, argv, "e:n:o:")) != -1;) {
        if (o == 'e')
            error = atof(optarg);
        else if (o == 'n')
            most = atof(optarg);
        else if (o == 'o')
            file = optarg;
        else
            return 2;
    }
    static point all[POINTS];
    reading = clock_time();
    seen_filter *f[WAYS];
    kit_scratch *scratch = NULL;
    for (int w = 0; w < MEASURED; w++)
        f[w] = make_way(w, &scratch);
    double took[WAYS] = {0};
    size_t n = 0;
    uint64_t have = 0;
    for (double keys = 100; keys <= most * 1.001 && n < POINTS; keys *= 1.2, n++) {
        point *p = all + n;
        uint64_t to = (uint64_t)keys;
        p->keys = (double)to;
        for (int w = 0; w < MEASURED; w++)
            took[w] += add(f[w], have, to);
        f[MEASURED] = made_to_measure(to);
        took[MEASURED] = add(f[MEASURED], 0, to);
        for (int w = 0; w < WAYS && to < SMALL; w++)
            took[w] = add_all(w, to);
        have = to;
        measure(p, f);
        for (int w = 0; w < WAYS; w++)
            p->add[w] = took[w] / keys * 1e9;
        seen_free(f[MEASURED]);
    }
    report(all, n);
    if (file)
        draw(file, all, n);
    for (int w = 0; w < MEASURED; w++)
        seen_free(f[w]);
    kit_scratch_free(scratch);
    return 0;
}
