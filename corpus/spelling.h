/* spelling.h - texts that differ only in spelling made equal, for their keys. */
#ifndef DEDUP_SPELLING_H
#define DEDUP_SPELLING_H

#include <stddef.h>
#include <stdint.h>

enum {
    SPELL_LOWER = 1,       /* simple lower case */
    SPELL_DIGITS = 2,      /* every decimal digit is 0 */
    SPELL_PUNCTUATION = 4, /* punctuation and symbols are left out */
    SPELL_SPACE = 8,       /* white space is one space, and none at the ends */
    SPELL_NFKC = 16        /* compatibility normalisation, before all else */
};

/* "lower,digits": flags, or 0 if a word is unknown. */
unsigned spelling_named(const char *list);

typedef struct speller {
    unsigned flags;
    uint32_t *code; /* characters being normalised */
    size_t room;
} speller;

/* Tables; once, after words_ready. */
void spelling_ready(void);

/* Writes TEXT in the new spelling to OUT, which has spelling_bound(LEN) bytes; returns
 * how many it wrote. */
size_t spelling_bound(size_t len);
size_t spelling_run(speller *s, const char *text, size_t len, char *out);
void speller_free(speller *s);
#endif
