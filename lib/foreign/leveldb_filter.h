/* leveldb_filter.h - one builtin filter asked by itself. */
#ifndef SN_LEVELDB_FILTER_H
#define SN_LEVELDB_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What LevelDB's reader answers for KEY on these LEN bytes, whatever they are. */
bool sn_leveldb_match(const uint8_t *filter, uint64_t len, const void *key,
                      size_t klen);
#endif
