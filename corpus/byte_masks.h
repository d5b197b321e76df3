/* byte_masks.h - what the next 64 bytes are, one bit a byte: for words.c. */
#ifndef DEDUP_BYTE_MASKS_H
#define DEDUP_BYTE_MASKS_H

#include <stdint.h>

typedef struct byte_masks {
    uint64_t letter, digit, underscore, white;
    uint64_t both;    /* ' and . may join letters, and digits */
    uint64_t letters; /* : may join letters */
    uint64_t digits;  /* , and ; may join digits */
    uint64_t high;    /* beyond ASCII */
} byte_masks;

/* Reads P[0..63]. All variants give the same masks. */
extern void (*byte_masks_of)(const unsigned char *p, byte_masks *m);
void byte_masks_plain(const unsigned char *p, byte_masks *m);

/* Chooses the variant for this machine, and fills the plain one's table. */
void byte_masks_ready(void);
#endif
