/* rocksdb_filter_bits.h - the two interfaces behind a filter policy of RocksDB.
 *
 * RocksDB names these classes in its public header but does not publish their
 * declarations. These declarations have the functions that its library calls, in the
 * order of its vtables. They were compared with the vtables of the versions below, and
 * the tests run every function on a real database. Another version is refused at
 * compile time and, by rocksdb_policy.cc, at run time. */
#ifndef ROCKSDB_FILTER_BITS_H
#define ROCKSDB_FILTER_BITS_H
#include <memory>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>

#if ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8
#error "the filter interface of this version of RocksDB has not been compared"
#endif

namespace rocksdb
{

/* Collects keys, then returns the bytes of a filter, and can start again. */
class FilterBitsBuilder
{
  public:
    virtual ~FilterBitsBuilder() {}
    virtual void AddKey(const Slice &key) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *buf) = 0;
    virtual Slice Finish(std::unique_ptr<const char[]> *buf, Status *)
    {
        return Finish(buf);
    }
    virtual Status MaybePostVerify(const Slice &) { return Status::OK(); }
    virtual size_t ApproximateNumEntries(size_t bytes) = 0;
};

/* Answers for one filter; many threads may ask at once. */
class FilterBitsReader
{
  public:
    virtual ~FilterBitsReader() {}
    virtual bool MayMatch(const Slice &key) = 0;
    virtual void MayMatch(int n, Slice **keys, bool *may_match)
    {
        for (int i = 0; i < n; i++)
            may_match[i] = MayMatch(*keys[i]);
    }
};

} // namespace rocksdb
#endif
