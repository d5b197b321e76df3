/* options.c - walks over the words of a command line by the command's table. */
#include "options.h"
#include "did_you_mean.h"
#include "output.h"
#include "messages.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void (*kit_version)(void);

enum { HELP = 0x7001, VERSION, MAN, WORDS };

/* The table in the form that getopt_long wants. */
struct tables {
    char *shorts;
    struct option *longs;
};

static int takes(const kit_option *o)
{
    return !o->arg          ? no_argument
           : *o->arg == '[' ? optional_argument
                            : required_argument;
}

kit_parse kit_parse_start(const char *program, const kit_command *c, int argc,
                          char **argv)
{
    static const struct option always[] = {{"help", no_argument, NULL, HELP},
                                           {"version", no_argument, NULL, VERSION},
                                           {"help-man", no_argument, NULL, MAN},
                                           {"help-words", no_argument, NULL, WORDS}};
    size_t rows = 0, s = 0, l = 0;
    while (c->options && c->options[rows].key)
        rows++;
    struct tables *t = kit_alloc(sizeof *t);
    t->shorts = kit_alloc(rows * 3 + 3);
    t->longs = kit_alloc((rows + 5) * sizeof *t->longs);
    t->shorts[s++] = ':'; /* distinguishes a missing argument from an unknown option */
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key > 0 && o->key < 256) {
            t->shorts[s++] = (char)o->key;
            for (int n = takes(o); n; n--)
                t->shorts[s++] = ':';
        }
        if (o->name)
            t->longs[l++] = (struct option){o->name, takes(o), NULL, o->key};
    }
    memcpy(t->longs + l, always, sizeof always);
    if (!strchr(t->shorts, 'h'))
        t->shorts[s++] = 'h';
    opterr = 0;
    optind = 0;
    kit_say_name(program);
    return (kit_parse){
        .program = program, .command = c, .argc = argc, .argv = argv, .tables = t};
}

const kit_option *kit_option_keyed(const kit_command *c, int key)
{
    for (const kit_option *o = c->options; o && o->key; o++)
        if (o->key == key)
            return o;
    return NULL;
}

/* Says what is wrong with the word at which getopt stopped with KEY. */
static void refuse(const kit_parse *p, int key, const char *word)
    __attribute__((noreturn));
static void refuse(const kit_parse *p, int key, const char *word)
{
    const struct tables *t = p->tables;
    /* getopt leaves a letter in optopt; for a long option it only says where it is. */
    if (optopt && optopt < 256 && strncmp(word, "--", 2) != 0)
        kit_usage(p, key == ':' ? "option '-%c' needs a value" : "unknown option '-%c'",
                  optopt);
    if (key == ':')
        kit_usage(p, "option '%s' needs a value", word);
    if (optopt)
        kit_usage(p, "option '%s' takes no value", word);
    size_t len = strcspn(word, "=");
    for (size_t i = 0, same = 0; t->longs[i].name; i++) {
        same += len > 2 && strncmp(word + 2, t->longs[i].name, len - 2) == 0;
        if (same > 1)
            kit_usage(p, "option '%s' is short for several", word);
    }
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", (int)(len > 2 ? len - 2 : 0), word + 2);
    kit_meant meant = {.word = typed};
    for (const kit_option *o = p->command->options; o && o->key; o++)
        if (o->name)
            kit_meant_try(&meant, o->name);
    kit_usage(p, "unknown option '%s'%s", word, kit_meant_ask(&meant, "--"));
}

/* Prints what KEY asks for and ends the program; returns if KEY is an option. */
static void answer(const kit_parse *p, int key)
{
    if (key == HELP)
        kit_help(stdout, p->program, p->command);
    else if (key == 'h' && !kit_option_keyed(p->command, 'h'))
        kit_help_short(stdout, p->program, p->command);
    else if (key == VERSION && kit_version)
        kit_version();
    else if (key == MAN)
        kit_man(stdout, p->program, p->command, "seen(1)");
    else if (key == WORDS)
        kit_words(stdout, p->command);
    else
        return;
    kit_stdout_flush();
    exit(0);
}

int kit_next(kit_parse *p)
{
    struct tables *t = p->tables;
    int before = optind ? optind : 1;
    int key = getopt_long(p->argc, p->argv, t->shorts, t->longs, NULL);
    p->arg = optarg;
    if (key == -1) {
        p->at = optind;
        free(t->shorts);
        free(t->longs);
        free(t);
        p->tables = NULL;
        return 0;
    }
    if (key == '?' || key == ':')
        refuse(p, key, p->argv[optind > before ? optind - 1 : before]);
    answer(p, key);
    return key;
}

void kit_bad_value(const kit_parse *p, int key, const char *what)
{
    const kit_option *o = kit_option_keyed(p->command, key);
    char letter[3] = {'-', (char)key, 0};
    kit_usage(p, "--%s: '%s' is not %s", o && o->name ? o->name : letter + 1, p->arg,
              what);
}

void kit_usage(const kit_parse *p, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    kit_die("%s (try '%s --help')", text, p->program);
}
