/* plot.c - error against memory and against the number of keys, as SVG.
 *
 * Both charts have one logarithmic scale of error; the theoretical minimum is grey.
 * Every curve comes from seen_solve, so it shows the filters as they would be made. */
#include "plot.h"
#include "output.h"
#include "messages.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 400, HIGH = 320, LEFT = 70, TOP = 50, GAP = 90, DECADES = 8 };

static const struct {
    seen_kind kind;
    const char *colour;
} lines[] = {
    {SEEN_CLASSIC, "#0072b2"}, {SEEN_BLOCKED, "#d55e00"}, {SEEN_SPLIT, "#009e73"},
    {SEEN_CUCKOO, "#cc79a7"},  {SEEN_RIBBON, "#e69f00"},  {SEEN_QUOTIENT, "#56b4e9"},
};

static double y_of(double error)
{
    double d = error > 0 ? -log10(error) : DECADES;
    d = d < 0 ? 0 : d > DECADES ? DECADES : d;
    return TOP + d / DECADES * HIGH;
}

static void frame(FILE *f, int x0, const char *title, const char *below)
{
    fprintf(f, "<text x='%d' y='%d' class='t'>%s</text>\n", x0, TOP - 18, title);
    fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>%s</text>\n", x0 + WIDE / 2,
            TOP + HIGH + 42, below);
    for (int d = 0; d <= DECADES; d++)
        fprintf(f,
                "<path d='M%d %.1fh%d' class='g'/><text x='%d' y='%.1f' "
                "text-anchor='end'>1e-%d</text>\n",
                x0, y_of(pow(10, -d)), WIDE, x0 - 6, y_of(pow(10, -d)) + 4, d);
}

static void tick(FILE *f, int x0, double at, const char *label)
{
    fprintf(f,
            "<path d='M%.1f %dv%d' class='g'/><text x='%.1f' y='%d' "
            "text-anchor='middle'>%s</text>\n",
            x0 + at * WIDE, TOP, HIGH, x0 + at * WIDE, TOP + HIGH + 18, label);
}

/* Begins or goes on with a curve. */
static void point(FILE *f, bool *begun, const char *colour, double x, double y)
{
    if (!*begun)
        fprintf(f, "<path class='l' stroke='%s' d='M%.1f %.1f", colour, x, y);
    else
        fprintf(f, " L%.1f %.1f", x, y);
    *begun = true;
}

static void mark(FILE *f, double x, double y)
{
    fprintf(f, "<circle cx='%.1f' cy='%.1f' r='4' fill='none' stroke='#000'/>\n", x, y);
}

/* Error against bits a key, at the number of keys of BEST. */
static void by_memory(FILE *f, const seen_size *best)
{
    const double most = 40;
    int x0 = LEFT;
    char label[48];
    frame(f, x0, "error by memory", "bits a key");
    for (int b = 0; b <= (int)most; b += 8) {
        snprintf(label, sizeof label, "%d", b);
        tick(f, x0, b / most, label);
    }
    fprintf(f, "<path d='M%d %d L%.1f %.1f' class='m'/>\n", x0, TOP,
            x0 + DECADES * log2(10) / most * WIDE, y_of(pow(10, -DECADES)));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool begun = false;
        if (!seen_kind_name(lines[i].kind))
            continue;
        for (double b = 3; b <= most; b += 0.5) {
            seen_size s = {.kind = lines[i].kind,
                           .keys = best->keys,
                           .bytes = (uint64_t)(b * (double)best->keys / 8) + 1};
            if (seen_solve(&s) < 0 || s.error >= 1)
                continue;
            point(f, &begun, lines[i].colour, x0 + b / most * WIDE, y_of(s.error));
        }
        if (begun)
            fprintf(f, "'/>\n");
    }
    if (best->bits_per_key <= most)
        mark(f, x0 + best->bits_per_key / most * WIDE, y_of(best->error));
}

/* Error against keys, in the memory of BEST. */
static void by_keys(FILE *f, const seen_size *best)
{
    int x0 = LEFT + WIDE + GAP;
    double from = (double)best->keys / 16;
    frame(f, x0, "error by keys, in the same memory", "keys");
    for (int t = 0; t <= 8; t += 2) {
        char label[48];
        snprintf(label, sizeof label, "%.3g", from * exp2(t));
        tick(f, x0, t / 8.0, label);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        bool begun = false;
        if (!seen_kind_name(lines[i].kind))
            continue;
        for (double t = 0; t <= 8; t += 0.125) {
            seen_size s = {.kind = lines[i].kind,
                           .keys = (uint64_t)(from * exp2(t)) + 1,
                           .bytes = best->bytes};
            if (seen_solve(&s) < 0 || s.error >= 1)
                continue;
            point(f, &begun, lines[i].colour, x0 + t / 8 * WIDE, y_of(s.error));
        }
        if (begun)
            fprintf(f, "'/>\n");
    }
    mark(f, x0 + 0.5 * WIDE, y_of(best->error));
}

/* What is printed goes to the output, which keeps its first failure. */
static ssize_t to_output(void *cookie, const char *p, size_t len)
{
    return kit_output_write(cookie, p, len) < 0 ? 0 : (ssize_t)len;
}

void plot_plan(const char *path, const seen_size *best)
{
    kit_output *o = kit_output_open(path);
    if (!o)
        kit_die("%s: %s", path, strerror(errno));
    FILE *f = fopencookie(o, "w", (cookie_io_functions_t){.write = to_output});
    if (!f)
        kit_die("out of memory");
    int wide = LEFT + 2 * WIDE + GAP + 30, high = TOP + HIGH + 90;
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d'>\n"
            "<style>text{font:12px sans-serif;fill:#333}.t{font-size:15px}"
            ".g{stroke:#ddd}.l{fill:none;stroke-width:2}"
            ".m{stroke:#999;stroke-width:2;stroke-dasharray:5 4}</style>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n",
            wide, high);
    by_memory(f, best);
    by_keys(f, best);
    int x = LEFT;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *name = seen_kind_name(lines[i].kind);
        if (!name)
            continue;
        fprintf(f,
                "<path d='M%d %dh24' class='l' stroke='%s'/><text x='%d' "
                "y='%d'>%s</text>\n",
                x, high - 18, lines[i].colour, x + 30, high - 14, name);
        x += 110;
    }
    fprintf(f,
            "<path d='M%d %dh24' class='m'/><text x='%d' y='%d'>least possible</text>\n"
            "</svg>\n",
            x, high - 18, x + 30, high - 14);
    fclose(f);
    if (kit_output_commit(o) < 0)
        kit_output_fail(o);
    kit_output_close(o);
}
