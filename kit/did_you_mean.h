/* did_you_mean.h - which name a mistyped word was meant to be. */
#ifndef KIT_DID_YOU_MEAN_H
#define KIT_DID_YOU_MEAN_H

#include <stddef.h>

typedef struct kit_meant {
    const char *word; /* what was typed */
    const char *name; /* the nearest name so far; NULL if none is near enough */
    size_t mistakes;  /* of word against name */
} kit_meant;

/* Looks at one more NAME, which is kept if it is nearer than those before. A name is
 * near if one letter in three is missing, wrong, too many or swapped with the next. */
void kit_meant_try(kit_meant *n, const char *name);

/* "; did you mean '--NAME'?" with PREFIX for the dashes, or "" if no name is near.
 * Valid until the next call. */
const char *kit_meant_ask(const kit_meant *n, const char *prefix);
#endif
