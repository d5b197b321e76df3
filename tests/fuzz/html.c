/* html.c - fuzz target: any bytes as a page. Links must lie inside the page's text. */
#include "crawl/page.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    page pg = {0};
    bool nofollow = false, noindex = false;
    if (!page_read(&pg, (const char *)data, size, 127, "seen-crawl"))
        abort();
    for (size_t i = 0; i < pg.count; i++)
        if ((size_t)pg.links[i].at + pg.links[i].len > pg.text_len)
            abort();
    page_robots_tag((const char *)data, size, "seen-crawl", &nofollow, &noindex);
    page_free(&pg);
    return 0;
}
