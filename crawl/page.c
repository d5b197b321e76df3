/* page.c - collects links from the tags that html.c finds.
 *
 * Links are kept until the page is read, because <base> speaks for those before it
 * too. Nothing is resolved here. */
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Room for N more bytes of text; NULL if memory ran out. */
static char *text_room(page *pg, size_t n)
{
    if (pg->text_room - pg->text_len < n) {
        size_t room = (pg->text_len + n) * 2 + 4096;
        char *p = room > UINT32_MAX ? NULL : realloc(pg->text, room);
        if (!p)
            return NULL;
        pg->text = p;
        pg->text_room = room;
    }
    return pg->text + pg->text_len;
}

/* Decodes VALUE to the end of the text and sets where it lies. */
static bool keep_text(page *pg, html_span value, uint32_t *at, uint32_t *len)
{
    char *out = text_room(pg, 2 * value.len + 4);
    if (!out)
        return false;
    *at = (uint32_t)pg->text_len;
    *len = (uint32_t)html_decode(value, out);
    pg->text_len += *len;
    return true;
}

static bool add_link(page *pg, html_span href, unsigned kind, bool nofollow)
{
    if (pg->count == pg->room) {
        size_t room = pg->room ? pg->room * 2 : 256;
        page_link *p = realloc(pg->links, room * sizeof *p);
        if (!p)
            return false;
        pg->links = p;
        pg->room = room;
    }
    page_link *l = &pg->links[pg->count];
    if (!keep_text(pg, href, &l->at, &l->len))
        return false;
    l->kind = (uint8_t)kind;
    l->nofollow = nofollow;
    pg->count++;
    return true;
}

static void read_wishes(html_span v, bool *nofollow, bool *noindex)
{
    if (html_has_word(v, "none"))
        *nofollow = *noindex = true;
    if (html_has_word(v, "nofollow"))
        *nofollow = true;
    if (html_has_word(v, "noindex"))
        *noindex = true;
}

/* The address in "5; url='next.html'", or an empty span. */
static html_span refresh_target(html_span v)
{
    const char *p = v.p, *end = p + v.len;
    while (p < end && *p != ';' && *p != ',')
        p++;
    while (p < end && (*p == ';' || *p == ',' || *p <= ' '))
        p++;
    if (end - p < 4 || strncasecmp(p, "url", 3))
        return (html_span){p, 0};
    p += 3;
    while (p < end && *p <= ' ')
        p++;
    if (p == end || *p++ != '=')
        return (html_span){p, 0};
    while (p < end && *p <= ' ')
        p++;
    if (p < end && (*p == '"' || *p == '\'')) {
        const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));
        p++;
        if (close)
            end = close;
    }
    return (html_span){p, (size_t)(end - p)};
}

static bool read_meta(page *pg, const html_tag *t, unsigned wanted, const char *agent)
{
    html_span name, content;
    if (!html_attr(t, "content", &content))
        return true;
    if (html_attr(t, "name", &name) &&
        (html_is(name, "robots") || (*agent && html_is(name, agent))))
        read_wishes(content, &pg->nofollow, &pg->noindex);
    if ((wanted & PAGE_REFRESH) && html_attr(t, "http-equiv", &name) &&
        html_is(name, "refresh")) {
        html_span target = refresh_target(content);
        return !target.len || add_link(pg, target, PAGE_REFRESH, false);
    }
    return true;
}

static unsigned rel_kind(html_span rel)
{
    if (html_has_word(rel, "canonical"))
        return PAGE_CANONICAL;
    if (html_has_word(rel, "next") || html_has_word(rel, "prev"))
        return PAGE_NEXT;
    if (html_has_word(rel, "alternate") && !html_has_word(rel, "stylesheet"))
        return PAGE_ALTERNATE;
    return 0;
}

static bool read_tag(page *pg, const html_tag *t, unsigned wanted, const char *agent)
{
    html_span href, rel = {"", 0};
    unsigned kind;
    switch (t->name) {
    case HTML_META:
        return read_meta(pg, t, wanted, agent);
    case HTML_BASE:
        if (pg->has_base || !html_attr(t, "href", &href))
            return true;
        pg->has_base = true;
        return keep_text(pg, href, &pg->base_at, &pg->base_len);
    case HTML_FRAME:
    case HTML_IFRAME:
        if (!(wanted & PAGE_FRAME) || !html_attr(t, "src", &href))
            return true;
        return add_link(pg, href, PAGE_FRAME, false);
    default:
        if (!html_attr(t, "href", &href))
            return true;
        html_attr(t, "rel", &rel);
        kind = t->name == HTML_A      ? PAGE_A
               : t->name == HTML_AREA ? PAGE_AREA
                                      : rel_kind(rel);
        if (!(kind & wanted))
            return true;
        return add_link(pg, href, kind, html_has_word(rel, "nofollow"));
    }
}

bool page_read(page *pg, const char *html_text, size_t len, unsigned wanted,
               const char *agent)
{
    html h;
    html_tag tag;
    pg->count = pg->text_len = 0;
    pg->has_base = pg->nofollow = pg->noindex = false;
    html_begin(&h, html_text, len);
    while (html_next(&h, &tag))
        if (!read_tag(pg, &tag, wanted, agent))
            return false;
    return true;
}

void page_robots_tag(const char *value, size_t len, const char *agent, bool *nofollow,
                     bool *noindex)
{
    html_span v = {value, len};
    const char *colon = memchr(value, ':', len);
    if (colon) {
        /* "otherbot: noindex" is not for us; "unavailable_after: date" is no name. */
        html_span name = {value, (size_t)(colon - value)};
        if (!html_is(name, agent))
            return;
        v = (html_span){colon + 1, len - name.len - 1};
    }
    read_wishes(v, nofollow, noindex);
}

void page_free(page *pg)
{
    free(pg->links);
    free(pg->text);
    memset(pg, 0, sizeof *pg);
}
