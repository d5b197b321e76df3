/* robots.h - robots.txt, RFC 9309: what a host asks crawlers to leave alone.
 *
 * Groups of one agent are merged, the most specific agent's groups count, the
 * longest matching rule wins and "allow" wins a tie; '*' and '$' in patterns;
 * crawl-delay and sitemap beyond the RFC. Matching takes time linear in the path
 * for each star at worst; both sides are compared in one spelling of escapes. */
#ifndef CRAWL_ROBOTS_H
#define CRAWL_ROBOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROBOTS_LIMIT (512 << 10) /* bytes that are read; the RFC asks for 500 KiB */

typedef struct robots robots;

/* Reads the text for AGENT, the product word of our User-Agent such as "seen-crawl".
 * Returns NULL if memory ran out. */
robots *robots_parse(const char *text, size_t len, const char *agent);

/* Rules that allow everything (no robots.txt) or nothing (it cannot be fetched). */
robots *robots_all(bool allowed);

void robots_free(robots *r);

/* Whether PATH (with its query, normalised as url.h does) may be fetched. */
bool robots_allowed(const robots *r, const char *path, size_t len);

/* The crawl-delay in seconds; negative if there is none. */
double robots_delay(const robots *r);

/* The I-th sitemap's address as written, or NULL after the last. */
const char *robots_sitemap(const robots *r, size_t i);

#endif
