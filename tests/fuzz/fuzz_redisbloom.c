/* fuzz_redisbloom.c - any bytes as a RedisBloom BF dump. */
#include "fuzz_foreign.h"

FUZZ_FORMAT("redisbloom")
