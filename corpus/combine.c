/* combine.c - reads marks beside the documents that they are about. */
#include "combine.h"
#include "lines.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One file of marks, read line by line. */
typedef struct marks {
    char *path, *file[1];
    kit_lines *lines;
    kit_block block;
    const char *p, *end;
} marks;

struct combine {
    const char *const *folder;
    marks *of;
    size_t n;
};

combine *combine_new(const char *const *folders, size_t n)
{
    combine *c = kit_alloc(sizeof *c);
    c->folder = folders;
    c->n = n;
    c->of = kit_alloc(n * sizeof *c->of);
    return c;
}

static void close_marks(marks *m)
{
    kit_lines_free(m->lines);
    kit_block_free(&m->block);
    free(m->path);
    *m = (marks){.path = NULL};
}

void combine_free(combine *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        close_marks(c->of + i);
    free(c->of);
    free(c);
}

/* The next line without its newline; false at the end. */
static bool next_line(marks *m, seen_key *line)
{
    if (m->p == m->end) {
        int got = kit_lines_next(m->lines, &m->block);
        if (got < 0)
            kit_die("%s", kit_lines_error(m->lines));
        if (!got)
            return false;
        m->p = m->block.data;
        m->end = m->p + m->block.len;
    }
    const char *q = memchr(m->p, '\n', (size_t)(m->end - m->p));
    *line = (seen_key){m->p, (size_t)((q ? q : m->end) - m->p)};
    m->p = q ? q + 1 : m->end;
    return true;
}

void combine_end(combine *c)
{
    seen_key line;
    for (size_t i = 0; i < c->n; i++)
        if (c->of[i].path && next_line(c->of + i, &line))
            kit_die("%s: has marks of more documents than there are", c->of[i].path);
}

/* Marks have the name of their input, or one that differs only in the ending of its
 * packing. */
static void open_marks(combine *c, const input *f)
{
    static const char *const endings[] = {"", ".gz", ".zst", ".bz2", ".xz", ".lz4"};
    combine_end(c);
    for (size_t i = 0; i < c->n; i++) {
        marks *m = c->of + i;
        size_t stem = strlen(f->name), s = strlen(packing_suffix(f->packing));
        close_marks(m);
        if (s && stem > s &&
            strcmp(f->name + stem - s, packing_suffix(f->packing)) == 0)
            stem -= s;
        size_t room = strlen(c->folder[i]) + strlen(f->name) + 8;
        m->path = kit_alloc(room);
        snprintf(m->path, room, "%s/%s", c->folder[i], f->name);
        for (size_t e = 0; e < 6 && access(m->path, F_OK) < 0; e++)
            snprintf(m->path, room, "%s/%.*s%s", c->folder[i], (int)stem, f->name,
                     endings[e]);
        if (access(m->path, R_OK) < 0)
            kit_die("%s: has no marks of %s", c->folder[i], f->name);
        m->file[0] = m->path;
        m->lines = kit_lines_new(m->file, 1, '\n');
    }
}

/* ---- one line -------------------------------------------------------------------- */

static bool number(const char **p, const char *end, uint64_t *out)
{
    const char *from = *p;
    uint64_t n = 0;
    while (*p < end && **p >= '0' && **p <= '9' && n < (uint64_t)1 << 40)
        n = n * 10 + (uint64_t)(*(*p)++ - '0');
    *out = n;
    return *p > from;
}

static bool literal(const char **p, const char *end, const char *s)
{
    size_t n = strlen(s);
    if ((size_t)(end - *p) < n || memcmp(*p, s, n))
        return false;
    *p += n;
    return true;
}

/* Behind the last NAME in [P, END), which follows the id; NULL if there is none. */
static const char *behind(const char *p, const char *end, const char *name)
{
    const char *found = NULL, *q;
    size_t n = strlen(name);
    while ((q = memmem(p, (size_t)(end - p), name, n)))
        found = p = q + n;
    return found;
}

static uint32_t end_of(const doc *d, const para *p, uint32_t i)
{
    return i + 1 < d->paras ? p[i + 1].at : d->text_len;
}

/* Removes the paragraphs in [FROM, TO). False if these are not edges of paragraphs. */
static bool mark_span(const doc *d, para *p, uint64_t from, uint64_t to)
{
    uint32_t i = 0;
    while (i < d->paras && p[i].at < from)
        i++;
    if (i == d->paras || p[i].at != from)
        return false;
    for (; i < d->paras && end_of(d, p, i) <= to; i++) {
        p[i].gone = true;
        if (end_of(d, p, i) == to)
            return true;
    }
    return false;
}

/* Applies the marks in LINE to D, whose own line is TEXT. */
static bool apply(seen_key line, const char *text, doc *d, para *p)
{
    const char *s = line.data, *end = s + line.len;
    uint64_t from, to, n;
    if (!literal(&s, end, "{\"id\": ") ||
        (d->id_len ? (size_t)(end - s) < d->id_len || memcmp(s, text + d->id, d->id_len)
                   : !literal(&s, end, "null")))
        return false;
    const char *q = behind(s, end, "duplicate_spans\": [");
    if (!q)
        return false;
    while (literal(&q, end, "[")) {
        if (!number(&q, end, &from) || !literal(&q, end, ", ") ||
            !number(&q, end, &to) || !literal(&q, end, "]") ||
            !mark_span(d, p, from, to))
            return false;
        literal(&q, end, ", ");
    }
    if (!literal(&q, end, "]"))
        return false;
    const char *found = behind(s, end, "\"found\": ");
    if (found && number(&found, end, &n))
        d->found += (uint32_t)n;
    const char *of = behind(s, end, "\"of\": ");
    if (of && number(&of, end, &n))
        d->ngrams += (uint32_t)n;
    return true;
}

bool combine_block(combine *c, block *b, const input *f)
{
    if (b->first)
        open_marks(c, f);
    para *p = b->para;
    for (size_t i = 0; i < b->docs; p += b->doc[i++].paras)
        for (size_t k = 0; k < c->n; k++) {
            seen_key line;
            doc *d = b->doc + i;
            if (next_line(c->of + k, &line) &&
                (d->bad || apply(line, b->data.data + d->line, d, p)))
                continue;
            snprintf(b->error, sizeof b->error,
                     "%s: line %llu does not fit document %llu of %s", c->of[k].path,
                     (unsigned long long)(b->line_base + i + 1),
                     (unsigned long long)(b->line_base + i + 1), f->path);
            return false;
        }
    return true;
}
