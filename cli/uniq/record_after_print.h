/* record_after_print.h - lines that are added to a filter only after they are written.
 */
#ifndef CLI_RECORD_AFTER_PRINT_H
#define CLI_RECORD_AFTER_PRINT_H

#include "filters/named_filter.h"

typedef struct after_print after_print;

/* KEEP: new keys are copied, for after_print_record. */
after_print *after_print_new(bool keep);
void after_print_free(after_print *a); /* NULL is fine */

/* Sets dup[i] to whether key i is in F, or was asked for before and is not recorded
 * yet. F stays as it is. Ends the program if it fails. */
void after_print_ask(after_print *a, named_filter *f, const seen_key *keys, size_t n,
                     bool *dup);

/* Adds to F what was new since the last call; what was not kept is forgotten. */
void after_print_record(after_print *a, named_filter *f);

uint64_t after_print_bytes(const after_print *a);
#endif
