/* scratch_hashes.h - the hashes of a run's keys in a scratch file, so that its filter
 * can be made again from them (seen_grow_from).
 *
 * Eight bytes a key, in a file in TMPDIR that has no name: the system removes it
 * whatever happens to the process. Where it cannot be written, the filter goes on by
 * itself. */
#ifndef KIT_SCRATCH_HASHES_H
#define KIT_SCRATCH_HASHES_H

#include "seen.h"

typedef struct kit_scratch kit_scratch;

/* F, which is empty, grows from a scratch file from now on. NULL if F is better grown
 * by the library: its error asks for a kind whose adds are slow. */
kit_scratch *kit_scratch_for(seen_filter *f);

/* Bytes of memory, beside the filter. */
uint64_t kit_scratch_bytes(const kit_scratch *s);

/* Why the file ended: an errno, said once; 0 if it did not. */
int kit_scratch_ended(kit_scratch *s);

/* Ends the file; the filter takes no more keys. NULL is fine. */
void kit_scratch_free(kit_scratch *s);
#endif
