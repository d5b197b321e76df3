/* fuzz_libbloom.c - any bytes as a libbloom 2.x file. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("libbloom")
