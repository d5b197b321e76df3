/* rocksdb_loses_no_key.cc - the policy in a real database: what absent keys cost beside
 * RocksDB's own policies, and that no key is ever lost. */
#include "rocksdb/rocksdb_store.h"
#include "seen_rocksdb.h"
#include "tap.h"

#include <csignal>
#include <rocksdb/c.h>
#include <sys/wait.h>

static const uint64_t KEYS = 200000, ASKED = 100000;
static std::string dir;

static void against_builtins()
{
    const rocksdb::FilterPolicy *policy[3] = {
        seen_rocksdb_policy(10), rocksdb::NewBloomFilterPolicy(10), nullptr};
    cost absent[3];
    uint64_t bytes[3];
    for (int i = 0; i < 3; i++) {
        store_options with;
        with.policy = policy[i];
        auto db = store_open(dir + "/peer" + std::to_string(i), with);
        store_fill(db.get(), 0, KEYS);
        ok(store_ask(db.get(), 0, KEYS).found == KEYS, "policy %d: all keys are found",
           i);
        absent[i] = store_ask(db.get(), 1, ASKED);
        bytes[i] = store_filter_bytes(db.get());
    }
    note("reads for %llu absent keys: ours %llu, Bloom %llu, none %llu",
         (unsigned long long)ASKED, (unsigned long long)absent[0].reads,
         (unsigned long long)absent[1].reads, (unsigned long long)absent[2].reads);
    ok(absent[0].found == 0 && absent[0].reads * 3 < absent[1].reads &&
           absent[2].reads >= ASKED,
       "absent keys cost a third of what RocksDB's Bloom filter lets through, or less");
    ok(bytes[0] <= bytes[1] && bytes[0] > 0, "in filters of %llu bytes, its are %llu",
       (unsigned long long)bytes[0], (unsigned long long)bytes[1]);
}

static void change_of_policy()
{
    std::string path = dir + "/peer0";
    store_options ribbon, ours, none;
    ribbon.policy = rocksdb::NewRibbonFilterPolicy(10);
    {
        auto db = store_open(path, ribbon);
        ok(store_ask(db.get(), 0, KEYS).found == KEYS &&
               store_ask(db.get(), 1, 1000).reads >= 1000,
           "opened with another policy: our filters are ignored, not misread");
    }
    {
        auto db = store_open(path, none);
        ok(store_ask(db.get(), 0, KEYS).found == KEYS, "opened with none");
    }
    ours.policy = seen_rocksdb_policy(16);
    auto db = store_open(path, ours);
    ok(store_ask(db.get(), 0, KEYS).found == KEYS &&
           store_ask(db.get(), 1, ASKED).reads < ASKED / 100,
       "opened with ours and other bits: in use again");
}

static void partitions_and_prefixes()
{
    store_options with;
    with.policy = seen_rocksdb_policy(10);
    with.partitioned = true;
    auto db = store_open(dir + "/partitioned", with);
    store_fill(db.get(), 0, KEYS);
    ok(store_ask(db.get(), 0, KEYS).found == KEYS &&
           store_ask(db.get(), 1, ASKED).found == 0,
       "partitioned filters: all keys are found, and no others");
    std::vector<std::string> key;
    for (uint64_t i = 0; i < 300; i++)
        key.push_back(store_key(i));
    std::vector<rocksdb::Slice> slices(key.begin(), key.end());
    std::vector<std::string> values;
    auto status = db->MultiGet(rocksdb::ReadOptions(), slices, &values);
    int right = 0;
    for (uint64_t i = 0; i < 300; i++)
        right += !status[i].IsNotFound() == (i % 2 == 0);
    ok(right == 300, "MultiGet asks in batches and gets the same answers");
    std::vector<rocksdb::PinnableSlice> pinned(300);
    std::vector<rocksdb::Status> many(300);
    db->MultiGet(rocksdb::ReadOptions(), db->DefaultColumnFamily(), 300, slices.data(),
                 pinned.data(), many.data());
    right = 0;
    for (uint64_t i = 0; i < 300; i++)
        right += !many[i].IsNotFound() == (i % 2 == 0);
    ok(right == 300, "in its other form too");

    store_options prefix;
    prefix.policy = seen_rocksdb_policy(10);
    prefix.prefixes = true;
    auto by_prefix = store_open(dir + "/prefixes", prefix);
    store_fill(by_prefix.get(), 0, KEYS);
    int walked = 0;
    rocksdb::ReadOptions same;
    same.prefix_same_as_start = true;
    std::unique_ptr<rocksdb::Iterator> it(by_prefix->NewIterator(same));
    for (it->Seek("user0000"); it->Valid(); it->Next())
        walked++;
    it->Seek("user9999");
    ok(walked == (int)KEYS && !it->Valid() &&
           store_ask(by_prefix.get(), 0, KEYS).found == KEYS,
       "prefixes are in the filter, and whole keys");
}

