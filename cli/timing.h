/* timing.h - how long a lookup takes on this machine: measured, not estimated. */
#ifndef CLI_TIMING_H
#define CLI_TIMING_H

#include "seen.h"

/* No more keys than this are added; with some ten times as many, memory is slower than
 * measured. */
#define TIMING_KEYS 2000000

/* ns a lookup in batches, half of the keys present, in a filter of the kind and error
 * of S with up to TIMING_KEYS keys; 0 if it cannot be made. */
double timing_lookup(const seen_size *s);
#endif
