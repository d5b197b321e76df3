/* dump_chunk.h - the iterators of SCANDUMP and LOADCHUNK, for both chains.
 *
 * The arrays of a chain, oldest first, form one string. An iterator is an offset in it
 * plus one; 0 means the header before it. A chunk never crosses from one array to
 * the next. */
#ifndef SN_DUMP_CHUNK_H
#define SN_DUMP_CHUNK_H
#include "foreign/redisbloom/redisbloom.h"

/* The arrays of a chain. */
typedef struct sn_dump_array {
    uint8_t *data;
    uint64_t bytes;
} sn_dump_array;
typedef struct sn_dump_arrays {
    sn_dump_array (*at)(const void *chain, uint32_t i);
    const void *chain;
    uint32_t n;
    const char *what; /* "link", "filter", for messages */
} sn_dump_arrays;

/* Implements sn_bf_chunk and sn_cf_chunk. */
int sn_dump_chunk(const sn_dump_arrays *a, uint64_t iter, const void **data, size_t *len,
                  uint64_t *next);
/* Implements sn_bf_load_chunk and sn_cf_load_chunk. */
int sn_dump_load_chunk(const sn_dump_arrays *a, uint64_t iter, const void *data,
                       size_t len);
#endif
