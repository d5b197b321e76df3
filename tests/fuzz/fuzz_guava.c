/* fuzz_guava.c - any bytes as a Guava filter. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("guava", "guava-32")
