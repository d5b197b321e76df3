/* sample.c - makes addresses from a counter and a mixing function. */
#include "sample.h"

#include <string.h>

static char *put_number(char *p, uint64_t x)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + x % 10);
    while (x /= 10);
    while (n)
        *p++ = digits[--n];
    return p;
}

static char *put_text(char *p, const char *s)
{
    size_t n = strlen(s);
    memcpy(p, s, n);
    return p + n;
}

size_t kit_sample_line(kit_sample *s, char *out)
{
    static const char *const section[8] = {
        "news",         "products", "blog/archive",   "wiki",
        "forum/thread", "img",      "docs/reference", "u"};
    uint64_t r = kit_mix(s->state++), id;
    double part = (double)(r >> 11) / 9007199254740992.0;
    if (s->distinct && part < s->repeats)
        id = kit_mix(r) % s->distinct;
    else
        id = s->distinct++;
    uint64_t h = kit_mix(id ^ 0x5eed);
    char *p = put_text(out, "https://www.site");
    p = put_number(p, h % 50000);
    p = put_text(p, ".example/");
    p = put_text(p, section[h >> 61]);
    p = put_text(p, "/item-");
    p = put_number(p, id);
    p = put_text(p, "?session=");
    p = put_number(p, (h >> 8) % 10000000000u);
    *p++ = '\n';
    return (size_t)(p - out);
}
