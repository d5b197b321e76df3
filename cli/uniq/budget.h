/* budget.h - `seen uniq -m SIZE`: fingerprints while they fit, then a filter. */
#ifndef CLI_BUDGET_H
#define CLI_BUDGET_H

#include "uniq.h"

/* What to start with in MEMORY bytes for KEYS lines (0: unknown). */
seen_spec budget_spec(uint64_t memory, uint64_t keys);

/* How many of N more lines can be added now, at least one. A set that would outgrow its
 * memory is turned into a filter first. */
size_t budget_keep(uniq *u, size_t n);
#endif
