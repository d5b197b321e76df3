/* markup.h - HTML and SVG by hand: escaped text, tables, plots. No scripts, nothing
 * that is loaded from elsewhere. */
#ifndef CRAWL_MARKUP_H
#define CRAWL_MARKUP_H

#include "buf.h"

/* Printf into B; nothing is escaped. */
void markup_add(buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Text that others chose: the characters of markup are escaped, control characters and
 * bytes that are not UTF-8 are shown as U+FFFD, so that a page is always well-formed.
 */
void markup_text(buf *b, const char *s);

/* The head of a page with this title (which is escaped); REFRESH: reload after so many
 * seconds, 0: not. And its end. */
void markup_begin(buf *b, const char *title, unsigned refresh);
void markup_end(buf *b);

/* A row of a table: a name, and a count with separators. */
void markup_row(buf *b, const char *name, uint64_t n);

/* The table of pages that were not fetched: its head, then a row for each reason that
 * has pages. */
void markup_failures(buf *b);
void markup_failure(buf *b, const char *name, uint64_t pages, const char *why,
                    const char *page);

/* Seconds since 1970 as a date. Returns OUT. */
const char *markup_time(uint64_t t, char out[32]);

typedef struct plot_line {
    const char *name;
    const double *y;
} plot_line;

/* Lines over N evenly spaced points, from 0 to the largest value; FROM and TO stand
 * below the ends of the axis. */
void plot_lines(buf *b, const char *title, const char *from, const char *to, size_t n,
                const plot_line *lines, size_t count);

typedef struct plot_bar {
    const char *name; /* escaped here */
    double value;
    const char *text; /* the value in words, after the bar; NULL: as a number */
} plot_bar;

void plot_bars(buf *b, const char *title, const plot_bar *bars, size_t n);

#endif
