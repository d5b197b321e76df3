/* charset.h - pages that are not in UTF-8.
 *
 * A page in an older encoding is converted to UTF-8 before it is read, because the
 * paths of addresses are in UTF-8. Only the query of a link goes back to the page's
 * encoding, as in browsers. The C library's iconv does the work. */
#ifndef CRAWL_CHARSET_H
#define CRAWL_CHARSET_H

#include "buf.h"

/* The encoding of a page, by its first bytes, its Content-Type field (TYPE may be
 * NULL) or its <meta charset>, in iconv's words. NULL if it can be read as it is: it is
 * in UTF-8, says nothing, or something unknown. */
const char *charset_of(const char *type, size_t type_len, const char *page, size_t len);

/* Writes the page to OUT in UTF-8; invalid bytes become U+FFFD. False if it is pure
 * ASCII and can be read as it is, or if the system does not know NAME. */
bool charset_to_utf8(const char *name, const char *page, size_t len, buf *out);

/* Writes LINK, given in UTF-8, to OUT with its query in the page's encoding NAME. False
 * if it can stay as it is. */
bool charset_link(const char *name, const char *link, size_t len, buf *out);

#endif
