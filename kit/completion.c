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
    if (o->arg)
        fprintf(to, "%s%s:%s", may_lack ? "::" : ":", may_lack ? "value" : o->arg,
                strcmp(o->arg, "FILE") && strcmp(o->arg, "FILTER") ? "" : "_files");
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
