/* cuckoo_bytes.h - a fast cuckoo filter as bytes, as bf/bloom_bytes.h has it. */
#ifndef SEEN_REDIS_CUCKOO_BYTES_H
#define SEEN_REDIS_CUCKOO_BYTES_H
#include "cf/cf_table.h"

bool cuckoo_is_header(const void *p, size_t len);
size_t cuckoo_header(const cuckoo *c, void *buf, size_t size);
int cuckoo_load(const void *p, size_t len, uint64_t max_bytes, cuckoo **out);

#endif
