/* visited.h - the set of addresses found so far.
 *
 * Asked once for each address, when it is found. A wrong "yes" loses a page for ever,
 * so the error is one in a million by default, in less than 4 bytes an address; with
 * --exact 64-bit fingerprints are kept instead, 8 bytes or a little more. Knows
 * nothing of the disk: after a crash it is filled from the log. */
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

/* Whether more addresses came than were expected: time to make a larger one from the
 * log, in the same bytes an address. */
bool visited_full(const visited *v);

uint64_t visited_count(const visited *v);
uint64_t visited_bytes(const visited *v);
double visited_lost(const visited *v); /* pages lost to wrong answers, expected */

#endif
