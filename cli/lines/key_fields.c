/* key_fields.c - fields by their names in the header of a CSV file, and several fields
 * as one key. */
#include "key_fields.h"
#include "did_you_mean.h"
#include "human_numbers.h"
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether TEXT has nothing but digits, blanks and signs: a wrong number, not a name. */
static bool looks_like_number(const char *text)
{
    return !*text || strspn(text, "0123456789+-. \t") == strlen(text);
}

/* Adds one field; false if TEXT is not one. A name in quotes may look like a number. */
static bool add_field(key_fields *f, const char *text, bool quoted)
{
    struct one_field *one = f->one + f->n;
    if (f->n == KEY_FIELDS)
        return false;
    if (quoted || !kit_parse_count(text, &one->at)) {
        if (!quoted && looks_like_number(text))
            return false;
        one->at = 0;
        one->name = kit_copy(text);
    } else if (one->at > MOST_FIELDS) {
        return false;
    }
    f->n++;
    return true;
}

key_fields *key_fields_parse(const char *text)
{
    key_fields *f = kit_alloc(sizeof *f);
    arena room = {0};
    seen_key line = {text, strlen(text)}, part = line;
    bool good = true;
    f->separator = ',';
    const char *at = text;
    for (uint64_t i = 1; good && csv_field(',', i, &room, &part); i++, part = line) {
        char *word = kit_copy_part(part.data, part.len);
        bool quoted = *at == '"';
        good = add_field(f, word, quoted);
        free(word);
        /* Where the next field begins: behind this one, which may hold commas. */
        seen_key rest;
        const char *next = at;
        kit_cut_csv(&next, text + line.len, ',', ',', &rest, 1);
        at = next;
    }
    arena_free(&room);
    if (good)
        return f;
    free(f);
    return NULL;
}

bool keyspec_has_name(const keyspec *k)
{
    for (size_t i = 0; k->fields && i < k->fields->n; i++)
        if (k->fields->one[i].name)
            return true;
    return false;
}

void keyspec_check(const keyspec *k)
{
    if (!k->csv && keyspec_has_name(k))
        kit_die("--key: '%s' is not a field number from 1 on (--csv knows columns by "
                "their names)",
                k->asked);
    if (k->fields)
        k->fields->separator = keyspec_comma(k);
}

keyspec keyspec_elsewhere(const keyspec *k)
{
    keyspec other = *k;
    if (k->fields) {
        other.fields = kit_alloc(sizeof *other.fields);
        *other.fields = *k->fields;
        other.fields->header = NULL;
    }
    return other;
}

/* The header without what may differ between equal ones. */
static seen_key bare(seen_key header)
{
    const char *p = header.data;
    size_t bom = kit_bom(p, header.len), len = header.len - bom;
    return (seen_key){p + bom, len - (len && p[header.len - 1] == '\r')};
}

static const char *wrong(key_fields *f, const char *fmt, const char *a, const char *b)
{
    snprintf(f->wrong, sizeof f->wrong, fmt, a, b);
    return f->wrong;
}

/* Finds the column of ONE in HEADER. */
static const char *find_column(key_fields *f, struct one_field *one, seen_key header)
{
    arena room = {0};
    const char *bad = NULL;
    char name[80], nearest[80];
    kit_meant meant = {.word = one->name};
    one->at = 0;
    for (uint64_t i = 1; !bad; i++) {
        seen_key column = header;
        if (!csv_field(f->separator, i, &room, &column))
            break;
        snprintf(name, sizeof name, "%.*s", (int)(column.len < 79 ? column.len : 79),
                 (const char *)column.data);
        if (column.len != strlen(one->name) ||
            memcmp(column.data, one->name, column.len)) {
            kit_meant_try(&meant, name);
            if (meant.name == name) /* which the next one will overwrite */
                meant.name = strcpy(nearest, name);
            continue;
        }
        if (one->at)
            bad = wrong(f, "two columns are called '%.100s': give a number%s",
                        one->name, "");
        one->at = i;
    }
    if (!bad && !one->at)
        bad = wrong(f, "no column of the header is called '%.100s'%s", one->name,
                    kit_meant_ask(&meant, ""));
    arena_free(&room);
    return bad;
}

const char *keyspec_take_header(void *fields, seen_key header)
{
    key_fields *f = fields;
    const char *bad = NULL;
    seen_key new = bare(header);
    if (f->header) {
        seen_key old = bare((seen_key){f->header, f->header_len});
        return old.len == new.len && !memcmp(old.data, new.data, new.len)
                   ? NULL
                   : "its header is not that of the file before";
    }
    f->header = kit_copy_part(header.data, header.len);
    f->header_len = header.len;
    for (size_t i = 0; i < f->n && !bad; i++)
        if (f->one[i].name)
            bad = find_column(f, f->one + i, new);
    return bad;
}

seen_key keyspec_header(const keyspec *k)
{
    if (!k->fields)
        return (seen_key){0};
    return (seen_key){k->fields->header, k->fields->header_len};
}

seen_key csv_join(arena *a, const seen_key *part, size_t n)
{
    size_t most = n;
    for (size_t i = 0; i < n; i++)
        most += part[i].len * 2 + 2;
    char *out = arena_room(a, most), *o = out;
    for (size_t i = 0; i < n; i++) {
        const char *p = part[i].data, *end = p + part[i].len;
        bool quote = false;
        for (const char *q = p; q < end; q++)
            quote |= *q == ',' || *q == '"' || *q == '\r' || *q == '\n';
        if (i)
            *o++ = ',';
        if (quote)
            *o++ = '"';
        for (; p < end; p++) {
            if (*p == '"')
                *o++ = '"';
            *o++ = *p;
        }
        if (quote)
            *o++ = '"';
    }
    a->last->used += (size_t)(o - out);
    return (seen_key){out, (size_t)(o - out)};
}
