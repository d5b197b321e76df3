/* found_links.h - the addresses that one page, sitemap or command line brings. */
#ifndef CRAWL_FOUND_LINKS_H
#define CRAWL_FOUND_LINKS_H

#include "buf.h"
#include "url.h"

/* Normalised addresses, one after the other. */
typedef struct found_links {
    buf text;
    url *u; /* offsets into TEXT until found_links_ready */
    size_t count, room;
    struct known_origins *known; /* origins that links began with lately */
} found_links;

void found_links_add(found_links *l, const url *u); /* copies its text */

/* Resolves LINK against BASE and adds it; false if it is not an address. */
bool found_links_resolve(found_links *l, const url *base, const char *link, size_t len);

void found_links_ready(
    found_links *l); /* the urls' texts point into TEXT from here on */
void found_links_clear(found_links *l);
void found_links_free(found_links *l);

#endif
