/* keys.h - which part of a line is the key, and how it is spelled. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines.h"
#include "options.h"

/* Several fields, or fields by their names in the header; shared by all copies of a
 * keyspec. */
typedef struct key_fields key_fields;

typedef struct keyspec {
    uint64_t field;     /* 1 is the first; 0: the whole line, unless: */
    key_fields *fields; /* these are the key; NULL */
    const char *asked;  /* the argument of -k, for messages; NULL */
    int separator;  /* -1: runs of blanks, as in awk; with --csv: comma */
    int term;       /* what ends a line */
    uint64_t width; /* how many bytes of the key count; 0: all */
    bool crlf;      /* a carriage return before TERM belongs to the end of the line */
    bool trim, nocase, url, csv;
} keyspec;

#define KEYSPEC_INIT                                                                   \
    {                                                                                  \
        .separator = -1, .term = '\n'                                                  \
    }

enum { OPT_TRIM = 0x400, OPT_CSV, OPT_CRLF };

/* Rows for a command's table of options. */
#define KEY_OPTIONS                                                                    \
    {'k', "key", "FIELD",                                                              \
     "The key is field FIELD (1 is the first) instead of the whole line. A line "      \
     "without that field has the empty key. 2,3 are two fields together, as a CSV "    \
     "record. A name (with --csv) is the column that the header calls so: the first "  \
     "line of each file, which is no line itself and printed as it came.",             \
     .brief = "the key is this field: 2; 2,3; a name (--csv)"},                      \
        {'t', "separator", "CHAR",                                                     \
         "Fields are separated by CHAR (\\t is a tab) instead of by blanks; two in a " \
         "row enclose an empty field."},                                               \
        {OPT_CSV, "csv", NULL,                                                         \
         "Fields are those of CSV, separated by commas or -t CHAR and unquoted; a "    \
         "record may span several lines. A byte order mark is not part of the key; a " \
         "quote that is never closed is an error.",                                    \
         .brief = "fields are those of CSV"},                                          \
        {OPT_TRIM, "trim", NULL, "Ignore white space around the key."},                \
        {OPT_CRLF, "crlf", NULL,                                                       \
         "A carriage return at the end of a line is not part of it (lists from "       \
         "Windows)."},                                                                 \
        {'i', "ignore-case", NULL, "Ignore the case of ASCII letters.",                \
         .brief = "ignore the case of letters"},                                       \
        {'u', "url", NULL,                                                             \
         "Compare keys as normalised URLs: scheme and host in lower case, no default " \
         "port, no dot segments, no fragment, no needless percent-encoding. Anything " \
         "that is not a URL is compared byte for byte.",                               \
         .brief = "compare addresses, not their spelling"},                            \
    {                                                                                  \
        'z', "zero-terminated", NULL, "Lines end in NUL instead of newline."           \
    }

/* Takes option KEY if it is one of those above; returns whether it was. */
bool keyspec_option(keyspec *k, const kit_parse *p, int key);

/* Whether the key is the line itself, byte for byte. */
bool keyspec_plain(const keyspec *k);

/* Whether the key is a field, or several. */
static inline bool keyspec_has_field(const keyspec *k)
{
    return k->field || k->fields;
}

/* Whether a field is given by its name. */
bool keyspec_has_name(const keyspec *k);

/* Ends the program if a name is given where fields have none: without --csv. */
void keyspec_check(const keyspec *k);

/* The same keys in other files, whose headers may differ. */
keyspec keyspec_elsewhere(const keyspec *k);

/* Takes the header of a file, which gives the names their places. NULL, or what is
 * wrong with it: a name is missing or there twice, or an earlier header was another. */
const char *keyspec_take_header(void *fields, seen_key header);

/* The header as it came, without its terminator; {NULL, 0} until it was read. */
seen_key keyspec_header(const keyspec *k);

/* What separates CSV fields. */
static inline char keyspec_comma(const keyspec *k)
{
    return k->separator >= 0 ? (char)k->separator : ',';
}

/* Memory for keys that are spelled differently from their lines. */
typedef struct arena {
    struct arena_chunk *first, *last;
} arena;
void arena_reset(arena *a);
void arena_free(arena *a);

/* The key of LINE; it points into LINE or into A. *MISSING is incremented if the line
 * has no such field. */
seen_key keyspec_key(const keyspec *k, arena *a, seen_key line, uint64_t *missing);

/* The spelling of a key that was given alone, without fields. */
seen_key keyspec_bare(const keyspec *k, arena *a, seen_key key);

/* Keys given on the command line. */
typedef struct words {
    seen_key *key;
    size_t n;
} words;

enum { OPT_WORD = 0x408 };
#define WORD_OPTION                                                                    \
    {                                                                                  \
        OPT_WORD, "word", "KEY",                                                       \
            "Take this key instead of reading lines; may be repeated.",                \
            .brief = "this key, instead of lines"                                      \
    }
/* Adds to W; returns whether KEY was that option. */
bool word_option(words *w, const kit_parse *p, int key);
#endif
