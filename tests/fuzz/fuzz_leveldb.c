/* fuzz_leveldb.c - any bytes as LevelDB's builtin filter, or a filter block. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("leveldb", "leveldb-block")
