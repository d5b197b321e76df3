/* options.h - a command described once: the same table parses its options and prints
 * its --help, its man page and its shell completions. */
#ifndef KIT_OPTIONS_H
#define KIT_OPTIONS_H

#include <stdio.h>

typedef struct kit_option {
    int key;          /* the letter, or from 256 on a long name only; 0 ends the list */
    const char *name; /* long name, or NULL */
    const char *arg;  /* name of the argument in upper case, or NULL for none;
                       * "[SECONDS]" may be left out: --wait, --wait=5 */
    const char *help; /* one or more sentences */
    unsigned marks;   /* bits for the program itself, which the kit ignores */
    const char *words; /* what a shell completes the argument to, separated by */
    const char *(*list)(void);  /* blanks; or who knows it at run time; NULL: neither */
    const char *brief; /* a few words for -h, which shows only rows that have them */
} kit_option;

/* A row that is not an option: a title for the rows below it, in --help and the man
 * page. */
enum { KIT_HEADING = -1 };
#define KIT_OPTIONS_ABOUT(title)                                                       \
    {                                                                                  \
        .key = KIT_HEADING, .help = title                                              \
    }

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

/* The row of C's table with this key; NULL if there is none. */
const kit_option *kit_option_keyed(const kit_command *c, int key);

/* One walk over ARGV, whose first word is skipped. PROGRAM is "seen uniq" for the
 * subcommand uniq of seen. A program may walk several times, one walk after the other:
 * over the same words, or over words that it made from a file. */
typedef struct kit_parse {
    const char *program;
    const kit_command *command;
    int argc;
    char **argv;
    int at;          /* the first operand, once kit_next returned 0 */
    const char *arg; /* of the option just returned; NULL if none was given */
    void *tables;
} kit_parse;

kit_parse kit_parse_start(const char *program, const kit_command *c, int argc,
                          char **argv);

/* The next option's key, or 0 when only operands are left (p->argv[p->at] on). An
 * option may come any number of times.
 *
 * Answers --help, -h (what is needed most, where the table says it) and --version
 * itself, and two that no help lists: --help-man prints the man page, --help-words the
 * options for a shell's completion. A wrong option is reported and ends the program
 * with status 2. */
int kit_next(kit_parse *p);

/* Reports "--expect: 'x' is not WHAT" and ends the program with status 2. */
void kit_bad_value(const kit_parse *p, int key, const char *what)
    __attribute__((noreturn));

/* Reports a message and where help is, and ends the program with status 2. */
void kit_usage(const kit_parse *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), noreturn));

void kit_help(FILE *to, const char *program, const kit_command *c);
/* The rows with a few words, one line each; all of the help if there are none. */
void kit_help_short(FILE *to, const char *program, const kit_command *c);
void kit_man(FILE *to, const char *program, const kit_command *c, const char *see_also);

/* The options as words, each with a blank in front; the arguments that can be listed,
 * as branches of bash's case for "COMMAND --option"; lines of zsh's _arguments, each
 * with a continuation in front, and the first sentence of S quoted for zsh; the options
 * as lines of fish's `complete`, each beginning with HEAD, and a sentence for fish. */
void kit_words(FILE *to, const kit_command *c);
void kit_bash_values(FILE *to, const kit_command *c);
void kit_zsh_arguments(FILE *to, const kit_command *c);
void kit_zsh_text(FILE *to, const char *s);
void kit_fish_options(FILE *to, const kit_command *c, const char *head);
void kit_fish_text(FILE *to, const char *s);

/* What --version prints; set by main. */
extern void (*kit_version)(void);

extern const char *const kit_usual_status;
#endif
