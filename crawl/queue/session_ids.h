/* session_ids.h - addresses that differ only in a session id.
 *
 * A parameter with a usual name (;jsessionid=, PHPSESSID=, sid=, ...) is a session id
 * of a host once three of its texts were each shown under two values of it. From then
 * on it is left out of the host's addresses. */
#ifndef CRAWL_SESSION_IDS_H
#define CRAWL_SESSION_IDS_H

#include "url.h"

#include <stdbool.h>

typedef struct session_ids session_ids;

session_ids *session_ids_new(void);
void session_ids_free(session_ids *s);

/* The usual names that U has as parameters, as bits. */
unsigned session_ids_in(const url *u);

/* Writes U without the parameters NAMES to OUT, which has room for u->len + 1 bytes;
 * returns the length. */
size_t session_ids_strip(const url *u, unsigned names, char *out);

/* Records a page U whose text has this hash. Returns the names, as bits, in which U
 * differs from an earlier page with the same text, if it differs in nothing else. */
unsigned session_ids_learn(session_ids *s, const url *u, uint64_t text_hash);

/* "jsessionid" for bit 1; the first of several. */
const char *session_ids_name(unsigned names);

#endif
