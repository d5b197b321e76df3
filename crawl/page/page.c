/* page.c - collects links from the tags that html.c finds.
 *
 * Links are kept until the whole page is read, because <base> applies to those before
 * it, too. Nothing is resolved here. */
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

/* Appends VALUE, decoded, to the text and sets its place. */
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

/* V as a single word; an empty span if it has none or several. */
static html_span single_word(html_span v)
{
    while (v.len && (uint8_t)*v.p <= ' ')
        v.p++, v.len--;
    while (v.len && (uint8_t)v.p[v.len - 1] <= ' ')
        v.len--;
    for (size_t i = 0; i < v.len; i++)
        if ((uint8_t)v.p[i] <= ' ')
            return (html_span){v.p, 0};
    return v;
}

/* Reads a list of robots rules. "max-image-preview: none" is a rule with a value, and
 * the value is not a rule; a date has colons, too; any other single word before a colon
 * names the crawler that the rest is for, as X-Robots-Tag allows. */
static void read_wishes(html_span v, const char *agent, bool *nofollow, bool *noindex)
{
    static const char *const with_value[] = {"unavailable_after", "max-snippet",
                                             "max-image-preview", "max-video-preview"};
    const char *end = v.p + v.len;
    bool ours = true;
    for (const char *p = v.p, *next; p < end; p = next) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        html_span one = {p, (size_t)((comma ? comma : end) - p)};
        next = comma ? comma + 1 : end;
        const char *colon = memchr(p, ':', one.len);
        if (colon) {
            html_span before = {p, (size_t)(colon - p)}, name = single_word(before);
            for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++)
                if (html_is(name, with_value[i]))
                    name.len = 0;
            if (name.len) {
                ours = *agent && html_is(name, agent);
                one = (html_span){colon + 1, one.len - before.len - 1};
            } else {
                one = before;
            }
        }
        if (!ours)
            continue;
        bool none = html_has_word(one, "none");
        *nofollow |= none || html_has_word(one, "nofollow");
        *noindex |= none || html_has_word(one, "noindex");
    }
}

html_span page_refresh(const char *value, size_t len)
{
    const char *p = value, *end = p + len;
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
    if (!html_attr(t, HTML_CONTENT, &content))
        return true;
    if (html_attr(t, HTML_NAME, &name) &&
        (html_is(name, "robots") || (*agent && html_is(name, agent))))
        read_wishes(content, agent, &pg->nofollow, &pg->noindex);
    if ((wanted & PAGE_REFRESH) && html_attr(t, HTML_HTTP_EQUIV, &name) &&
        html_is(name, "refresh")) {
        html_span target = page_refresh(content.p, content.len);
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
        if (pg->has_base || !html_attr(t, HTML_HREF, &href))
            return true;
        pg->has_base = true;
        return keep_text(pg, href, &pg->base_at, &pg->base_len);
    case HTML_FRAME:
    case HTML_IFRAME:
        if (!(wanted & PAGE_FRAME) || !html_attr(t, HTML_SRC, &href))
            return true;
        return add_link(pg, href, PAGE_FRAME, false);
    default:
        if (!html_attr(t, HTML_HREF, &href))
            return true;
        html_attr(t, HTML_REL, &rel);
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
    read_wishes((html_span){value, len}, agent, nofollow, noindex);
}

void page_free(page *pg)
{
    free(pg->links);
    free(pg->text);
    memset(pg, 0, sizeof *pg);
}
