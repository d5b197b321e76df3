/* sha1.h - SHA-1 in base32, as archives of the web name their payloads. For names only:
 * it does not protect against forgery. */
#ifndef CRAWL_SHA1_H
#define CRAWL_SHA1_H

#include <stddef.h>

enum { SHA1_TEXT = 5 + 32 + 1 };

/* Writes "sha1:" and 32 letters, with a NUL. */
void sha1_text(const void *p, size_t len, char out[SHA1_TEXT]);

#endif
