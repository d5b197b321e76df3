/* visited.h - the set of addresses found so far.
 *
 * Asked once for each address, when it is found. A false positive loses a page for
 * ever, so the error is one in a million by default, in less than 4 bytes per address;
 * --exact keeps long fingerprints instead, in 8.5 bytes (exact_set.h). Nothing of it is
 * on disk: after a crash it is rebuilt from the log. */
#ifndef CRAWL_VISITED_H
#define CRAWL_VISITED_H

#include "config.h"
#include "seen.h"

typedef struct visited visited;

/* KEYS is how many addresses are expected. Dies if memory runs out. */
visited *visited_new(const config *c, uint64_t seed, uint64_t keys);
void visited_free(visited *v);

/* Adds N addresses in order and says which were there before: of two equal ones only
 * the first is new. */
void visited_add(visited *v, const seen_key *keys, size_t n, bool *dup);

/* Whether more addresses came than expected: then the caller rebuilds a larger set from
 * the log, with the same bytes per address. */
bool visited_full(const visited *v);
/* How many addresses the larger set is for. */
uint64_t visited_next(const visited *v);

uint64_t visited_count(const visited *v);
uint64_t visited_bytes(const visited *v);
double visited_lost(const visited *v); /* pages lost to false positives, expected */

#endif
