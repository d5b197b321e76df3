/* leveldb_filter.h - looks up a key in one of LevelDB's builtin filters. */
#ifndef SN_LEVELDB_FILTER_H
#define SN_LEVELDB_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns what LevelDB's reader returns for KEY, for any LEN bytes. */
bool sn_leveldb_match(const uint8_t *filter, uint64_t len, const void *key,
                      size_t klen);
#endif
