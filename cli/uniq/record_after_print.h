/* record_after_print.h - lines that a filter hears of only after they were written. */
#ifndef CLI_LATER_H
#define CLI_LATER_H

#include "store.h"

typedef struct later later;

/* KEEP: new keys are copied, for later_record. */
later *later_new(bool keep);
void later_free(later *l); /* NULL is fine */

/* Sets dup[i] to whether key i is in S, or was asked for before and is not recorded
 * yet. S stays as it is. Ends the program if it fails. */
void later_ask(later *l, store *s, const seen_key *keys, size_t n, bool *dup);

/* Adds to S what was new since the last call; what was not kept is forgotten. */
void later_record(later *l, store *s);

uint64_t later_bytes(const later *l);
#endif
