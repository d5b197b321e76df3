/* typed_keys.h - lines as keys of the type that a filter holds (docs/keys.md).
 *
 * A line is text. A filter that another program filled with integers or UUIDs is asked
 * with the number or UUID that the line spells; keys of other types cannot be spelled,
 * and then the program ends with words instead of a "no" that means nothing. */
#ifndef CLI_TYPED_KEYS_H
#define CLI_TYPED_KEYS_H

#include "seen.h"

#include <stdio.h>

/* Converted keys, and where they lie; starts zeroed. */
typedef struct typed_keys {
    seen_key *key;
    unsigned char *bytes;
    size_t room;
} typed_keys;

/* Whether the lines for F must be converted, so that hashes of lines are of no use. */
bool typed_needed(const seen_filter *f);

/* The N KEYS as F wants them: themselves, or converted ones in T. NAME is F's, for
 * messages. ADDING: an empty filter without a type becomes one of text. */
const seen_key *typed_convert(typed_keys *t, const char *name, seen_filter *f,
                              const seen_key *keys, size_t n, bool adding);

/* Writes KEY of F as the line that spells it, without its end. */
void typed_print(FILE *to, const seen_filter *f, const void *key, size_t len);

/* F is to hold lines and nothing else: ends the program if it holds other keys. */
void typed_expect_text(const char *name, seen_filter *f);

void typed_free(typed_keys *t);
#endif
