/* fuzz_textbook.c - any bytes as a bare bit array, with any parameters. */
#include "fuzz_foreign.h"

FUZZ_RAW("fnv-split", "crc32-shift", "mmh3-17", "libbloom1")
