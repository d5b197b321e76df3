/* fuzz_robots.c - fuzz target: any bytes as robots.txt, asked about any path. */
#include "crawl/page/robots.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data;
    size_t path = size < 40 ? size / 2 : 20;
    robots *r = robots_parse(s + path, size - path, "seen-crawl");
    if (!r || !robots_allowed(r, "/robots.txt", 11))
        abort();
    robots_allowed(r, s, path);
    for (size_t i = 0; robots_sitemap(r, i); i++)
        ;
    if (robots_delay(r) >= 1e6)
        abort();
    robots_free(r);
    return 0;
}
