/* sst_filter.h - the filter of one table file, or of one partition of it, as bytes.
 *
 * A table has ten keys or ten million, so there are two forms: up to 65535 keys a table
 * filter (plugins/leveldb/table_filter.h), whose header is tiny; above, a ribbon of
 * libseen in its own file format, closest to the theoretical minimum. It knows only
 * hashes, not keys or RocksDB. Bytes written (version 1):
 *     byte 0    0: matches everything; 1: a table filter follows; 2: 63 bytes of zero
 *               and a ribbon follow; others: reserved, match everything */
#ifndef SST_FILTER_H
#define SST_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The hash of a key; part of the encoding. */
uint64_t sn_sst_hash(const void *key, size_t len);

/* Builds a filter of N hashes with about BITS bits for each: returns *LEN bytes from
 * malloc, or NULL if there is no memory. Hashes may repeat; they are reordered. */
uint8_t *sn_sst_filter_build(uint64_t *hashes, size_t n, double bits, size_t *len);

/* How many keys fit into BYTES at BITS bits each, roughly. */
size_t sn_sst_filter_keys(size_t bytes, double bits);

/* Reads a filter. The bytes must outlive it; they are checked once. Damaged bytes, and
 * those of a later version, match everything. NULL if there is no memory. */
typedef struct sst_reader sst_reader;
sst_reader *sn_sst_reader_open(const uint8_t *p, size_t len);
void sn_sst_reader_close(sst_reader *r);

/* For each of N hashes, true if it may be in R; false is certain. R may be NULL: all
 * may. */
void sn_sst_reader_ask(const sst_reader *r, const uint64_t *hashes, size_t n,
                       bool *may_be);
#ifdef __cplusplus
}
#endif
#endif
