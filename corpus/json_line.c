/* json_line.c - reads one line of JSON. */
#include "json_line.h"
#include "messages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Deeper nesting is refused. */
enum { MOST_DEPTH = 1024 };

typedef struct reader {
    const char *p, *end;
    const json_path *path;
    const char *id;
    json_line *out;
    json_text *text;
} reader;

const char *json_path_set(json_path *path, const char *name)
{
    *path = (json_path){.levels = 0};
    for (const char *p = name;; p++) {
        size_t n = strcspn(p, ".");
        if (!n)
            return "a field name, such as text or page.text";
        if (path->levels == JSON_LEVELS)
            return "a field name of at most 16 parts";
        path->name[path->levels] = kit_copy_part(p, n);
        path->len[path->levels++] = n;
        p += n;
        if (!*p)
            return NULL;
    }
}

void json_path_free(json_path *p)
{
    while (p->levels)
        free(p->name[--p->levels]);
}

void json_text_free(json_text *t)
{
    free(t->data);
    free(t->newline);
    *t = (json_text){.len = 0};
}

const char *json_code_words(enum json_code code)
{
    switch (code) {
    case JSON_OK:
        break;
    case JSON_NOT_OBJECT:
        return "not a JSON object";
    case JSON_BROKEN:
        return "not valid JSON";
    case JSON_NO_FIELD:
        return "has no field";
    case JSON_NOT_STRING:
        return "is not a string: field";
    case JSON_TWICE:
        return "has more than one field";
    case JSON_TOO_DEEP:
        return "JSON nested deeper than 1024";
    case JSON_TOO_LONG:
        return "a text of more than 4 GB: field";
    }
    return "";
}

/* ---- strings --------------------------------------------------------------------- */

/* The first quote or backslash from P on, END if there is none. Reads up to 15 bytes
 * beyond END. */
static inline const char *special(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');
    for (; p < end; p += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)p);
        int m = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, back)));
        if (m) {
            p += __builtin_ctz((unsigned)m);
            break;
        }
    }
    return p < end ? p : end;
#else
    while (p < end && *p != '"' && *p != '\\')
        p++;
    return p;
#endif
}

static int hex_digit(unsigned char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* The four hexadecimal digits at P, or -1. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t x = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = hex_digit((unsigned char)p[i]);
        if (d < 0)
            return -1;
        x = x << 4 | d;
    }
    return x;
}

static char *put_utf8(char *o, uint32_t c)
{
    if (c < 0x80) {
        *o++ = (char)c;
    } else if (c < 0x800) {
        *o++ = (char)(0xc0 | c >> 6);
        *o++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *o++ = (char)(0xe0 | c >> 12);
        *o++ = (char)(0x80 | (c >> 6 & 63));
        *o++ = (char)(0x80 | (c & 63));
    } else {
        *o++ = (char)(0xf0 | c >> 18);
        *o++ = (char)(0x80 | (c >> 12 & 63));
        *o++ = (char)(0x80 | (c >> 6 & 63));
        *o++ = (char)(0x80 | (c & 63));
    }
    return o;
}

/* The character of the escape whose backslash is at *P; moves *P past it. A surrogate
 * without its other half stands for itself. -1 if it is not an escape. */
