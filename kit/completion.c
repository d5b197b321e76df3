/* completion.c - a command's table as what shells complete from. */
#include "options.h"

#include <stdbool.h>
#include <string.h>

void kit_words(FILE *to, const kit_command *c)
{
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key > 0 && o->key < 256)
            fprintf(to, " -%c", o->key);
        if (o->name)
            fprintf(to, " --%s", o->name);
    }
    fprintf(to, " --help");
}

/* The words that the argument of O may be; NULL if they cannot be listed. */
static const char *values(const kit_option *o)
{
    return o->words ? o->words : o->list ? o->list() : NULL;
}

void kit_bash_values(FILE *to, const kit_command *c)
{
    for (const kit_option *o = c->options; o && o->key; o++) {
        const char *v = values(o);
        if (!v)
            continue;
        fprintf(to, "    '%s --%s'", c->name, o->name);
        if (o->key < 256)
            fprintf(to, "|'%s -%c'", c->name, o->key);
        fprintf(to, ") words='%s' ;;\n", v);
    }
}

void kit_zsh_text(FILE *to, const char *s)
{
    for (; *s && !(*s == '.' && (s[1] == ' ' || !s[1])); s++)
        if (*s == '\'')
            fprintf(to, "'\\''");
        else if (*s == '[' || *s == ']' || *s == ':')
            fprintf(to, "\\%c", *s);
        else
            putc(*s, to);
}

static bool is_file(const kit_option *o)
{
    return !strcmp(o->arg, "FILE") || !strcmp(o->arg, "FILTER");
}

static void one_form(FILE *to, const kit_option *o, bool is_long)
{
    bool may_lack = o->arg && *o->arg == '[';
    fprintf(to, " \\\n            '");
    if (is_long)
        fprintf(to, "--%s%s", o->name, may_lack ? "=-" : o->arg ? "=" : "");
    else
        fprintf(to, "-%c", o->key);
    fprintf(to, "[");
    kit_zsh_text(to, o->help);
    fprintf(to, "]");
    if (o->arg && values(o))
        fprintf(to, ":value:(%s)", values(o));
    else if (o->arg)
        fprintf(to, "%s%s:%s", may_lack ? "::" : ":", may_lack ? "value" : o->arg,
                is_file(o) ? "_files" : "");
    fprintf(to, "'");
}

void kit_zsh_arguments(FILE *to, const kit_command *c)
{
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key > 0 && o->key < 256)
            one_form(to, o, false);
        if (o->name)
            one_form(to, o, true);
    }
}

void kit_fish_text(FILE *to, const char *s)
{
    putc('\'', to);
    for (; *s && !(*s == '.' && (s[1] == ' ' || !s[1])); s++) {
        if (*s == '\'' || *s == '\\')
            putc('\\', to);
        putc(*s, to);
    }
    putc('\'', to);
}

void kit_fish_options(FILE *to, const kit_command *c, const char *head)
{
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key == KIT_HEADING)
            continue;
        fprintf(to, "%s", head);
        if (o->key < 256)
            fprintf(to, " -s %c", o->key);
        if (o->name)
            fprintf(to, " -l %s", o->name);
        if (values(o))
            fprintf(to, " -x -a '%s'", values(o));
        else if (o->arg && *o->arg != '[') /* fish knows no argument that may lack */
            fprintf(to, " %s", is_file(o) ? "-r -F" : "-x");
        fprintf(to, " -d ");
        kit_fish_text(to, o->help);
        fprintf(to, "\n");
    }
    fprintf(to, "%s -l help -d 'Show the help'\n", head);
}
