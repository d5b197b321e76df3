/* charset.h - pages that are not in UTF-8.
 *
 * A page in an older encoding becomes UTF-8 before it is read, because that is what
 * paths of addresses are in; only the query of a link goes back into the page's
 * encoding, as browsers do it. The C library's iconv does the work. */
#ifndef CRAWL_CHARSET_H
#define CRAWL_CHARSET_H

#include "buf.h"

/* The encoding of a page, by its first bytes, its Content-Type field (TYPE may be
 * NULL) or its <meta charset>, in iconv's words. NULL if it can be read as it is: it is
 * in UTF-8, says nothing, or something unknown. */
const char *charset_of(const char *type, size_t type_len, const char *page, size_t len);

/* Makes OUT the page in UTF-8; what makes no sense becomes U+FFFD. False if it can be
 * read as it is, having nothing but ASCII, or if the system does not know NAME. */
bool charset_to_utf8(const char *name, const char *page, size_t len, buf *out);

/* Makes OUT the link of a page in NAME, given in UTF-8, with its query in that
 * encoding. False if it can stay as it is. */
bool charset_link(const char *name, const char *link, size_t len, buf *out);

#endif