static int32_t escape(const char **p, const char *end)
{
    static const char plain[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    const char *q = *p + 1;
    if (q == end)
        return -1;
    if (*q != 'u') {
        for (const char *e = plain; *e; e += 2)
            if (*e == *q) {
                *p = q + 1;
                return e[1];
            }
        return -1;
    }
    int32_t c = hex4(q + 1, end);
    if (c < 0)
        return -1;
    q += 5;
    if ((c & 0xfc00) == 0xd800 && end - q >= 6 && q[0] == '\\' && q[1] == 'u') {
        int32_t d = hex4(q + 2, end);
        if ((d & ~0x3ff) == 0xdc00) {
            c = 0x10000 + ((c & 0x3ff) << 10) + (d & 0x3ff);
            q += 6;
        }
    }
    *p = q;
    return c;
}

/* Moves R->p, the first character of a string, behind its closing quote. */
static bool skip_string(reader *r)
{
    for (;;) {
        r->p = special(r->p, r->end);
        if (r->p == r->end)
            return false;
        if (*r->p == '"') {
            r->p++;
            return true;
        }
        if (escape(&r->p, r->end) < 0)
            return false;
    }
}

/* Whether the N bytes at START, the inside of a string, spell NAME. */
static bool spells(const char *start, size_t n, const char *name, size_t len)
{
    if (n == len)
        return memcmp(start, name, len) == 0;
    if (n < len || !memchr(start, '\\', n))
        return false;
    size_t at = 0;
    for (const char *p = start, *end = start + n; p < end;) {
        char spelled[4], *to = spelled + 1;
        if (*p == '\\')
            to = put_utf8(spelled, (uint32_t)escape(&p, end));
        else
            spelled[0] = *p++;
        size_t m = (size_t)(to - spelled);
        if (m > len - at || memcmp(name + at, spelled, m))
            return false;
        at += m;
    }
    return at == len;
}

static void note_newline(json_text *t, size_t at, size_t raw)
{
    if (t->newlines == t->newline_room) {
        t->newline_room = t->newline_room ? t->newline_room * 2 : 256;
        t->newline = kit_grow(t->newline, t->newline_room, sizeof *t->newline);
    }
    t->newline[t->newlines++] = (json_newline){(uint32_t)at, (uint32_t)raw};
}

/* The string at R->p, unescaped into the text. */
static bool take_text(reader *r)
{
    json_text *t = r->text;
    const char *start = r->p, *p = start, *end = r->end;
    if (t->room < (size_t)(end - p) + 2 * JSON_PAD) {
        t->room = (size_t)(end - p) + (size_t)(end - p) / 2 + 2 * JSON_PAD;
        free(t->data);
        t->data = kit_alloc(t->room);
    }
    char *o = t->data;
    t->newlines = 0;
    for (;;) {
#if defined(__SSE2__)
        const __m128i quote = _mm_set1_epi8('"'), back = _mm_set1_epi8('\\');
        for (;;) { /* the line ends in a quote at the latest, or is broken */
            if (p >= end)
                return false;
            __m128i v = _mm_loadu_si128((const __m128i *)p);
            _mm_storeu_si128((__m128i *)o, v);
            int m = _mm_movemask_epi8(
                _mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, back)));
            if (m) {
                p += __builtin_ctz((unsigned)m);
                o += __builtin_ctz((unsigned)m);
                break;
            }
            p += 16;
            o += 16;
        }
#else
        while (p < end && *p != '"' && *p != '\\')
            *o++ = *p++;
#endif
        if (p >= end)
            return false;
        if (*p == '"')
            break;
        if (p + 1 < end && p[1] == 'n') {
            note_newline(t, (size_t)(o - t->data), (size_t)(p - start));
            *o++ = '\n';
            p += 2;
            continue;
        }
        const char *at = p;
        int32_t c = escape(&p, end);
        if (c < 0)
            return false;
        if (c == '\n')
            note_newline(t, (size_t)(o - t->data), (size_t)(at - start));
        o = put_utf8(o, (uint32_t)c);
    }
    t->len = (size_t)(o - t->data);
    r->out->raw = (json_span){start, (size_t)(p - start)};
    r->p = p + 1;
    return true;
}

/* ---- values ---------------------------------------------------------------------- */

