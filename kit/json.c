/* json.c - writes JSON, whatever bytes the strings hold. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The length of the well-formed UTF-8 character at P; 0 if it is not one. */
static size_t utf8(const unsigned char *p, size_t len)
{
    size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    if (n == 0 || n > len || *p > 0xf4)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
        (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
        return 0; /* overlong, a surrogate, or beyond U+10FFFF */
    return n;
}

static void quoted(FILE *to, const void *s, size_t len)
{
    const unsigned char *p = s, *end = p + len;
    putc('"', to);
    while (p < end) {
        size_t n = utf8(p, (size_t)(end - p));
        if (n == 0) {
            fputs("\\ufffd", to);
            p++;
        } else if (*p == '"' || *p == '\\') {
            fprintf(to, "\\%c", *p++);
        } else if (*p == '\n' || *p == '\t') {
            fputs(*p++ == '\n' ? "\\n" : "\\t", to);
        } else if (*p < 0x20 || *p == 0x7f) {
            fprintf(to, "\\u%04x", *p++);
        } else {
            fwrite(p, 1, n, to);
            p += n;
        }
    }
    putc('"', to);
}

static void begin(kit_json *j, const char *name)
{
    if (j->more[j->depth])
        putc(',', j->to);
    if (j->depth)
        fprintf(j->to, "\n%*s", (int)j->depth * 2, "");
    j->more[j->depth] = true;
    if (name) {
        quoted(j->to, name, strlen(name));
        fputs(": ", j->to);
    }
}

void kit_json_open(kit_json *j, const char *name, char bracket)
{
    begin(j, name);
    putc(bracket, j->to);
    j->more[++j->depth] = false;
}

void kit_json_close(kit_json *j, char bracket)
{
    j->depth--;
    if (j->more[j->depth + 1])
        fprintf(j->to, "\n%*s", (int)j->depth * 2, "");
    putc(bracket, j->to);
    if (!j->depth)
        putc('\n', j->to), j->more[0] = false;
}

void kit_json_bytes(kit_json *j, const char *name, const void *s, size_t len)
{
    begin(j, name);
    quoted(j->to, s, len);
}

void kit_json_text(kit_json *j, const char *name, const char *s)
{
    kit_json_bytes(j, name, s, strlen(s));
}

void kit_json_count(kit_json *j, const char *name, uint64_t n)
{
    begin(j, name);
    fprintf(j->to, "%" PRIu64, n);
}

void kit_json_real(kit_json *j, const char *name, double x)
{
    begin(j, name);
    if (isfinite(x))
        fprintf(j->to, "%.10g", x);
    else
        fputs("null", j->to);
}

void kit_json_bool(kit_json *j, const char *name, bool b)
{
    begin(j, name);
    fputs(b ? "true" : "false", j->to);
}
