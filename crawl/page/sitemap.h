/* sitemap.h - the addresses in a sitemap: XML, an index of sitemaps, or plain lines;
 * also gzipped. */
#ifndef CRAWL_SITEMAP_H
#define CRAWL_SITEMAP_H

#include <stdbool.h>
#include <stddef.h>

#define SITEMAP_LIMIT (50 << 20) /* bytes, unpacked, as the protocol says */

/* Calls FOUND for each address, decoded but not resolved; NESTED if it is itself a
 * sitemap. Returns how many, or -1 if the gzip data is broken from the start. */
long sitemap_read(const char *text, size_t len,
                  void (*found)(void *ctx, const char *loc, size_t len, bool nested),
                  void *ctx);

#endif
