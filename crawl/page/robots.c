/* robots.c - the parser and matcher of robots.txt.
 *
 * The file is read twice: once to learn whether a group names us (then "*" does not
 * count), once to keep the rules of the groups that do. */
#include "robots.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct rule {
    char *pattern; /* escapes normalised, without a final '$' */
    size_t len;    /* as written: the specificity */
    bool allow, anchored;
};

struct robots {
    struct rule *rules;
    size_t count, room;
    char **sitemaps;
    size_t sitemap_count;
    double delay;
    bool none; /* nothing is allowed */
};

robots *robots_all(bool allowed)
{
    robots *r = calloc(1, sizeof *r);
    if (r) {
        r->delay = -1;
        r->none = !allowed;
    }
    return r;
}

void robots_free(robots *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        free(r->rules[i].pattern);
    for (size_t i = 0; i < r->sitemap_count; i++)
        free(r->sitemaps[i]);
    free(r->rules);
    free(r->sitemaps);
    free(r);
}

double robots_delay(const robots *r)
{
    return r->delay;
}

const char *robots_sitemap(const robots *r, size_t i)
{
    return i < r->sitemap_count ? r->sitemaps[i] : NULL;
}

/* ---- lines ------------------------------------------------------------------- */

typedef struct line {
    const char *key, *value;
    size_t key_len, value_len;
} line;

static void trim(const char **p, size_t *len)
{
    while (*len && (unsigned char)(*p)[0] <= ' ')
        ++*p, --*len;
    while (*len && (unsigned char)(*p)[*len - 1] <= ' ')
        --*len;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* The next "key: value" from *P on; comments and other lines are skipped. */
static bool next_line(const char **p, const char *end, line *l)
{
    while (*p < end) {
        const char *from = *p, *stop = from;
        while (stop < end && !is_line_end(*stop))
            stop++;
        *p = stop + (stop < end);
        const char *hash = memchr(from, '#', (size_t)(stop - from));
        if (hash)
            stop = hash;
        const char *colon = memchr(from, ':', (size_t)(stop - from));
        if (!colon)
            continue;
        *l =
            (line){from, colon + 1, (size_t)(colon - from), (size_t)(stop - colon - 1)};
        trim(&l->key, &l->key_len);
        trim(&l->value, &l->value_len);
        return true;
    }
    return false;
}

static bool key_is(const line *l, const char *word)
{
    return strlen(word) == l->key_len && !strncasecmp(l->key, word, l->key_len);
}

/* A group speaks to "seen-crawl" if its agent begins with that product word: all up
 * to the first byte that cannot be in one. */
static bool names_agent(const line *l, const char *agent)
{
    size_t n = 0;
    while (n < l->value_len &&
           (l->value[n] == '-' || l->value[n] == '_' ||
            ((l->value[n] | 32) >= 'a' && (l->value[n] | 32) <= 'z')))
        n++;
    return n && n == strlen(agent) && !strncasecmp(l->value, agent, n);
}

static bool is_star(const line *l)
{
    return l->value_len >= 1 && l->value[0] == '*';
}

/* ---- rules ------------------------------------------------------------------- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

static bool is_unreserved(int c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (c && strchr("-._~", c));
}

/* Writes a pattern in the spelling url.h gives to paths, so that both compare as
 * bytes: unreserved escapes decoded, capital digits, the rest of it encoded. */
static char *spell(const char *p, size_t len)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = malloc(3 * len + 1), *o = out;
    if (!out)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        int c = (unsigned char)p[i], high, low;
        bool escaped = false;
        if (c == '%' && i + 2 < len && (high = hex_value(p[i + 1])) >= 0 &&
            (low = hex_value(p[i + 2])) >= 0) {
            c = high << 4 | low;
            escaped = !is_unreserved(c);
            i += 2;
        } else {
            escaped = c <= ' ' || c >= 0x7f || strchr("\"<>`{}^", c);
        }
        if (escaped) {
            *o++ = '%';
            *o++ = digits[c >> 4];
            *o++ = digits[c & 15];
        } else {
            *o++ = (char)c;
        }
    }
    *o = 0;
    return out;
}

