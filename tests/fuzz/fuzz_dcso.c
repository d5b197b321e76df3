/* fuzz_dcso.c - any bytes as a DCSO filter. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("dcso")
