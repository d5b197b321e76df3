/* request_fields.h - header fields beyond the usual ones: --header, --auth, conditions.
 */
#ifndef CRAWL_REQUEST_FIELDS_H
#define CRAWL_REQUEST_FIELDS_H

#include "buf.h"
#include "config.h"
#include "fetch.h"

/* Reads lines "HOST USER:PASSWORD" from FILE, and from the variable SEEN_CRAWL_AUTH;
 * empty lines and comments are skipped. Dies with the place if one is wrong. */
void auth_read(config *c, const char *file);

/* Dies if S is not "Name: value", or a field that the crawler writes itself. */
void header_check(const char *s);

/* Appends the fields of the request F, each with its line end. A password goes to its
 * own host only. */
void request_fields(const config *c, const fetch *f, buf *out);

#endif
