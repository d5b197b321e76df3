/* keys.c - the key of a line: a field, trimmed, unquoted, normalised, in lower case. */
#include "keys.h"
#include "key_fields.h"
#include "messages.h"
#include "human_numbers.h"
#include "url.h"

#include <stdlib.h>
#include <string.h>

bool keyspec_option(keyspec *k, const kit_parse *p, int key)
{
    switch (key) {
    case 'k':
        k->asked = p->arg;
        k->field = 0;
        k->fields = NULL;
        if (kit_parse_count(p->arg, &k->field) && k->field > MOST_FIELDS)
            kit_bad_value(p, key, "a field number from 1 on");
        if (!k->field && !(k->fields = key_fields_parse(p->arg)))
            kit_bad_value(p, key, "a field number from 1 on, a column's name, or "
                                  "several with commas between");
        return true;
    case 't':
        if (strcmp(p->arg, "\\t") == 0)
            k->separator = '\t';
        else if (strcmp(p->arg, "\\0") == 0)
            k->separator = 0;
        else if (strlen(p->arg) == 1)
            k->separator = (unsigned char)p->arg[0];
        else
            kit_bad_value(p, key, "one character");
        return true;
    case 'z':
        k->term = 0;
        return true;
    case 'i':
        k->nocase = true;
        return true;
    case 'u':
        k->url = true;
        return true;
    case OPT_TRIM:
        k->trim = true;
        return true;
    case OPT_CRLF:
        k->crlf = true;
        return true;
    case OPT_CSV:
        k->csv = true;
        return true;
    }
    return false;
}

bool word_option(words *w, const kit_parse *p, int key)
{
    if (key != OPT_WORD)
        return false;
    w->key = kit_grow(w->key, w->n + 1, sizeof *w->key);
    w->key[w->n++] = (seen_key){p->arg, strlen(p->arg)};
    return true;
}

bool keyspec_plain(const keyspec *k)
{
    return !k->field && !k->fields && !k->width && !k->crlf && !k->trim && !k->nocase &&
           !k->url && !k->csv;
}

/* ---- arena: chunks that stay where they are until the batch is done -------------- */

char *arena_room(arena *a, size_t len)
{
    while (!a->last || a->last->room - a->last->used < len) {
        if (a->last && a->last->next) {
            a->last = a->last->next;
            a->last->used = 0;
            continue;
        }
        size_t room = len > 256 << 10 ? len : 256 << 10;
        struct arena_chunk *c = kit_alloc(sizeof *c + room);
        c->room = room;
        if (a->last)
            a->last->next = c;
        else
            a->first = c;
        a->last = c;
    }
    return a->last->data + a->last->used;
}

void arena_reset(arena *a)
{
    a->last = a->first;
    if (a->first)
        a->first->used = 0;
}

void arena_free(arena *a)
{
    while (a->first) {
        struct arena_chunk *c = a->first;
        a->first = c->next;
        free(c);
    }
    a->last = NULL;
}

/* ---- the steps ------------------------------------------------------------------- */

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool white(char c)
{
    return blank(c) || (c >= '\n' && c <= '\r');
}

static bool find_field(const keyspec *k, uint64_t n, seen_key *key)
{
    const char *p = key->data, *end = p + key->len, *q;
    if (k->separator >= 0) {
        while (--n) {
            q = memchr(p, k->separator, (size_t)(end - p));
            if (!q)
                return false;
            p = q + 1;
        }
        q = memchr(p, k->separator, (size_t)(end - p));
        *key = (seen_key){p, (size_t)((q ? q : end) - p)};
        return true;
    }
    for (;;) {
        while (p < end && blank(*p))
            p++;
        for (q = p; q < end && !blank(*q);)
            q++;
        if (p == end)
            return false;
        if (--n == 0)
            break;
        p = q;
    }
    *key = (seen_key){p, (size_t)(q - p)};
    return true;
}

