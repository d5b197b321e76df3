/* counting.h - `seen uniq --count`: how often each distinct line came. */
#ifndef CLI_COUNTING_H
#define CLI_COUNTING_H

#include "uniq.h"

/* Reads the input, then prints each distinct line with its count: in the order of first
 * occurrences, or the most frequent first if u->by_count. Exact up to the fingerprints
 * of 64 bits; if that would take more than u->size.memory, counts are estimated, which
 * is said on standard error. */
void uniq_count(uniq *u);
#endif
