/* gzip_filter.h - another system's filter in a gzip file, as DCSO's command writes it.
 */
#ifndef CLI_GZIP_FILTER_H
#define CLI_GZIP_FILTER_H

#include "named_filter.h"

/* Whether the file NAME is gzip's and its contents begin with the N <= 8 bytes at WANT
 * (with anything if WANT is NULL). Other compressed files are lists of keys, which must
 * not be unpacked just to find that out. */
bool packed_starts(const char *name, const uint8_t *want, size_t n);

/* Unpacks NAME into s->piped. Only pages that are not zero take memory, and no more of
 * them than a filter in a file of that size can have: a few compressed megabytes can
 * unpack to gigabytes. Reports any failure and ends the program. */
void packed_read(const char *name, named_filter *s);
#endif
