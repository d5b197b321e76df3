/* fuzz_redis_bitmap.c - any bytes as a Redis bitmap, with any parameters. */
#include "fuzz_foreign.h"

FUZZ_RAW("redis-bitmap", "scrapy-redis")
