/* bloom_bytes.h - a fast Bloom filter as bytes: a header and the layers' bodies.
 *
 * The same pieces travel in BF.SCANDUMP / BF.LOADCHUNK, in the append-only file and in
 * the RDB. Iterators are RedisBloom's: 1 is the header, then 1 plus the number of body
 * bytes sent so far. A header starts with eight bytes that no RedisBloom header can
 * start with (there they are a count). docs/redis.md describes every field. */
#ifndef SEEN_REDIS_BLOOM_BYTES_H
#define SEEN_REDIS_BLOOM_BYTES_H
#include "bf/bloom.h"

/* Whether P could be one of our headers. */
bool bloom_is_header(const void *p, size_t len);

/* The header's length; written only if SIZE is enough. */
size_t bloom_header(const bloom *b, void *buf, size_t size);

/* An empty filter of the shape in P. SEEN_EFORMAT if the bytes contradict themselves,
 * SEEN_ETOOBIG beyond MAX_BYTES, SEEN_ENOMEM. Any bytes are safe. */
int bloom_load(const void *p, size_t len, uint64_t max_bytes, bloom **out);

#endif