bool csv_field(char separator, uint64_t field, arena *a, seen_key *key)
{
    const char *p = key->data, *end = p + key->len;
    if (end > p && end[-1] == '\r')
        end--;
    for (uint64_t n = 1;; n++) {
        const char *begin = p;
        bool quoted = p < end && *p == '"', doubled = false;
        if (quoted) {
            for (p++; p < end; p++) {
                if (*p != '"')
                    continue;
                if (p + 1 < end && p[1] == '"')
                    doubled = true, p++;
                else
                    break;
            }
        }
        const char *close = p;
        while (p < end && *p != separator)
            p++;
        if (n < field) {
            if (p == end)
                return false;
            p++;
            continue;
        }
        if (!quoted) {
            *key = (seen_key){begin, (size_t)(p - begin)};
            return true;
        }
        begin++;
        if (!doubled && (close == p || close + 1 == p)) {
            *key = (seen_key){begin, (size_t)(close - begin)};
            return true;
        }
        char *out = arena_room(a, (size_t)(p - begin)), *o = out;
        for (const char *q = begin; q < p; q++) {
            if (q < close && *q == '"')
                q++;
            if (q != close)
                *o++ = *q;
        }
        a->last->used += (size_t)(o - out);
        *key = (seen_key){out, (size_t)(o - out)};
        return true;
    }
}

seen_key keyspec_bare(const keyspec *k, arena *a, seen_key key)
{
    if (k->trim) {
        const char *p = key.data, *end = p + key.len;
        while (p < end && white(*p))
            p++;
        while (p < end && white(end[-1]))
            end--;
        key = (seen_key){p, (size_t)(end - p)};
    }
    if (k->url && key.len < URL_ROOM) {
        url u;
        char *out = arena_room(a, URL_ROOM);
        if (url_normalise(key.data, key.len, out, URL_ROOM, &u) == URL_OK) {
            a->last->used += u.len;
            key = (seen_key){u.text, u.len};
        }
    }
    if (k->nocase) {
        const unsigned char *in = key.data;
        unsigned char *out = (unsigned char *)arena_room(a, key.len);
        a->last->used += key.len;
        for (size_t i = 0; i < key.len; i++)
            out[i] = in[i] | (unsigned char)(((unsigned)in[i] - 'A' < 26) << 5);
        key.data = out;
    }
    return key;
}

/* Field N of LINE. A line with fewer fields gives false and an empty field. */
static bool find(const keyspec *k, uint64_t n, arena *a, seen_key *line)
{
    if (k->csv ? csv_field(keyspec_comma(k), n, a, line) : find_field(k, n, line))
        return true;
    line->len = 0;
    return false;
}

/* Several fields are joined as a CSV record, which no two lists of fields share. */
static seen_key join_fields(const keyspec *k, arena *a, seen_key line,
                            uint64_t *missing)
{
    seen_key part[KEY_FIELDS];
    bool there = true;
    size_t n = k->fields->n;
    for (size_t i = 0; i < n; i++) {
        part[i] = line;
        there &= find(k, k->fields->one[i].at, a, part + i);
        part[i] = keyspec_bare(k, a, part[i]);
    }
    *missing += !there;
    return n == 1 ? part[0] : csv_join(a, part, n);
}

seen_key keyspec_key(const keyspec *k, arena *a, seen_key line, uint64_t *missing)
{
    seen_key key = line;
    if (k->crlf && key.len && ((const char *)key.data)[key.len - 1] == '\r')
        key.len--;
    if (k->csv) {
        size_t bom = kit_bom(key.data, key.len);
        key = (seen_key){(const char *)key.data + bom, key.len - bom};
    }
    if (k->fields) {
        key = join_fields(k, a, key, missing);
    } else {
        if (k->field && !find(k, k->field, a, &key))
            ++*missing;
        key = keyspec_bare(k, a, key);
    }
    if (k->width && key.len > k->width)
        key.len = k->width;
    return key;
}