/* (Status::ok and the ok of tap.h do not go together.) */
static bool is_there(rocksdb::DB *db, const std::string &key)
{
    std::string value;
    return !db->Get(rocksdb::ReadOptions(), key, &value).IsNotFound();
}

/* Many small tables in several levels, overwritten and deleted keys. */
static void churn()
{
    store_options with;
    with.policy = seen_rocksdb_policy(10);
    with.buffer = 256 << 10;
    auto db = store_open(dir + "/churn", with);
    rocksdb::WriteOptions w;
    for (int round = 0; round < 4; round++)
        for (uint64_t i = 0; i < 20000; i++)
            stop_on(db->Put(w, store_key(2 * i), std::string(100, 'a' + round)));
    for (uint64_t i = 0; i < 20000; i += 4)
        stop_on(db->Delete(w, store_key(2 * i)));
    ok(store_ask(db.get(), 0, 20000).found == 15000 &&
           store_ask(db.get(), 1, 20000).found == 0,
       "overwritten keys are found, deleted ones not");
    stop_on(db->Put(w, "", "empty"));
    stop_on(db->Put(w, std::string("a\0b", 3), "nul"));
    stop_on(db->Put(w, std::string(1 << 20, '\xff'), "long"));
    stop_on(db->Flush(rocksdb::FlushOptions()));
    stop_on(db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
    ok(is_there(db.get(), "") && is_there(db.get(), std::string("a\0b", 3)) &&
           is_there(db.get(), std::string(1 << 20, '\xff')),
       "empty, NUL and megabyte keys are found");
}

/* A writer is killed while tables are written; the parent asks for every key whose put
 * had returned. */
static void crash()
{
    int pipes[2];
    uint64_t promised = 0, got;
    if (pipe(pipes))
        exit(2);
    pid_t pid = fork();
    store_options with;
    with.policy = seen_rocksdb_policy(10);
    with.buffer = 1 << 20;
    if (pid == 0) {
        close(pipes[0]);
        auto db = store_open(dir + "/crash", with);
        for (uint64_t n = 0;; n += 1000) {
            for (uint64_t i = n; i < n + 1000; i++)
                stop_on(db->Put(rocksdb::WriteOptions(), store_key(2 * i), "v"));
            uint64_t sure = n + 1000;
            if (write(pipes[1], &sure, sizeof sure) != sizeof sure)
                _exit(1);
        }
    }
    close(pipes[1]);
    while (promised < 100000 && read(pipes[0], &got, sizeof got) == sizeof got)
        promised = got;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    while (read(pipes[0], &got, sizeof got) == sizeof got)
        promised = got;
    auto db = store_open(dir + "/crash", with);
    ok(promised >= 100000 && store_ask(db.get(), 0, promised).found == promised,
       "after kill -9 of the writer every one of its %llu keys is found",
       (unsigned long long)promised);
}

static void through_c()
{
    char *err = nullptr;
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *t = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(t, seen_rocksdb_c_policy(10));
    rocksdb_block_based_options_set_no_block_cache(t, 1);
    rocksdb_options_set_block_based_table_factory(o, t);
    rocksdb_options_set_create_if_missing(o, 1);
    rocksdb_t *db = rocksdb_open(o, (dir + "/c").c_str(), &err);
    rocksdb_writeoptions_t *w = rocksdb_writeoptions_create();
    rocksdb_readoptions_t *r = rocksdb_readoptions_create();
    rocksdb_flushoptions_t *f = rocksdb_flushoptions_create();
    for (uint64_t i = 0; i < 20000 && !err; i += 2)
        rocksdb_put(db, w, store_key(i).data(), store_key(i).size(), "v", 1, &err);
    rocksdb_flush(db, f, &err);
    uint64_t found = 0;
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    for (uint64_t i = 0; i < 20000 && !err; i++) {
        size_t len;
        char *v =
            rocksdb_get(db, r, store_key(i).data(), store_key(i).size(), &len, &err);
        found += v != nullptr;
        rocksdb_free(v);
    }
    ok(!err && found == 10000 &&
           rocksdb::get_perf_context()->block_read_count < 10000 + 200,
       "the same through RocksDB's C interface");
    rocksdb_close(db);
    rocksdb_flushoptions_destroy(f);
    rocksdb_readoptions_destroy(r);
    rocksdb_writeoptions_destroy(w);
    rocksdb_block_based_options_destroy(t);
    rocksdb_options_destroy(o); /* and the policy with them */
}

int main()
{
    const char *tmp = getenv("TMPDIR");
    char name[200];
    snprintf(name, sizeof name, "%s/seen-rocksdb.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(name))
        return 2;
    dir = name;
    crash(); /* first: RocksDB's threads do not survive a fork */
    against_builtins();
    change_of_policy();
    partitions_and_prefixes();
    churn();
    through_c();
    if (system(("rm -rf '" + dir + "'").c_str()))
        note("could not remove %s", dir.c_str());
    return done();
}
