/* fuzz_sitemap.c - fuzz target: any bytes as a sitemap, gzipped or not. */
#include "crawl/page/sitemap.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long count;

static void found(void *ctx, const char *loc, size_t len, bool nested)
{
    volatile char last = len ? loc[len - 1] : 0;
    (void)ctx, (void)nested, (void)last;
    count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    count = 0;
    long n = sitemap_read((const char *)data, size, found, NULL);
    if (n >= 0 && n != count)
        abort();
    return 0;
}
