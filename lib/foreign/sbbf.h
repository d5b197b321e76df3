/* sbbf.h - Parquet's split block filters, for both kinds of file that contain them. */
#ifndef SN_SBBF_H
#define SN_SBBF_H
#include "foreign/foreign.h"
#include "kind/kind.h"

/* Reads and checks the header at P; *HEAD is its length, *BYTES that of the bitset.
 * Only the header must lie within LEN. */
int sn_sbbf_header(const uint8_t *p, uint64_t len, uint64_t *head, uint64_t *bytes);

/* Writes the header that all known writers write; returns its length, at most 24. */
size_t sn_sbbf_put_header(uint8_t *p, uint64_t bytes);

/* Makes a layer of the native split kind over a bitset at any address. */
int sn_sbbf_layer(sn_layer *l, uint8_t *bitset, uint64_t bytes);

/* For batches of hashes (XXH64 with seed 0 of a key). */
void sn_sbbf_has(const sn_layer *l, const uint64_t *h, size_t n, bool *found);
void sn_sbbf_add(sn_layer *l, const uint64_t *h, size_t n, bool *dup);

#define SN_SBBF_TYPES                                                                  \
    (1 << SN_KEY_UTF8 | 1 << SN_KEY_INT32 | 1 << SN_KEY_INT64 | 1 << SN_KEY_FLOAT |    \
     1 << SN_KEY_DOUBLE)
#endif