static bool add_rule(robots *r, const line *l, bool allow)
{
    if (!l->value_len)
        return true; /* "Disallow:" forbids nothing */
    if (r->count == r->room) {
        size_t room = r->room ? r->room * 2 : 16;
        struct rule *p = realloc(r->rules, room * sizeof *p);
        if (!p)
            return false;
        r->rules = p;
        r->room = room;
    }
    struct rule *rule = &r->rules[r->count];
    size_t n = l->value_len;
    rule->allow = allow;
    rule->anchored = l->value[n - 1] == '$';
    rule->pattern = spell(l->value, n - rule->anchored);
    if (!rule->pattern)
        return false;
    rule->len = strlen(rule->pattern) + rule->anchored;
    r->count++;
    return true;
}

static bool add_sitemap(robots *r, const line *l)
{
    if (!l->value_len || r->sitemap_count == 1000)
        return true;
    char **p = realloc(r->sitemaps, (r->sitemap_count + 1) * sizeof *p);
    if (!p)
        return false;
    r->sitemaps = p;
    p[r->sitemap_count] = strndup(l->value, l->value_len);
    if (!p[r->sitemap_count])
        return false;
    r->sitemap_count++;
    return true;
}

static void set_delay(robots *r, const line *l)
{
    char number[32];
    size_t n = l->value_len < sizeof number ? l->value_len : sizeof number - 1;
    memcpy(number, l->value, n);
    number[n] = 0;
    char *rest;
    double d = strtod(number, &rest);
    if (rest != number && d >= 0 && d < 1e6 && d > r->delay)
        r->delay = d;
}

/* A byte order mark is not part of the first key. */
static const char *skip_mark(const char *p, const char *end)
{
    return end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3) ? p + 3 : p;
}

robots *robots_parse(const char *text, size_t len, const char *agent)
{
    robots *r = robots_all(true);
    if (!r)
        return NULL;
    /* Half a line may be another rule: "Disallow: /" is the beginning of every one. */
    if (len >= ROBOTS_LIMIT)
        for (len = ROBOTS_LIMIT; len && !is_line_end(text[len - 1]);)
            len--;
    const char *end = text + len, *p = skip_mark(text, end);
    line l;
    bool named = false;
    while (next_line(&p, end, &l))
        if (key_is(&l, "user-agent") && names_agent(&l, agent))
            named = true;

    /* Adjacent agents open one group; the first rule closes the list. */
    bool in_list = false, ours = false;
    p = skip_mark(text, end);
    while (next_line(&p, end, &l)) {
        bool fine = true;
        if (key_is(&l, "user-agent")) {
            bool match = named ? names_agent(&l, agent) : is_star(&l);
            ours = in_list ? ours || match : match;
            in_list = true;
        } else if (key_is(&l, "sitemap")) {
            fine = add_sitemap(r, &l);
        } else if (key_is(&l, "allow") || key_is(&l, "disallow")) {
            in_list = false;
            if (ours)
                fine = add_rule(r, &l, key_is(&l, "allow"));
        } else if (key_is(&l, "crawl-delay")) {
            in_list = false;
            if (ours)
                set_delay(r, &l);
        }
        if (!fine) {
            robots_free(r);
            return NULL;
        }
    }
    return r;
}

/* ---- matching ------------------------------------------------------------------ */

/* Whether PATTERN matches a beginning of PATH, or all of it if ANCHORED. A star takes
 * as little as it can and more when the rest does not fit; only the last star needs
 * to be remembered. */
static bool matches(const char *pattern, bool anchored, const char *path, size_t len)
{
    const char *p = path, *end = path + len, *star = NULL, *retry = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            retry = p;
        } else if (!*pattern && (!anchored || p == end)) {
            return true;
        } else if (*pattern && p < end && *pattern == *p) {
            pattern++;
            p++;
        } else {
            if (!star || retry == end)
                return false;
            pattern = star;
            p = ++retry;
        }
    }
}

bool robots_allowed(const robots *r, const char *path, size_t len)
{
    if (len == 11 && !memcmp(path, "/robots.txt", 11))
        return true;
    if (r->none)
        return false;
    size_t best = 0;
    bool allowed = true;
    for (size_t i = 0; i < r->count; i++) {
        const struct rule *rule = &r->rules[i];
        if (rule->len < best || (rule->len == best && !(rule->allow && !allowed)))
            continue;
        if (matches(rule->pattern, rule->anchored, path, len)) {
            best = rule->len;
            allowed = rule->allow;
        }
    }
    return allowed;
}
