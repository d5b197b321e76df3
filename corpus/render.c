/* render.c - what is written for a block: its lines without the paragraphs that go, or
 * marks that say which would, and what was taken out.
 *
 * Lines, and the parts of a text that stay, are copied as they are spelled: no byte
 * changes without need. */
#include "dedup.h"
#include "origins.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_text(bytes *b, const char *s)
{
    bytes_put(b, s, strlen(s));
}

static void put_number(bytes *b, uint64_t n)
{
    char digits[24];
    bytes_put(b, digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n));
}

static uint32_t ends(const doc *d, const para *p, uint32_t i, bool raw)
{
    if (i + 1 < d->paras)
        return raw ? p[i + 1].raw : p[i + 1].at;
    return raw ? d->raw_len : d->text_len;
}

static bool changed(const doc *d, const para *p)
{
    for (uint32_t i = 0; i < d->paras; i++)
        if (p[i].gone)
            return true;
    return false;
}

/* The line of D without what goes. */
static void put_cut(bytes *out, const char *line, const doc *d, const para *p)
{
    const char *text = line + d->raw;
    bytes_put(out, line, d->raw);
    for (uint32_t i = 0; i < d->paras;) {
        uint32_t to = i;
        while (to < d->paras && p[to].gone == p[i].gone)
            to++;
        if (!p[i].gone)
            bytes_put(out, text + p[i].raw, ends(d, p, to - 1, true) - p[i].raw);
        i = to;
    }
    bytes_put(out, text + d->raw_len, d->len - d->raw - d->raw_len);
}

static void render_lines(const dedup_rules *r, block *b)
{
    const char *data = b->data.data;
    const para *p = b->para;
    size_t from = 0; /* lines from here on are copied together */
    for (size_t i = 0; i < b->docs; p += b->doc[i++].paras) {
        const doc *d = b->doc + i;
        if (!changed(d, p))
            continue;
        size_t behind = d->line + d->len;
        bool newline = behind < b->data.len;
        bytes_put(&b->out, data + from, d->line - from);
        if (!d->gone || r->keep_empty) {
            put_cut(&b->out, data + d->line, d, p);
            bytes_put(&b->out, "\n", newline);
        }
        from = behind + newline;
    }
    bytes_put(&b->out, data + from, b->data.len - from);
}

static void put_spans(bytes *out, const doc *d, const para *p, const char *more)
{
    bool any = false;
    put_text(out, "[");
    for (uint32_t i = 0; i < d->paras; i++) {
        if (!p[i].gone)
            continue;
        put_text(out, any ? ", [" : "[");
        put_number(out, p[i].at);
        put_text(out, ", ");
        put_number(out, ends(d, p, i, false));
        put_text(out, more);
        any = true;
    }
    put_text(out, "]");
}

static void put_member(bytes *out, const char *name, const char *value, uint32_t len)
{
    put_text(out, name);
    if (len)
        bytes_put(out, value, len);
    else
        put_text(out, "null");
}

static void put_marks(const dedup_rules *r, bytes *out, const char *line, const doc *d,
                      const para *p)
{
    bool bff = r->marks == MARK_BFF;
    put_member(out, "{\"id\": ", line + d->id, d->id_len);
    if (bff)
        put_member(out, ", \"source\": ", line + d->source, d->source_len);
    if (r->marks == MARK_DOLMA) {
        put_text(out, ", \"attributes\": {\"");
        put_text(out, r->attribute);
        put_text(out, "\": ");
        put_spans(out, d, p, ", 1.0]");
        put_text(out, "}}\n");
        return;
    }
    put_text(out, bff ? ", \"bff_duplicate_spans\": " : ", \"duplicate_spans\": ");
    put_spans(out, d, p, "]");
    put_text(out, bff ? ", \"bff_contained_ngram_count\": " : ", \"found\": ");
    put_number(out, d->found);
    if (!bff) {
        put_text(out, ", \"of\": ");
        put_number(out, d->ngrams);
    }
    put_text(out, "}\n");
}

/* NAME as a JSON string. */
static void put_name(bytes *out, const char *name)
{
    put_text(out, "\"");
    for (const unsigned char *s = (const unsigned char *)name; *s; s++) {
        char code[8];
        if (*s == '"' || *s == '\\' || *s < ' ')
            bytes_put(out, code, (size_t)sprintf(code, "\\u%04x", *s));
        else
            bytes_put(out, s, 1);
    }
    put_text(out, "\"");
}

/* A line for each paragraph that goes; the first paragraph of the document is FIRST. */
static void put_removed(block *b, char *const *name, size_t i, size_t first,
                        bool places)
{
    const doc *d = b->doc + i;
    const para *p = b->para + first;
    const char *line = b->data.data + d->line;
    for (uint32_t k = 0; k < d->paras; k++) {
        if (!p[k].gone)
            continue;
        bytes *out = &b->removed;
        put_text(out, "{\"file\": ");
        put_name(out, name[b->file]);
        put_text(out, ", \"line\": ");
        put_number(out, b->line_base + i + 1);
        put_member(out, ", \"id\": ", line + d->id, d->id_len);
        put_text(out, ", \"span\": [");
        put_number(out, p[k].at);
        put_text(out, ", ");
        put_number(out, ends(d, p, k, false));
        put_text(out, "]");
        if (places && b->origin[first + k]) {
            origin from = b->origin[first + k];
            put_text(out, ", \"first\": {\"file\": ");
            put_name(out, name[origin_file(from)]);
            put_text(out, ", \"line\": ");
            put_number(out, origin_line(from));
            put_text(out, "}");
        } else if (places) {
            put_text(out, ", \"first\": null");
        }
        put_text(out, ", \"text\": \"");
        bytes_put(out, line + d->raw + p[k].raw, ends(d, p, k, true) - p[k].raw);
        put_text(out, "\"}\n");
    }
}

void render_block(const dedup_rules *r, block *b, char *const *name, bool removed,
                  bool places)
{
    b->out.len = b->removed.len = 0;
    size_t first = 0;
    if (!r->marks)
        render_lines(r, b);
    for (size_t i = 0; i < b->docs && (r->marks || removed); i++) {
        const doc *d = b->doc + i;
        if (r->marks)
            put_marks(r, &b->out, b->data.data + d->line, d, b->para + first);
        if (removed)
            put_removed(b, name, i, first, places);
        first += d->paras;
    }
}
