/* fuzz_bloom_go.c - any bytes as a bits-and-blooms filter. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("bits-and-blooms", "bits-and-blooms-le")
