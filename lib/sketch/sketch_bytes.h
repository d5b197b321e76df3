/* sketch_bytes.h - a sketch as bytes: name, words, body, checksum.
 *
 * First a name of eight bytes, the last but one its version ("seenCM1\n"); then words
 * of eight bytes, the first of them the total length; then the body; then the XXH3-64
 * of everything before. The writer knows the length in advance, so that a reader can
 * refuse any other length before it looks at a field. */
#ifndef SN_SKETCH_BYTES_H
#define SN_SKETCH_BYTES_H
#include "base/bytes.h"
#include "seen.h"
#include <stddef.h>

enum { SN_SKETCH_NAME = 8, SN_SKETCH_SUM = 8 };

/* The length of a sketch of WORDS words (the length word not counted) and BODY bytes.
 */
static inline size_t sn_sketch_len(size_t words, size_t body)
{
    return SN_SKETCH_NAME + 8 * (words + 1) + body + SN_SKETCH_SUM;
}

/* Writes name and words; returns where the body begins. */
uint8_t *sn_sketch_begin(uint8_t *buf, size_t len, const char *name,
                         const uint64_t *words, size_t n);
/* Writes the checksum after the body, which must be complete. */
void sn_sketch_end(uint8_t *buf, size_t len);

/* Checks name, length and checksum and reads N words. *BODY and *BODY_LEN are the rest.
 * SEEN_EFORMAT, SEEN_EVERSION or SEEN_EDAMAGED. */
int sn_sketch_open(const void *bytes, size_t len, const char *name, uint64_t *words,
                   size_t n, const uint8_t **body, size_t *body_len);

/* SEEN_OK if a sketch of BYTES is within MAX_BYTES (0: no limit), or SEEN_ETOOBIG. */
int sn_sketch_fits(uint64_t bytes, uint64_t max_bytes);

/* The allocator that a call was given, or the system's. */
static inline seen_allocator sn_allocator(const seen_allocator *a)
{
    return a ? *a : (seen_allocator){0};
}

#endif
