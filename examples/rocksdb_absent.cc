/* rocksdb_absent.cc - RocksDB without disk reads for absent keys.
 *
 *     c++ rocksdb_absent.cc $(pkg-config --cflags --libs seen_rocksdb) && \
 *         ./a.out FOLDER
 *
 * Writes the even ids below 200,000 to a database and asks for all ids below it. */
#include <cstdio>
#include <memory>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <seen_rocksdb.h>
#include <string>

int main(int argc, char **argv)
{
    rocksdb::Options options;
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(seen_rocksdb_policy(10)); /* bits per key */
    table.no_block_cache = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.create_if_missing = true;
    rocksdb::DB *opened;
    rocksdb::Status s =
        rocksdb::DB::Open(options, argc > 1 ? argv[1] : "rocksdb-example", &opened);
    std::unique_ptr<rocksdb::DB> db(opened);
    for (int id = 0; s.ok() && id < 200000; id += 2)
        s = db->Put(rocksdb::WriteOptions(), std::to_string(id), "value");
    if (s.ok())
        s = db->Flush(rocksdb::FlushOptions());
    if (!s.ok()) {
        std::fprintf(stderr, "%s\n", s.ToString().c_str());
        return 1;
    }
    int found = 0;
    std::string value;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    for (int id = 0; id < 200000; id++)
        found += db->Get(rocksdb::ReadOptions(), std::to_string(id), &value).ok();
    std::printf("%d found; 100000 absent ids cost %llu reads\n", found,
                (unsigned long long)rocksdb::get_perf_context()->block_read_count -
                    found);
    return 0;
}
