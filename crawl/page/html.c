/* html.c - the tokenizer: from one '<' to the next.
 *
 * Text is crossed by memchr. A tag's attributes are walked with the standard's
 * states in any case, because a '>' inside quotes does not end a tag. */
#include "html.h"

#include <string.h>
#include <strings.h>

static const uint8_t spaces[256] = {
    ['\t'] = 1, ['\n'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1};

static bool is_space(char c)
{
    return spaces[(uint8_t)c];
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void html_begin(html *h, const char *page, size_t len)
{
    h->p = page;
    h->end = page + len;
}

/* ---- tags ---------------------------------------------------------------------- */

/* Ends of tag names, of attribute names and of unquoted values. */
static const uint8_t ends_tag[256] = {
    ['\t'] = 1, ['\n'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1, ['/'] = 1, ['>'] = 1};
static const uint8_t ends_name[256] = {['\t'] = 1, ['\n'] = 1, ['\f'] = 1, ['\r'] = 1,
                                       [' '] = 1,  ['/'] = 1,  ['>'] = 1,  ['='] = 1};
static const uint8_t ends_value[256] = {
    ['\t'] = 1, ['\n'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1, ['>'] = 1};

/* Which attribute NAME is; HTML_ATTRS if it is not needed. */
static int attr_of(html_span name)
{
    static const html_span names[HTML_ATTRS] = {
        [HTML_HREF] = {"href", 4},       [HTML_SRC] = {"src", 3},
        [HTML_REL] = {"rel", 3},         [HTML_NAME] = {"name", 4},
        [HTML_CONTENT] = {"content", 7}, [HTML_HTTP_EQUIV] = {"http-equiv", 10},
        [HTML_CHARSET] = {"charset", 7},
    };
    int i = 0;
    while (i < HTML_ATTRS &&
           (names[i].len != name.len || (name.p[0] | 32) != names[i].p[0] ||
            strncasecmp(names[i].p, name.p, name.len)))
        i++;
    return i;
}

/* Walks the attributes from P to after the tag's '>'. Keeps them in TAG unless it
 * is NULL. Returns NULL if the page ends first: then there is no tag. */
static const char *walk_attrs(const char *p, const char *end, html_tag *tag)
{
    for (;;) {
        while (p < end && (is_space(*p) || *p == '/'))
            p++;
        if (p == end)
            return NULL;
        if (*p == '>')
            return p + 1;
        html_span name = {p++, 0}, value = {"", 0};
        while (p < end && !ends_name[(uint8_t)*p])
            p++;
        name.len = (size_t)(p - name.p);
        while (p < end && is_space(*p))
            p++;
        if (p < end && *p == '=') {
            p++;
            while (p < end && is_space(*p))
                p++;
            if (p == end)
                return NULL;
            if (*p == '"' || *p == '\'') {
                char quote = *p++;
                const char *close = memchr(p, quote, (size_t)(end - p));
                if (!close)
                    return NULL;
                value = (html_span){p, (size_t)(close - p)};
                p = close + 1;
            } else {
                value.p = p;
                while (p < end && !ends_value[(uint8_t)*p])
                    p++;
                value.len = (size_t)(p - value.p);
            }
        }
        int a = tag ? attr_of(name) : HTML_ATTRS;
        if (a < HTML_ATTRS && !tag->attr[a].p)
            tag->attr[a] = value;
    }
}

/* What follows a start tag of this name. */
enum { MARKUP, RAW, SCRIPT, PLAINTEXT };

static const struct {
    const char *name;
    uint8_t len, tag, then;
} known[] = {
    {"a", 1, HTML_A, MARKUP},         {"area", 4, HTML_AREA, MARKUP},
    {"base", 4, HTML_BASE, MARKUP},   {"link", 4, HTML_LINK, MARKUP},
    {"meta", 4, HTML_META, MARKUP},   {"frame", 5, HTML_FRAME, MARKUP},
    {"iframe", 6, HTML_IFRAME, RAW},  {"script", 6, HTML_OTHER, SCRIPT},
    {"style", 5, HTML_OTHER, RAW},    {"textarea", 8, HTML_OTHER, RAW},
    {"title", 5, HTML_OTHER, RAW},    {"xmp", 3, HTML_OTHER, RAW},
    {"noembed", 7, HTML_OTHER, RAW},  {"noframes", 8, HTML_OTHER, RAW},
    {"noscript", 8, HTML_OTHER, RAW}, {"plaintext", 9, HTML_OTHER, PLAINTEXT},
};

/* For each length, the first letters of the known names, as bits. Most tags are not
 * among them, which one look tells. */
static uint32_t first_letters[10];

__attribute__((constructor)) static void fill_letters(void)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        first_letters[known[i].len] |= 1u << (known[i].name[0] & 31);
}

static int find_known(const char *name, size_t len)
{
    if (len > 9 || !(first_letters[len] >> (name[0] & 31) & 1))
        return -1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].len == len && (name[0] | 32) == known[i].name[0] &&
            !strncasecmp(known[i].name, name, len))
            return (int)i;
    return -1;
}

/* ---- text that only looks like markup -------------------------------------------- */

/* Whether "</NAME" and an end of the name stand at P. */
static bool at_end_tag(const char *p, const char *end, const char *name, size_t len)
{
    return (size_t)(end - p) > len + 2 && p[1] == '/' &&
           !strncasecmp(p + 2, name, len) &&
           (is_space(p[len + 2]) || p[len + 2] == '/' || p[len + 2] == '>');
}

/* Where "</name" is, from P on; END if it is not there. */
static const char *skip_raw(const char *p, const char *end, const char *name,
                            size_t len)
{
    while ((p = memchr(p, '<', (size_t)(end - p)))) {
        if (at_end_tag(p, end, name, len))
            return p;
        p++;
    }
    return end;
}

static bool at(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && !strncasecmp(p, word, n);
}

/* A script ends at "</script", except between "<!--" and "-->" when a "<script" was
 * opened there: then the first "</script" closes that one. */
static const char *skip_script(const char *p, const char *end)
{
    bool escaped = false, twice = false;
    for (; p < end; p++) {
        if (*p == '-' && escaped && at(p, end, "-->")) {
            escaped = twice = false;
        } else if (*p != '<') {
            continue;
        } else if (!escaped && at(p, end, "<!--")) {
            escaped = true;
            p += 1; /* "<!-->" closes what it opens */
        } else if (at_end_tag(p, end, "script", 6)) {
            if (!twice)
                return p;
            twice = false;
        } else if (escaped && at(p, end, "<script") && end - p > 7 &&
                   (is_space(p[7]) || p[7] == '/' || p[7] == '>')) {
            twice = true;
        }
    }
    return end;
}

/* The end of the comment that begins at P with "<!--". */
static const char *skip_comment(const char *p, const char *end)
{
    p += 4;
    if (p < end && *p == '>')
        return p + 1;
    if (end - p >= 2 && p[0] == '-' && p[1] == '>')
        return p + 2;
    while ((p = memchr(p, '-', (size_t)(end - p)))) {
        if (at(p, end, "-->"))
            return p + 3;
        if (at(p, end, "--!>"))
            return p + 4;
        p++;
    }
    return end;
}

static const char *behind(const char *p, const char *end, char c)
{
    p = memchr(p, c, (size_t)(end - p));
    return p ? p + 1 : end;
}

/* The first C from P on, or NULL. Tags often follow each other without a gap. */
static const char *find_byte(const char *p, const char *end, char c)
{
    return *p == c ? p : memchr(p, c, (size_t)(end - p));
}

bool html_next(html *h, html_tag *tag)
{
    const char *p = h->p, *end = h->end;
    h->p = end;
    while (p < end && (p = find_byte(p, end, '<')) && end - p > 1) {
        char c = p[1];
        if (c == '!') {
            p = at(p, end, "<!--") ? skip_comment(p, end) : behind(p + 2, end, '>');
            continue;
        }
        if (c == '?') {
            p = behind(p + 2, end, '>');
            continue;
        }
        bool closing = c == '/';
        const char *name = p + 1 + closing;
        if (name == end)
            break;
        if (!is_alpha(*name)) {
            p = closing ? behind(name, end, '>') : p + 1;
            continue;
        }
        const char *q = name;
        while (q < end && !ends_tag[(uint8_t)*q])
            q++;
        int k = closing ? -1 : find_known(name, (size_t)(q - name));
        bool wanted = k >= 0 && known[k].tag != HTML_OTHER;
        if (wanted)
            memset(tag->attr, 0, sizeof tag->attr);
        if (q < end && *q == '>')
            p = q + 1; /* most tags have no attributes */
        else if (!(p = walk_attrs(q, end, wanted ? tag : NULL)))
            break;
        if (k >= 0 && known[k].then == RAW)
            p = skip_raw(p, end, known[k].name, known[k].len);
        else if (k >= 0 && known[k].then == SCRIPT)
            p = skip_script(p, end);
        else if (k >= 0 && known[k].then == PLAINTEXT)
            break;
        if (wanted) {
            tag->name = known[k].tag;
            h->p = p;
            return true;
        }
    }
    return false;
}

bool html_attr(const html_tag *tag, enum html_attr_name name, html_span *value)
{
    if (!tag->attr[name].p)
        return false;
    *value = tag->attr[name];
    return true;
}

bool html_is(html_span v, const char *word)
{
    size_t n = strlen(word);
    while (v.len && is_space(*v.p))
        v.p++, v.len--;
    while (v.len && is_space(v.p[v.len - 1]))
        v.len--;
    return v.len == n && !strncasecmp(v.p, word, n);
}

bool html_has_word(html_span v, const char *word)
{
    size_t n = strlen(word), i = 0;
    while (i < v.len) {
        while (i < v.len && (is_space(v.p[i]) || v.p[i] == ','))
            i++;
        size_t from = i;
        while (i < v.len && !is_space(v.p[i]) && v.p[i] != ',')
            i++;
        if (i - from == n && !strncasecmp(v.p + from, word, n))
            return true;
    }
    return false;
}
