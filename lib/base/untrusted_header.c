/* untrusted_header.c - what the last refusal of a header found, for each thread. */
#include "base/untrusted_header.h"

_Thread_local bool sn_is_cut;
