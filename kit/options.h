/* options.h - a command described once: the same table parses its options, prints its
 * --help, its man page and its shell completions. */
#ifndef KIT_OPTIONS_H
#define KIT_OPTIONS_H

#include <stdio.h>

typedef struct kit_option {
    int key;          /* the letter, or from 256 on a long name only; 0 ends the list */
    const char *name; /* long name, or NULL */
    const char *arg;  /* name of the argument in upper case, or NULL for none */
    const char *help; /* one or more sentences */
} kit_option;

typedef struct kit_command {
    const char *name;    /* "uniq" */
    const char *summary; /* one line, no final stop */
    const char *usage;   /* "[OPTION]... [FILE]..."; more forms after newlines */
    const char *about;   /* paragraphs, an empty line between them */
    const kit_option *options;
    const char *examples; /* lines: "# why" and "$ command", runnable as they stand */
    const char *status;   /* exit status; NULL: the usual text */
    int (*run)(const struct kit_command *self, int argc, char **argv);
} kit_command;

/* PROGRAM is "seen uniq" for the subcommand uniq of seen. argv[0] is skipped. */
typedef struct kit_parse {
    const char *program;
    const kit_command *command;
    int argc;
    char **argv;
    int at;          /* the first operand, once kit_next returned 0 */
    const char *arg; /* of the option just returned */
    void *tables;
} kit_parse;

kit_parse kit_parse_start(const char *program, const kit_command *c, int argc,
                          char **argv);

/* The next option's key, or 0 when only operands are left (p->argv[p->at] on).
 * --help and --version are dealt with here; a wrong option is told and ends the
 * program with status 2. */
int kit_next(kit_parse *p);

/* "value 'x' of --expect is not ...": tells and ends the program with status 2. */
void kit_bad_value(const kit_parse *p, int key, const char *what)
    __attribute__((noreturn));

/* Tells MESSAGE and where help is, and ends with status 2. */
void kit_usage(const kit_parse *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

void kit_help(FILE *to, const char *program, const kit_command *c);
void kit_man(FILE *to, const char *program, const kit_command *c, const char *see_also);

/* How --version answers; set by main. */
extern void (*kit_version)(void);

extern const char *const kit_usual_status;
#endif
