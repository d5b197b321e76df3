/* page.h - what a page tells a crawler: its links, its base, its robots rules. */
#ifndef CRAWL_PAGE_H
#define CRAWL_PAGE_H

#include "html.h"

/* Where a link was found. */
enum page_link_kind {
    PAGE_A = 1,          /* <a href> */
    PAGE_AREA = 2,       /* <area href> */
    PAGE_NEXT = 4,       /* <link rel=next> and rel=prev */
    PAGE_CANONICAL = 8,  /* <link rel=canonical> */
    PAGE_ALTERNATE = 16, /* <link rel=alternate> */
    PAGE_FRAME = 32,     /* <frame src>, <iframe src> */
    PAGE_REFRESH = 64,   /* <meta http-equiv=refresh>, or the field Refresh */
    PAGE_SITEMAP = 128   /* not on a page: in a sitemap */
};

typedef struct page_link {
    uint32_t at, len; /* in page.text */
    uint8_t kind;
    bool nofollow; /* rel=nofollow */
} page_link;

/* Reused from page to page; all zero at first, page_free at the end. */
typedef struct page {
    page_link *links;
    size_t count, room;
    char *text; /* the links' addresses, decoded, not yet resolved */
    size_t text_len, text_room;
    bool has_base;
    uint32_t base_at, base_len;
    bool nofollow, noindex; /* meta robots */
} page;

/* Reads a page of LEN bytes and keeps links of the WANTED kinds. AGENT is the name by
 * which pages may address us in <meta name=AGENT>. False if memory ran out. */
bool page_read(page *pg, const char *html_text, size_t len, unsigned wanted,
               const char *agent);

/* Reads the value of an X-Robots-Tag field into nofollow and noindex. */
void page_robots_tag(const char *value, size_t len, const char *agent, bool *nofollow,
                     bool *noindex);

/* The address in "5; url='next.html'", as <meta http-equiv=refresh> and a Refresh field
 * have it; an empty span if there is none. */
html_span page_refresh(const char *value, size_t len);

void page_free(page *pg);

#endif
