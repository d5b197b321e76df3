/* fuzz_leveldb_table.c - any bytes as a LevelDB table. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("leveldb-table")
