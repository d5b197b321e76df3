/* fuzz_html.c - fuzz target: any bytes as a page, in whatever encoding they name. Links
 * must lie inside the page's text. */
#include "crawl/page/charset.h"
#include "crawl/page/page.h"

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
    static buf utf8, link;
    const char *name = charset_of(NULL, 0, (const char *)data, size);
    if (name && charset_to_utf8(name, (const char *)data, size, &utf8) &&
        !page_read(&pg, utf8.p, utf8.len, 127, "seen-crawl"))
        abort();
    for (size_t i = 0; name && i < pg.count; i++)
        charset_link(name, pg.text + pg.links[i].at, pg.links[i].len, &link);
    page_free(&pg);
    return 0;
}
