/* key_fields.h - the fields of -k, where there are several or they have names. Only for
 * keys.c and key_fields.c. */
#ifndef CLI_KEY_FIELDS_H
#define CLI_KEY_FIELDS_H

#include "keys.h"

enum { MOST_FIELDS = 1000000000, KEY_FIELDS = 64 };

struct key_fields {
    size_t n; /* 1 to KEY_FIELDS */
    struct one_field {
        uint64_t at; /* 1 is the first; of a name 0 until the header is read */
        char *name;  /* or NULL */
    } one[KEY_FIELDS];
    char separator; /* of the header */
    char *header;   /* as it came; NULL until it is read */
    size_t header_len;
    char wrong[400];
};

/* The fields of TEXT, numbers or names with commas between; a quoted one is always a
 * name. NULL if it is not such a list. */
key_fields *key_fields_parse(const char *text);

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, room;
    char data[];
};

/* Room for LEN bytes; what is used of it is added to a->last->used. */
char *arena_room(arena *a, size_t len);

/* Makes *KEY, a CSV record, its field FIELD: quoted fields lose their quotes, doubled
 * quotes become one. A carriage return at the end belongs to the end of the line. False
 * if there are fewer fields. */
bool csv_field(char separator, uint64_t field, arena *a, seen_key *key);

/* N fields as one CSV record, with commas, quoted where it is needed. */
seen_key csv_join(arena *a, const seen_key *part, size_t n);
#endif
