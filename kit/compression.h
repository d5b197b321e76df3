/* compression.h - compressed formats: how each is recognised and unpacked as a stream.
 */
#ifndef KIT_COMPRESSION_H
#define KIT_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>

/* The input that is left and the output that is free; UNPACK moves both on. At the end
 * of a stream IN may move back by up to 8 bytes, which this call or the one before
 * took. */
typedef struct kit_piece {
    const unsigned char *in;
    size_t in_len;
    unsigned char *out;
    size_t out_len;
} kit_piece;

typedef enum kit_unpacked {
    KIT_MORE,    /* in the middle of a stream: go on with more input or room */
    KIT_ENDED,   /* a stream ended; another may follow */
    KIT_DAMAGED, /* the bytes make no sense */
    KIT_NO_MEMORY
} kit_unpacked;

typedef struct kit_format {
    const char *name;  /* "gzip" */
    const char *magic; /* '?' matches any byte */
    size_t magic_len;
    const char *package; /* the package to install to unpack it, or NULL */

    /* NULL if this build cannot unpack it. START returns NULL if there is no memory. */
    void *(*start)(void);
    kit_unpacked (*unpack)(void *state, kit_piece *p);
    bool (*restart)(void *state); /* before another stream; false: no memory */
    void (*end)(void *state);
    bool zeros; /* zeros may stand between streams */
    size_t (*memory)(const void *state); /* bytes held by STATE; NULL: never many */
} kit_format;

/* The format whose magic the N bytes at P begin with; NULL if there is none. *SURE is
 * false while the bytes are only the beginning of a magic. */
const kit_format *kit_format_of(const unsigned char *p, size_t n, bool *sure);

/* Whether a stream that begins as F does may follow one of FORMAT in the same file. */
bool kit_format_goes_on(const kit_format *format, const kit_format *f);

/* The names of the formats that this build unpacks, such as "gzip, zstd, bzip2". */
const char *kit_unpacks(void);
#endif
