/* found.h - the addresses that one page, sitemap or command line brings. */
#ifndef CRAWL_FOUND_H
#define CRAWL_FOUND_H

#include "buf.h"
#include "url.h"

/* Addresses in one spelling, one after the other. */
typedef struct found {
    buf text;
    url *u; /* offsets into TEXT until found_ready */
    size_t count, room;
} found;

void found_add(found *l, const url *u); /* copies its text */

/* Adds LINK as it is resolved against BASE; false if it is not an address. */
bool found_resolve(found *l, const url *base, const char *link, size_t len);

void found_ready(found *l); /* the urls' texts point into TEXT from here on */
void found_clear(found *l);
void found_free(found *l);

#endif
