/* against.h - `seen uniq --against`: filters and lists of what was seen before. */
#ifndef CLI_AGAINST_H
#define CLI_AGAINST_H

#include "uniq.h"

/* Opens u->against by their names, once u->seen is open. The keys of a list become a
 * set of the same seed, so that one hash serves both. Ends the program if one cannot be
 * read. */
void against_open(uniq *u);

/* Ends the program if block B shows that NAME is not a list: a damaged filter, or one
 * in a pipe, would otherwise count as a list that drops nothing. */
void against_check_list(const uniq *u, const char *name, const kit_block *b);
#endif
