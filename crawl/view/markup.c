/* markup.c - escaped text and the frame of a page. */
#include "markup.h"
#include "human_numbers.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void markup_add(buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = buf_room(b, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

/* Bytes of the UTF-8 character at S, which ends with a NUL; 0 if it is not one. */
static size_t character(const uint8_t *s)
{
    static const uint8_t least[5] = {0, 0, 0x80, 0xa0, 0x90}; /* of the second byte */
    size_t n = s[0] < 0x80   ? 1
               : s[0] < 0xc2 ? 0
               : s[0] < 0xe0 ? 2
               : s[0] < 0xf0 ? 3
               : s[0] < 0xf5 ? 4
                             : 0;
    if (n < 2)
        return n;
    bool tight = s[0] == 0xe0 || s[0] == 0xf0;
    if (s[1] < (tight ? least[n] : 0x80) || s[1] > (s[0] == 0xed   ? 0x9f
                                                    : s[0] == 0xf4 ? 0x8f
                                                                   : 0xbf))
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

void markup_text(buf *b, const char *s)
{
    while (*s) {
        size_t n = character((const uint8_t *)s);
        unsigned char c = (unsigned char)*s;
        const char *as = c == '<'                     ? "&lt;"
                         : c == '>'                   ? "&gt;"
                         : c == '&'                   ? "&amp;"
                         : c == '"'                   ? "&quot;"
                         : c == '\''                  ? "&#39;"
                         : !n || c < ' ' || c == 0x7f ? "\xef\xbf\xbd"
                                                      : NULL;
        if (as)
            buf_text(b, as);
        else
            buf_add(b, s, n);
        s += n ? n : 1;
    }
}

void markup_begin(buf *b, const char *title, unsigned refresh)
{
    buf_text(b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width\">\n");
    if (refresh)
        markup_add(b, "<meta http-equiv=\"refresh\" content=\"%u\">\n", refresh);
    buf_text(b, "<title>");
    markup_text(b, title);
    buf_text(
        b,
        "</title>\n<style>\n"
        ":root{color-scheme:light dark;--a:#1565c0;--b:#c62828;--soft:#8884}\n"
        "body{font:15px/1.4 system-ui,sans-serif;max-width:60rem;margin:1rem auto;"
        "padding:0 1rem}\n"
        "table{border-collapse:collapse;margin:.5rem 0 1.5rem}\n"
        "th,td{text-align:right;padding:.15rem .8rem .15rem 0;border-bottom:1px solid "
        "var(--soft);"
        "font-variant-numeric:tabular-nums;vertical-align:top}\n"
        "th:first-child,td:first-child,.text{text-align:left;overflow-wrap:anywhere}\n"
        "svg{width:100%;height:auto;max-width:46rem;display:block}\n"
        "svg text{font:12px system-ui,sans-serif;fill:currentColor}\n"
        ".bar{fill:var(--a)}.line0{stroke:var(--a)}.line1{stroke:var(--b)}"
        ".key0{fill:var(--a)}.key1{fill:var(--b)}\n"
        ".axis{stroke:var(--soft)}\n"
        "</style></head><body>\n<h1>");
    markup_text(b, title);
    buf_text(b, "</h1>\n");
}

void markup_end(buf *b)
{
    buf_text(b, "</body></html>\n");
}

void markup_row(buf *b, const char *name, uint64_t n)
{
    char count[32];
    buf_text(b, "<tr><th>");
    markup_text(b, name);
    markup_add(b, "</th><td>%s</td></tr>\n", kit_show_count(n, count));
}

void markup_failures(buf *b)
{
    buf_text(
        b,
        "<h2>Pages not fetched</h2>\n<table id=\"failures\"><tr><th>why</th>"
        "<th>pages</th>"
        "<th class=\"text\">the latest reason</th><th class=\"text\">page</th></tr>\n");
}

void markup_failure(buf *b, const char *name, uint64_t pages, const char *why,
                    const char *page)
{
    char count[32];
    if (!pages)
        return;
    markup_add(b, "<tr><td>%s</td><td>%s</td><td class=\"text\">", name,
               kit_show_count(pages, count));
    markup_text(b, why);
    buf_text(b, "</td><td class=\"text\">");
    markup_text(b, page);
    buf_text(b, "</td></tr>\n");
}

const char *markup_time(uint64_t t, char out[32])
{
    time_t s = (time_t)t;
    struct tm tm;
    strftime(out, 32, "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&s, &tm));
    return out;
}
