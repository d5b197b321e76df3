/* sst_filter.h - the filter of one table file, or of one partition of it, as bytes.
 *
 * A table has ten keys or ten million, so there are two forms: up to 65535 keys a table
 * filter (plugins/leveldb/table_filter.h), which has no header to speak of; above, a
 * ribbon of libseen in its own file format, nearest to the theoretical minimum. Knows
 * hashes, no keys and no RocksDB. Bytes written (version 1):
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

/* Of the keys; part of the encoding. */
uint64_t sn_sst_hash(const void *key, size_t len);

/* A filter of N hashes with about BITS bits for each: bytes from malloc, and their
 * number. NULL if there was no memory. Hashes may repeat and are reordered. */
uint8_t *sn_sst_filter_build(uint64_t *hashes, size_t n, double bits, size_t *len);

/* How many keys fit into BYTES at BITS bits each, roughly. */
size_t sn_sst_filter_keys(size_t bytes, double bits);

/* A filter that is asked. The bytes must outlive it; they are checked once. Damaged
 * ones, and those of a later version, match everything. NULL if there was no memory. */
typedef struct sst_reader sst_reader;
sst_reader *sn_sst_reader_open(const uint8_t *p, size_t len);
void sn_sst_reader_close(sst_reader *r);

/* Whether each of N hashes may be in it; false is certain. R may be NULL: all may. */
void sn_sst_reader_ask(const sst_reader *r, const uint64_t *hashes, size_t n,
                       bool *may_be);
#ifdef __cplusplus
}
#endif
#endif
