/* commands.h - every subcommand of `seen`; one file each, cmd_NAME.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "options.h"

extern const kit_command cmd_uniq, cmd_new, cmd_add, cmd_has, cmd_rm, cmd_merge,
    cmd_info, cmd_verify, cmd_plan, cmd_sort, cmd_count, cmd_compare, cmd_demo,
    cmd_help;
extern const kit_command cmd_convert, cmd_formats;
extern const kit_command cmd_build, cmd_excuse;
extern const kit_command cmd_dedup, cmd_partition;

/* All of them in the order of `seen --help`, NULL at the end (main.c). */
extern const kit_command *const commands[];

/* The list of commands, as `seen --help` prints it. */
void overview(FILE *to);

/* Becomes the program seen-WORD, beside this one or in PATH: `seen crawl`. ARGV[1] is
 * WORD, its arguments follow. Returns if there is no such program. */
void run_other(const char *word, char **argv);

/* Says that there is no command WORD, and which one may be meant; status 2. */
void no_command(const char *word) __attribute__((noreturn));
#endif
