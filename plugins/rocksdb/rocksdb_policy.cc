/* rocksdb_policy.cc - sst_filter.h as a RocksDB filter policy: the boundary, and
 * nothing else. No exception leaves it; if memory runs out, a filter matches
 * everything. */
#include "seen_rocksdb.h"
#include "rocksdb_filter_bits.h"
#include "sst_filter.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <rocksdb/filter_policy.h>

namespace
{

enum { BATCH = 64 };

class Builder : public rocksdb::FilterBitsBuilder
{
  public:
    explicit Builder(double bits) : bits_(bits) {}
    ~Builder() override { std::free(hash_); }

    void AddKey(const rocksdb::Slice &key) override
    {
        uint64_t h = sn_sst_hash(key.data(), key.size());
        if (n_ > 0 && hash_[n_ - 1] == h)
            return;
        if (n_ == room_) {
            size_t room = room_ ? 2 * room_ : 1024;
            void *more = std::realloc(hash_, room * sizeof *hash_);
            if (!more) {
                short_of_memory_ = true;
                return;
            }
            hash_ = static_cast<uint64_t *>(more);
            room_ = room;
        }
        hash_[n_++] = h;
    }

    size_t EstimateEntriesAdded() override { return n_; }

    /* The builder is used again for the next partition. */
    rocksdb::Slice Finish(std::unique_ptr<const char[]> *buf) override
    {
        static const char matches_all[1] = {0};
        size_t len = 0;
        uint8_t *p = short_of_memory_ || n_ == 0
                         ? nullptr
                         : sn_sst_filter_build(hash_, n_, bits_, &len);
        char *out = p ? new (std::nothrow) char[len] : nullptr;
        n_ = 0;
        short_of_memory_ = false;
        if (out)
            std::memcpy(out, p, len);
        std::free(p);
        if (!out)
            return rocksdb::Slice(matches_all, 1);
        buf->reset(out);
        return rocksdb::Slice(out, len);
    }

    size_t ApproximateNumEntries(size_t bytes) override
    {
        return sn_sst_filter_keys(bytes, bits_);
    }

  private:
    double bits_;
    uint64_t *hash_ = nullptr;
    size_t n_ = 0, room_ = 0;
    bool short_of_memory_ = false;
};

class Reader : public rocksdb::FilterBitsReader
{
  public:
    explicit Reader(const rocksdb::Slice &bytes)
        : reader_(sn_sst_reader_open(reinterpret_cast<const uint8_t *>(bytes.data()),
                                     bytes.size()))
    {
    }
    ~Reader() override { sn_sst_reader_close(reader_); }

    bool MayMatch(const rocksdb::Slice &key) override
    {
        uint64_t h = sn_sst_hash(key.data(), key.size());
        bool may_be;
        sn_sst_reader_ask(reader_, &h, 1, &may_be);
        return may_be;
    }

    void MayMatch(int n, rocksdb::Slice **keys, bool *may_match) override
    {
        uint64_t h[BATCH];
        for (int from = 0; from < n; from += BATCH) {
            int count = n - from < BATCH ? n - from : BATCH;
            for (int i = 0; i < count; i++)
                h[i] = sn_sst_hash(keys[from + i]->data(), keys[from + i]->size());
            sn_sst_reader_ask(reader_, h, static_cast<size_t>(count), may_match + from);
        }
    }

  private:
    sst_reader *reader_;
};

class Policy : public rocksdb::FilterPolicy
{
  public:
    explicit Policy(double bits) : bits_(bits) {}

    const char *Name() const override { return SEEN_ROCKSDB_NAME; }
    const char *CompatibilityName() const override { return SEEN_ROCKSDB_NAME; }
    rocksdb::FilterBitsBuilder *
    GetBuilderWithContext(const rocksdb::FilterBuildingContext &) const override
    {
        return new (std::nothrow) Builder(bits_); /* null means: no filter */
    }
    rocksdb::FilterBitsReader *
    GetFilterBitsReader(const rocksdb::Slice &contents) const override
    {
        return new Reader(contents);
    }

  private:
    double bits_;
};

} // namespace

const rocksdb::FilterPolicy *seen_rocksdb_policy(double bits_per_key)
{
    char built_for[32];
    std::snprintf(built_for, sizeof built_for, "%d.%d.", ROCKSDB_MAJOR, ROCKSDB_MINOR);
    if (rocksdb::GetRocksVersionAsString().compare(0, std::strlen(built_for),
                                                   built_for) != 0)
        return nullptr;
    double bits = bits_per_key >= 2 ? bits_per_key : 2; /* also for NaN */
    return new (std::nothrow) Policy(bits <= 40 ? bits : 40);
}

/* In RocksDB's C interface a policy is a class derived from FilterPolicy; the interface
 * uses nothing but that base. */
struct rocksdb_filterpolicy_t *seen_rocksdb_c_policy(double bits_per_key)
{
    return reinterpret_cast<rocksdb_filterpolicy_t *>(
        const_cast<rocksdb::FilterPolicy *>(seen_rocksdb_policy(bits_per_key)));
}
