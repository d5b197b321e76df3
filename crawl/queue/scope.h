/* scope.h - which addresses belong to the crawl, and which look like a trap. */
#ifndef CRAWL_SCOPE_H
#define CRAWL_SCOPE_H

#include "config.h"
#include "url.h"

typedef struct scope scope;

enum scope_verdict {
    SCOPE_IN = 0,
    SCOPE_ELSEWHERE, /* another host, or not http */
    SCOPE_PATTERN,   /* --include or --exclude says no */
    SCOPE_TRAP,      /* too long, or segments that repeat themselves */
    SCOPE_VERDICTS
};

/* Compiles the patterns; dies with a message if one is wrong. */
scope *scope_new(const config *c);
void scope_free(scope *s);

/* Makes U's host (or registered domain) part of the crawl. */
void scope_add(scope *s, const url *u);

/* Whether U belongs to the crawl; FROM, the page it was found on, may be NULL and
 * only makes the answer faster. */
enum scope_verdict scope_check(const scope *s, const url *u, const url *from);

/* Whether two hosts have the same registered domain. */
bool scope_related(const url *a, const url *b);

#endif
