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
            "FILTER is another system's. Give the parameters that its bytes lack; "    \
            "'seen formats' lists them. Not needed where the bytes say everything.",   \
            .list = format_names                                                       \
    }

/* The names of the formats, and of the kinds that 'seen new' makes, for completions. */
const char *format_names(void);
const char *kind_names(void);

/* "; did you mean 'blocked'?" for WORD[:...], a mistyped format or, with KINDS, kind;
 * or "". */
const char *format_meant(const char *word, bool kinds);

typedef struct format_spec {
    char name[64];
    seen_params params;
    uint32_t seeds[64];
    char type[32], column[256];
} format_spec;

/* Takes --format, and --force where a command has it; returns whether KEY was one. It
 * applies to every filter that this run opens. */
bool format_option(const kit_parse *p, int key);

/* Reads NAME[:PARAM=VALUE,...]; returns NULL, or what is wrong with it; then OUT has a
 * name only if there is such a format. */
const char *format_parse(const char *text, format_spec *out);

/* Whether --format was given. */
bool format_is_chosen(void);

/* An opener for named_filter.c; leaves native filters to their own opener. */
int format_open(const char *name, unsigned how, named_filter *s);

/* Opens NAME as FORMAT, with the parameters of --format if it was that. */
int format_open_as(const char *name, const char *format, seen_filter **out);

/* The same for bytes that came through a pipe, of a native filter or another system's;
 * they must stay. */
int format_open_bytes(const void *bytes, size_t len, seen_filter **out);

/* Many formats have no header, so that --format may be given for any file by mistake,
 * and adding would destroy it. Ends the program if the bytes of the file NAME are
 * recognised as those of another format, or are text, unless --force was given. */
void format_check_target(const char *name);

enum { OPT_FORCE_FORMAT = 'f' };
#define OPTION_FORCE_FORMAT                                                            \
    {                                                                                  \
        OPT_FORCE_FORMAT, "force", NULL,                                               \
            "With --format: change FILTER even if its bytes look like another format " \
            "or like text."                                                            \
    }

/* Writes F compressed to OUT: 0, or SEEN_EIO if OUT failed, or another code. */
int format_write_gzip(const seen_filter *f, kit_output *out);
#endif