static void skip_white(reader *r)
{
    while (r->p < r->end &&
           (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n'))
        r->p++;
}

static bool expect(reader *r, char c)
{
    skip_white(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static bool digits(reader *r)
{
    const char *p = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9')
        r->p++;
    return r->p > p;
}

static bool skip_number(reader *r)
{
    if (*r->p == '-')
        r->p++;
    if (r->p < r->end && *r->p == '0')
        r->p++;
    else if (!digits(r))
        return false;
    if (r->p < r->end && *r->p == '.') {
        r->p++;
        if (!digits(r))
            return false;
    }
    if (r->p < r->end && (*r->p | 32) == 'e') {
        r->p++;
        if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
            r->p++;
        return digits(r);
    }
    return true;
}

static bool skip_word(reader *r, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n))
        return false;
    r->p += n;
    return true;
}

static bool skip_scalar(reader *r)
{
    switch (*r->p) {
    case '"':
        r->p++;
        return skip_string(r);
    case 't':
        return skip_word(r, "true");
    case 'f':
        return skip_word(r, "false");
    case 'n':
        return skip_word(r, "null");
    default:
        return skip_number(r);
    }
}

/* The members of an object or elements of an array, whose bracket is at R->p. */
static enum json_code skip_inside(reader *r, unsigned depth);

/* Any value at all. */
static enum json_code skip_value(reader *r, unsigned depth)
{
    skip_white(r);
    if (r->p == r->end)
        return JSON_BROKEN;
    if (*r->p == '{' || *r->p == '[')
        return depth < MOST_DEPTH ? skip_inside(r, depth) : JSON_TOO_DEEP;
    return skip_scalar(r) ? JSON_OK : JSON_BROKEN;
}

/* Whether the bracket that was opened is closed at once. */
static bool closes(reader *r, char bracket)
{
    skip_white(r);
    if (r->p == r->end || *r->p != bracket)
        return false;
    r->p++;
    return true;
}

static enum json_code skip_inside(reader *r, unsigned depth)
{
    bool object = *r->p == '{';
    char bracket = object ? '}' : ']';
    r->p++;
    if (closes(r, bracket))
        return JSON_OK;
    do {
        if (object && !(expect(r, '"') && skip_string(r) && expect(r, ':')))
            return JSON_BROKEN;
        enum json_code code = skip_value(r, depth + 1);
        if (code)
            return code;
    } while (expect(r, ','));
    return closes(r, bracket) ? JSON_OK : JSON_BROKEN;
}

/* The raw value at R->p into *SPAN. */
static enum json_code note_value(reader *r, json_span *span)
{
    skip_white(r);
    const char *start = r->p;
    enum json_code code = skip_value(r, 0);
    *span = (json_span){start, (size_t)(r->p - start)};
    return code;
}

static enum json_code read_object(reader *r, size_t level);

/* The value of the field, or of the object on the way to it. */
static enum json_code read_wanted(reader *r, size_t level)
{
    skip_white(r);
    bool last = level + 1 == r->path->levels;
    if (r->p == r->end)
        return JSON_BROKEN;
    if (*r->p != (last ? '"' : '{')) {
        enum json_code code = skip_value(r, 0);
        return code ? code : JSON_NOT_STRING;
    }
    if (r->out->raw.at)
        return JSON_TWICE;
    if (!last)
        return read_object(r, level + 1);
    r->p++;
    return take_text(r) ? JSON_OK : JSON_BROKEN;
}

/* The object at R->p, in which name LEVEL of the path is looked for. */
static enum json_code read_object(reader *r, size_t level)
{
    r->p++;
    if (closes(r, '}'))
        return JSON_OK;
    do {
        if (!expect(r, '"'))
            return JSON_BROKEN;
        const char *name = r->p;
        if (!skip_string(r))
            return JSON_BROKEN;
        size_t n = (size_t)(r->p - name) - 1;
        if (!expect(r, ':'))
            return JSON_BROKEN;
        bool wanted = spells(name, n, r->path->name[level], r->path->len[level]);
        json_span *note = NULL;
        if (!level && !wanted && r->id)
            note = spells(name, n, r->id, strlen(r->id)) ? &r->out->id
                   : spells(name, n, "source", 6)        ? &r->out->source
                                                         : NULL;
        enum json_code code = wanted ? read_wanted(r, level)
                              : note ? note_value(r, note)
                                     : skip_value(r, 0);
        if (code)
            return code;
    } while (expect(r, ','));
    return closes(r, '}') ? JSON_OK : JSON_BROKEN;
}

enum json_code json_line_read(const char *line, size_t len, const json_path *path,
                              const char *id, json_line *out, json_text *text)
{
    reader r = {line, line + len, path, id, out, text};
    *out = (json_line){.raw = {NULL, 0}};
    if (len > UINT32_MAX - 2 * JSON_PAD)
        return JSON_TOO_LONG;
    skip_white(&r);
    if (r.p == r.end || *r.p != '{') {
        enum json_code code = r.p == r.end ? JSON_OK : skip_value(&r, 0);
        return code ? code : JSON_NOT_OBJECT;
    }
    enum json_code code = read_object(&r, 0);
    skip_white(&r);
    if (!code && r.p != r.end)
        code = JSON_BROKEN;
    return code ? code : out->raw.at ? JSON_OK : JSON_NO_FIELD;
}
