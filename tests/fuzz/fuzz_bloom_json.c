/* fuzz_bloom_json.c - any bytes as a bits-and-blooms filter in JSON. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("bits-and-blooms-json")
