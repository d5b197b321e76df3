#include "crawler.h"
void store_redis_open(crawler *c)
{
    (void)c;
    kit_die("not yet");
}
