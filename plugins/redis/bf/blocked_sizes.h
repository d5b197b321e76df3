/* blocked_sizes.h - the size of a blocked filter, from a table.
 *
 * seen_solve() computes it exactly and takes milliseconds for small errors: too long
 * for the one thread of a server, which creates a filter in BF.ADD. The table gives at
 * most 3% more, and mostly 0.2%. */
#ifndef SEEN_REDIS_BLOCKED_SIZES_H
#define SEEN_REDIS_BLOCKED_SIZES_H
#include <stdbool.h>
#include <stdint.h>

/* Bits, a multiple of 512, and probes for KEYS at ERROR, which is at least 1e-5. False
 * if there is no such filter. */
bool blocked_size(uint64_t keys, double error, uint64_t *bits, uint32_t *probes);

#endif
