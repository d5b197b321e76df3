/* words.h - where the words of a text begin and end.
 *
 * The default rules are those of UAX #29 without dictionaries: punctuation is a word of
 * its own, and segments of nothing but white space are left out. The simple rule takes
 * runs of ASCII letters, digits and everything beyond ASCII: faster, and of no use for
 * scripts without spaces. */
#ifndef DEDUP_WORDS_H
#define DEDUP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORD_BATCH = 1024, WORD_PAD = 64 };

/* Offsets into the text; word i is [start[i], end[i]). */
typedef struct word_spans {
    size_t n;
    uint32_t start[WORD_BATCH + WORD_PAD], end[WORD_BATCH + WORD_PAD];
} word_spans;

/* Makes the table of classes; before anything else here, once. */
void words_ready(void);

/* Finds the words of TEXT from *AT on, until the text ends or OUT is full, and moves
 * *AT behind them; *AT is 0 at first and belongs to these functions. Reads up to
 * WORD_PAD bytes beyond LEN. LEN is below 2^32. Bytes that are not UTF-8 are words of
 * one byte. */
void words_cut(const unsigned char *text, size_t len, size_t *at, word_spans *out);
void words_cut_simple(const unsigned char *text, size_t len, size_t *at,
                      word_spans *out);

/* The segment of UAX #29 that begins at TEXT (which must be a boundary): its length,
 * and in *WHITE whether it is nothing but white space. */
size_t words_segment(const unsigned char *text, const unsigned char *end, bool *white);

/* The code point at TEXT and its length; what is not UTF-8 is U+FFFD of one byte. */
uint32_t utf8_at(const unsigned char *text, const unsigned char *end, size_t *len);

/* Classes of a code point (word_tables.inc): letters, white space, marks. */
extern unsigned char *word_class;
#endif
