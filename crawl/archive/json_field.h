/* json_field.h - one more field of a line of JSON. */
#ifndef CRAWL_JSON_FIELD_H
#define CRAWL_JSON_FIELD_H

#include "buf.h"

/* Appends ,"NAME":"S" to a line. */
void json_field(buf *b, const char *name, const char *s);

#endif
