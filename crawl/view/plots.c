/* plots.c - lines and bars as SVG inside a page. */
#include "human_numbers.h"
#include "markup.h"

#include <stdio.h>

enum {
    WIDTH = 640,
    HEIGHT = 180,
    LEFT = 64,
    BOTTOM = 24,
    TOP = 8,
    ROW = 20,
    NAMES = 220
};

/* The smallest of 1, 2, 5, 10, 20, ... that is not below X. */
static double round_up(double x)
{
    static const double steps[] = {1, 2, 5};
    double power = 1;
    for (;; power *= 10)
        for (int i = 0; i < 3; i++)
            if (steps[i] * power >= x || power > 1e18)
                return steps[i] * power;
}

static void begin_plot(buf *b, const char *title, int height)
{
    markup_add(b, "<svg role=\"img\" viewBox=\"0 0 %d %d\"><title>", WIDTH, height);
    markup_text(b, title);
    buf_text(b, "</title>\n");
}

void plot_lines(buf *b, const char *title, const char *from, const char *to, size_t n,
                const plot_line *lines, size_t count)
{
    double most = 0;
    char text[32];
    int floor_y = HEIGHT - BOTTOM, wide = WIDTH - LEFT - 8;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < n; i++)
            most = lines[k].y[i] > most ? lines[k].y[i] : most;
    most = round_up(most);
    begin_plot(b, title, HEIGHT);
    for (int i = 0; i <= 2; i++) {
        int y = floor_y - i * (floor_y - TOP) / 2;
        markup_add(b, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>",
                   LEFT, LEFT + wide, y, y);
        if (most * i / 2 < 1 && i)
            continue;
        markup_add(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                   LEFT - 6, y + 4, kit_show_count((uint64_t)(most * i / 2), text));
    }
    for (size_t k = 0; k < count; k++) {
        markup_add(
            b,
            "<polyline class=\"line%zu\" fill=\"none\" stroke-width=\"1.5\" points=\"",
            k);
        for (size_t i = 0; i < n; i++)
            markup_add(b, "%.1f,%.1f ",
                       LEFT + (n > 1 ? (double)wide * (double)i / (double)(n - 1) : 0),
                       floor_y - lines[k].y[i] / most * (floor_y - TOP));
        buf_text(b, "\"/>\n");
        markup_add(b, "<text class=\"key%zu\" x=\"%d\" y=\"%zu\">", k, LEFT + 8,
                   TOP + 12 + 14 * k);
        markup_text(b, lines[k].name);
        buf_text(b, "</text>\n");
    }
    markup_add(b, "<text x=\"%d\" y=\"%d\">", LEFT, HEIGHT - 6);
    markup_text(b, from);
    markup_add(b, "</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">", LEFT + wide,
               HEIGHT - 6);
    markup_text(b, to);
    buf_text(b, "</text></svg>\n");
}

void plot_bars(buf *b, const char *title, const plot_bar *bars, size_t n)
{
    double most = 0;
    char count[32], name[64];
    for (size_t i = 0; i < n; i++)
        most = bars[i].value > most ? bars[i].value : most;
    begin_plot(b, title, (int)n * ROW + 4);
    for (size_t i = 0; i < n; i++) {
        int y = (int)i * ROW;
        double w = most > 0 ? bars[i].value / most * (WIDTH - NAMES - 110) : 0;
        size_t len = strlen(bars[i].name);
        snprintf(name, sizeof name, "%.*s%s", 30, bars[i].name, len > 30 ? "..." : "");
        markup_add(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", NAMES - 8,
                   y + 15);
        markup_text(b, name);
        markup_add(b,
                   "</text><rect class=\"bar\" x=\"%d\" y=\"%d\" width=\"%.1f\" "
                   "height=\"%d\"/>",
                   NAMES, y + 3,
                   w > 0.5             ? w
                   : bars[i].value > 0 ? 0.5
                                       : 0,
                   ROW - 6);
        markup_add(b, "<text x=\"%.1f\" y=\"%d\">", NAMES + w + 6, y + 15);
        markup_text(b, bars[i].text ? bars[i].text
                                    : kit_show_count((uint64_t)bars[i].value, count));
        buf_text(b, "</text>\n");
    }
    buf_text(b, "</svg>\n");
}
