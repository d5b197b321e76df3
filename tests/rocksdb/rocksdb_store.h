/* rocksdb_store.h - a RocksDB database with one filter policy, no block cache and no
 * compression, whose block reads are counted by RocksDB itself. */
#ifndef ROCKSDB_STORE_H
#define ROCKSDB_STORE_H
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <seen.h>
#include <string>
#include <unistd.h>
#include <vector>

struct store_options {
    const rocksdb::FilterPolicy *policy = nullptr; /* owned by the database */
    bool partitioned = false;
    bool prefixes = false;
    size_t buffer = 64 << 20;
};

static inline void stop_on(const rocksdb::Status &s)
{
    if (!s.ok()) {
        fprintf(stderr, "rocksdb: %s\n", s.ToString().c_str());
        exit(2);
    }
}

static inline std::unique_ptr<rocksdb::DB> store_open(const std::string &path,
                                                      const store_options &with)
{
    rocksdb::Options o;
    rocksdb::BlockBasedTableOptions t;
    t.filter_policy.reset(with.policy);
    t.no_block_cache = !with.partitioned;
    if (with.partitioned) {
        t.partition_filters = true;
        t.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
        t.metadata_block_size = 4096;
    }
    if (with.prefixes)
        o.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(8));
    o.create_if_missing = true;
    o.compression = rocksdb::kNoCompression;
    o.write_buffer_size = with.buffer;
    o.table_factory.reset(rocksdb::NewBlockBasedTableFactory(t));
    rocksdb::DB *db;
    stop_on(rocksdb::DB::Open(o, path, &db));
    return std::unique_ptr<rocksdb::DB>(db);
}

static inline std::string store_key(uint64_t i)
{
    char key[32];
    snprintf(key, sizeof key, "user%012llu", (unsigned long long)i);
    return key;
}

/* Keys FROM, FROM + 2, ...: N of them, with values of 100 bytes. */
static inline void store_fill(rocksdb::DB *db, uint64_t from, uint64_t n)
{
    rocksdb::WriteOptions w;
    w.disableWAL = true;
    std::string value(100, 'v');
    for (uint64_t i = 0; i < n; i++)
        stop_on(db->Put(w, store_key(from + 2 * i), value));
    stop_on(db->Flush(rocksdb::FlushOptions()));
    stop_on(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
}

struct cost {
    uint64_t found, reads;
};

/* Asks for keys FROM, FROM + 2, ...: how many are there and what blocks were read. */
static inline cost store_ask(rocksdb::DB *db, uint64_t from, uint64_t n)
{
    std::string value;
    cost c = {0, 0};
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    for (uint64_t i = 0; i < n; i++)
        c.found +=
            db->Get(rocksdb::ReadOptions(), store_key(from + 2 * i), &value).ok();
    c.reads = rocksdb::get_perf_context()->block_read_count;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return c;
}

/* Bytes of all filters. */
static inline uint64_t store_filter_bytes(rocksdb::DB *db)
{
    rocksdb::TablePropertiesCollection all;
    uint64_t n = 0;
    stop_on(db->GetPropertiesOfAllTables(&all));
    for (const auto &t : all)
        n += t.second->filter_size;
    return n;
}
#endif
