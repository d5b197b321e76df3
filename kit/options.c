/* options.c - parsing by a command's table. */
#include "options.h"
#include "output.h"
#include "say.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void (*kit_version)(void);

enum { HELP = 0x7001, VERSION };

struct tables {
    char shorts[160];
    struct option longs[64];
};

kit_parse kit_parse_start(const char *program, const kit_command *c, int argc,
                          char **argv)
{
    struct tables *t = kit_alloc(sizeof *t);
    size_t s = 0, l = 0;
    t->shorts[s++] = ':'; /* tell a missing argument from an unknown option */
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key < 256) {
            t->shorts[s++] = (char)o->key;
            if (o->arg)
                t->shorts[s++] = ':';
        }
        if (o->name)
            t->longs[l++] = (struct option){o->name, o->arg != NULL, NULL, o->key};
    }
    t->longs[l++] = (struct option){"help", 0, NULL, HELP};
    t->longs[l++] = (struct option){"version", 0, NULL, VERSION};
    if (!strchr(t->shorts, 'h'))
        t->shorts[s++] = 'h';
    opterr = 0;
    optind = 0;
    kit_say_name(program);
    return (kit_parse){
        .program = program, .command = c, .argc = argc, .argv = argv, .tables = t};
}

static bool has_key(const kit_command *c, int key)
{
    for (const kit_option *o = c->options; o && o->key; o++)
        if (o->key == key)
            return true;
    return false;
}

int kit_next(kit_parse *p)
{
    struct tables *t = p->tables;
    int before = optind ? optind : 1;
    int key = getopt_long(p->argc, p->argv, t->shorts, t->longs, NULL);
    p->arg = optarg;
    if (key == -1) {
        p->at = optind;
        free(t);
        p->tables = NULL;
        return 0;
    }
    if (key == HELP || (key == 'h' && !has_key(p->command, 'h'))) {
        kit_help(stdout, p->program, p->command);
        kit_stdout_flush();
        exit(0);
    }
    if (key == VERSION) {
        if (kit_version)
            kit_version();
        kit_stdout_flush();
        exit(0);
    }
    if (key == '?' || key == ':') {
        /* getopt tells a letter in optopt; a long option only by where it stopped. */
        const char *word = p->argv[optind > before ? optind - 1 : before];
        if (optopt && optopt < 256 && strncmp(word, "--", 2) != 0)
            kit_usage(
                p, key == ':' ? "option '-%c' needs a value" : "unknown option '-%c'",
                optopt);
        if (key == ':')
            kit_usage(p, "option '%s' needs a value", word);
        if (optopt)
            kit_usage(p, "option '%s' takes no value", word);
        size_t len = strcspn(word, "=");
        for (size_t i = 0, same = 0; t->longs[i].name; i++) {
            same += len > 2 && strncmp(word + 2, t->longs[i].name, len - 2) == 0;
            if (same > 1)
                kit_usage(p, "option '%s' could be several", word);
        }
        kit_usage(p, "unknown option '%s'", word);
    }
    return key;
}

static const kit_option *option_of(const kit_command *c, int key)
{
    for (const kit_option *o = c->options; o && o->key; o++)
        if (o->key == key)
            return o;
    return NULL;
}

void kit_bad_value(const kit_parse *p, int key, const char *what)
{
    const kit_option *o = option_of(p->command, key);
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
