/* policies.cc - RocksDB's Bloom and Ribbon policies beside ours, in one run.
 *
 *     policies [KEYS]
 *
 * KEYS (a million) in a database without block cache and compression, compacted; as
 * many absent keys are asked. RocksDB's Ribbon takes "Bloom equivalent" bits and then
 * uses fewer; it is shown at two settings, by the bits that it really uses. */
#include "rocksdb/rocksdb_store.h"
#include "seen_rocksdb.h"

#include <ctime>

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double per_key(double seconds, uint64_t n)
{
    return seconds / (double)n * 1e9;
}

static void run(const std::string &dir, const char *name,
                const rocksdb::FilterPolicy *policy, uint64_t keys, double *base)
{
    std::string path = dir + "/db";
    store_options with;
    with.policy = policy;
    with.buffer = 256 << 20;
    auto db = store_open(path, with);
    double t = now();
    store_fill(db.get(), 0, keys);
    double fill = now() - t;
    store_ask(db.get(), 1, keys / 10); /* every table is open */
    t = now();
    cost absent = store_ask(db.get(), 1, keys);
    double ask = now() - t;
    double reads = (double)absent.reads / (double)keys;
    if (*base == 0)
        *base = reads;
    printf("%-24s %9.2f %12.6f %8.2f %10.0f %10.0f\n", name,
           8 * (double)store_filter_bytes(db.get()) / (double)keys, reads,
           *base / reads, per_key(ask, keys), per_key(fill, keys));
    fflush(stdout);
    db.reset();
    if (system(("rm -rf '" + path + "'").c_str()))
        exit(2);
}

int main(int argc, char **argv)
{
    uint64_t keys = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000000;
    char dir[] = "/tmp/seen-bench.XXXXXX";
    double base = 0;
    if (!mkdtemp(dir))
        return 2;
    printf("%llu keys, RocksDB %s\n%-24s %9s %12s %8s %10s %10s\n",
           (unsigned long long)keys, rocksdb::GetRocksVersionAsString().c_str(), "",
           "bits/key", "reads/absent", "ratio", "ns/absent", "ns/write");
    run(dir, "Bloom 10", rocksdb::NewBloomFilterPolicy(10), keys, &base);
    run(dir, "Ribbon 10", rocksdb::NewRibbonFilterPolicy(10, -1), keys, &base);
    run(dir, "ours 7", seen_rocksdb_policy(7), keys, &base);
    run(dir, "Ribbon 14.2", rocksdb::NewRibbonFilterPolicy(14.2, -1), keys, &base);
    run(dir, "ours 10", seen_rocksdb_policy(10), keys, &base);
    rmdir(dir);
    return 0;
}
