/* json_line.h - one line of JSON: its text unescaped, the place of everything else.
 *
 * The whole line is checked to be one JSON object, but only the wanted field is looked
 * into. Nothing is kept or changed: what is found points into the line. Control
 * characters inside strings pass, as do bytes that are not UTF-8. */
#ifndef DEDUP_JSON_LINE_H
#define DEDUP_JSON_LINE_H

#include <stddef.h>
#include <stdint.h>

enum { JSON_PAD = 64, JSON_LEVELS = 16 };

/* "metadata.text" as names of objects in each other. */
typedef struct json_path {
    char *name[JSON_LEVELS];
    size_t len[JSON_LEVELS];
    size_t levels;
} json_path;

/* Splits NAME at dots; NULL, or what is wrong with it. */
const char *json_path_set(json_path *p, const char *name);
void json_path_free(json_path *p);

/* A newline of the text: where it is in the text, and where its escape is in the line,
 * counted from the text's opening quote. */
typedef struct json_newline {
    uint32_t at, raw;
} json_newline;

/* Room for one text at a time, used again for the next line. */
typedef struct json_text {
    char *data; /* JSON_PAD bytes may be read beyond LEN */
    size_t len, room;
    json_newline *newline;
    size_t newlines, newline_room;
} json_text;

void json_text_free(json_text *t);

typedef struct json_span {
    const char *at; /* NULL: not there */
    size_t len;
} json_span;

typedef struct json_line {
    json_span raw; /* the text as it is spelled, without its quotes */
    json_span id;  /* the value as it is spelled */
    json_span source;
} json_line;

enum json_code {
    JSON_OK,
    JSON_NOT_OBJECT,
    JSON_BROKEN,
    JSON_NO_FIELD,
    JSON_NOT_STRING,
    JSON_TWICE,
    JSON_TOO_DEEP,
    JSON_TOO_LONG,
};

/* Reads the LEN bytes of LINE, of which JSON_PAD more may be read. ID is the name of a
 * field at the top, or NULL. */
enum json_code json_line_read(const char *line, size_t len, const json_path *path,
                              const char *id, json_line *out, json_text *text);

/* The code in words, to follow "FILE:LINE: ". */
const char *json_code_words(enum json_code code);
#endif
