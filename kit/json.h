/* json.h - writes JSON: one object or array after the other, commas in the right
 * places, strings escaped (bytes that are not UTF-8 as U+FFFD), no NaN. */
#ifndef KIT_JSON_H
#define KIT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct kit_json {
    FILE *to;
    unsigned depth;
    bool more[32]; /* at each depth: something stands before */
} kit_json;

/* NAME is the member's name inside an object, NULL inside an array or outside. */
void kit_json_open(kit_json *j, const char *name, char bracket); /* '{' or '[' */
void kit_json_close(kit_json *j, char bracket);                  /* '}' or ']' */
void kit_json_text(kit_json *j, const char *name, const char *s);
void kit_json_bytes(kit_json *j, const char *name, const void *s, size_t len);
void kit_json_count(kit_json *j, const char *name, uint64_t n);
void kit_json_real(kit_json *j, const char *name, double x);
void kit_json_bool(kit_json *j, const char *name, bool b);
#endif
