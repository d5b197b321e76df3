// leveldb_peer.cc - LevelDB's own filter for filter_speed.c; it has no C interface.
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <string>
#include <vector>
#include <cstdint>

static const leveldb::FilterPolicy *policy = leveldb::NewBloomFilterPolicy(10);
static std::string filter;

extern "C" void leveldb_peer_build(uint64_t n)
{
    std::vector<uint64_t> keys(n);
    std::vector<leveldb::Slice> slices(n);
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = i;
        slices[i] = leveldb::Slice(reinterpret_cast<const char *>(&keys[i]), 8);
    }
    filter.clear();
    policy->CreateFilter(slices.data(), static_cast<int>(n), &filter);
}

extern "C" int leveldb_peer_has(const void *key, size_t len)
{
    return policy->KeyMayMatch(leveldb::Slice(static_cast<const char *>(key), len),
                               filter);
}
