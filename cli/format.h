/* format.h - other systems' filters on the command line: --format, and opening them.
 *
 * One word says everything, NAME[:PARAM=VALUE,...], such as fnv-split:m=1000,k=5, so
 * commands need no options of their own for each format. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include "options.h"
#include "seen.h"
#include "named_filter.h"

enum { OPT_FORMAT = 0x430 };

#define OPTION_FORMAT                                                                  \
    {                                                                                  \
        OPT_FORMAT, "format", "NAME[:PARAM=VALUE,...]",                                \
            "FILTER is another system's, with what its bytes do not say: 'seen "       \
            "formats' lists names and parameters. Not needed where the bytes say "     \
            "everything."                                                              \
    }

typedef struct format_spec {
    char name[64];
    seen_params params;
    uint32_t seeds[64];
    char type[32], column[256];
} format_spec;

/* Takes --format; returns whether KEY was it. It applies to every filter that this run
 * opens. */
bool format_option(const kit_parse *p, int key);

/* Reads NAME[:PARAM=VALUE,...]; returns NULL, or what is wrong with it. */
const char *format_parse(const char *text, format_spec *out);

/* Whether --format was given. */
bool format_is_chosen(void);

/* An opener for named_filter.c; leaves native filters to their own opener. */
int format_open(const char *name, unsigned how, named_filter *s);

/* seen_open for native files, seen_open_foreign for others. */
int format_or_native(const char *name, unsigned mode, seen_filter **out);

/* Saves what was compressed compressed. Ends the program if it fails. */
void format_save_gzip(const named_filter *s);
#endif
