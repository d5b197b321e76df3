/* fuzz_rediscuckoo.c - any bytes as a RedisBloom CF dump. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("rediscuckoo")
