/* seen_rocksdb.h - a filter policy for RocksDB, for its C++ and its C interface.
 *
 *     #include <rocksdb/filter_policy.h>
 *     rocksdb::BlockBasedTableOptions table;
 *     table.filter_policy.reset(seen_rocksdb_policy(10));
 *     options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
 *
 *     rocksdb_block_based_options_set_filter_policy(table, seen_rocksdb_c_policy(10));
 *
 * At 10 bits per key it lets through nine times fewer absent keys than RocksDB's Bloom
 * filter (docs/rocksdb.md). It works with full and with
 * partitioned filters and with prefixes; policies are immutable and may be shared.
 *
 * Since 7.0 the classes behind a filter policy are internal to RocksDB, so this library
 * is built for one minor version of RocksDB and refuses to work with another.
 */
#ifndef SEEN_ROCKSDB_H
#define SEEN_ROCKSDB_H

#if defined(__GNUC__)
#define SEEN_ROCKSDB_API __attribute__((visibility("default")))
#else
#define SEEN_ROCKSDB_API
#endif

/* The name under which the filters are stored. Tables with filters of another name are
 * read unfiltered until compaction rewrites them, and vice versa. */
#define SEEN_ROCKSDB_NAME "seen.SstFilter1"

/* BITS_PER_KEY is clamped to 2 .. 40. NULL if out of memory, or if the running RocksDB
 * is not the version this was built for. The options that receive the policy own it. */
#ifdef __cplusplus
namespace rocksdb
{
class FilterPolicy;
}
SEEN_ROCKSDB_API const rocksdb::FilterPolicy *seen_rocksdb_policy(double bits_per_key);
extern "C" {
#endif
struct rocksdb_filterpolicy_t;
SEEN_ROCKSDB_API struct rocksdb_filterpolicy_t *
seen_rocksdb_c_policy(double bits_per_key);
#ifdef __cplusplus
}
#endif

#endif
