/* fuzz_parquet.c - any bytes as a Parquet filter. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("parquet", "parquet-v0")
