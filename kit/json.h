/* json.h - writes JSON: objects and arrays with commas in the right places, strings
 * escaped (bytes that are not UTF-8 become U+FFFD), NaN and infinity as null. */
#ifndef KIT_JSON_H
#define KIT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct kit_json {
    FILE *to;
    unsigned depth;
    bool more[32]; /* at each depth: whether a member came before */
} kit_json;

/* NAME is the member's name inside an object; NULL inside an array or at the top. */
void kit_json_open(kit_json *j, const char *name, char bracket); /* '{' or '[' */
void kit_json_close(kit_json *j, char bracket);                  /* '}' or ']' */
void kit_json_text(kit_json *j, const char *name, const char *s);
void kit_json_bytes(kit_json *j, const char *name, const void *s, size_t len);
void kit_json_count(kit_json *j, const char *name, uint64_t n);
void kit_json_real(kit_json *j, const char *name, double x);
void kit_json_bool(kit_json *j, const char *name, bool b);
#endif
