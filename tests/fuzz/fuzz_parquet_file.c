/* fuzz_parquet_file.c - any bytes as a Parquet file with filters. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("parquet-file")
