/* growing.h - a filter for a run that does not know how many keys will come, as small
 * and as fast at every moment as one made to measure.
 *
 * The hashes of the keys go to a scratch file, eight bytes each, and when the filter is
 * full it is made again from them, a quarter larger. So it takes at most 1.25 times the
 * bytes of a filter made for the keys it has, and one cache line a question, at the
 * price of five adds a key in all and of the disk. The file is in TMPDIR and has no
 * name: the system removes it whatever happens to the process. Where it cannot be
 * written, the filter goes on as any other does, by layers.
 *
 * The promises are those of any filter: a key that was added is found ever after. */
#ifndef KIT_GROWING_H
#define KIT_GROWING_H

#include "seen.h"

typedef struct kit_growing kit_growing;

/* Begins with no keys, for a filter of SPEC, whose .keys are 0 and whose .hasher is
 * given. The first keys are kept as whole hashes: 7,000 of them, or 100,000 with KEPT,
 * for a filter that outlives the run, so that a later run can make anything of it. NULL
 * if a filter of SPEC is better grown by the library: it is of a kind whose adds are
 * slow. Ends the program if SPEC is wrong or memory is short. */
kit_growing *kit_growing_new(const seen_spec *spec, bool kept);

/* Adds hashes in order, as seen_add_hashes with DUP. SEEN_OK or its code; ends the
 * program if the scratch file cannot be read back. */
int kit_growing_add(kit_growing *g, const uint64_t *h, size_t n, bool *dup);

/* The filter of the moment, to ask: valid until the next add. */
seen_filter *kit_growing_filter(const kit_growing *g);

/* How often the filter was made again: a key that was found by mistake before may not
 * be now. */
uint64_t kit_growing_times(const kit_growing *g);

uint64_t kit_growing_added(const kit_growing *g); /* keys that were new */
double kit_growing_lost(const kit_growing *g);    /* as seen_lost_expected */
void kit_growing_lost_range(const kit_growing *g, double before, double *low,
                            double *high); /* as seen_lost_range */
uint64_t kit_growing_bytes(const kit_growing *g); /* memory: the filter and 64 KiB */

/* Why there is no scratch file: an errno, said once; 0 if there is one, or was none
 * needed yet. */
int kit_growing_why_layers(kit_growing *g);

/* Ends the file and G; the filter is the caller's. NULL is fine. */
seen_filter *kit_growing_end(kit_growing *g);
#endif
