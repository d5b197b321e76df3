/* manual.c - prints a command's table as help on the terminal and as a man page. */
#include "options.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

const char *const kit_usual_status =
    "0 on success, 2 on failure; then one line on standard error says what failed and "
    "where.";

/* Prints TEXT filled to 79 columns with every line indented; COLUMN is where the
 * cursor is. An empty line separates paragraphs; lines that begin with a space are
 * printed as they are. */
static void fill(FILE *to, const char *text, int indent, int column)
{
    while (*text) {
        if (*text == '\n') {
            fprintf(to, "\n");
            column = 0;
            text++;
            if (*text == '\n')
                continue;
            if (*text == ' ') {
                size_t n = strcspn(text, "\n");
                fprintf(to, "%*s%.*s", indent, "", (int)n, text);
                text += n;
                column = 80;
            }
            continue;
        }
        size_t n = strcspn(text, " \n");
        if (column && column + 1 + (int)n > 79) {
            fprintf(to, "\n");
            column = 0;
        }
        if (column < indent)
            column += fprintf(to, "%*s", indent - column, "");
        else if (column > indent)
            column += fprintf(to, " ");
        column += fprintf(to, "%.*s", (int)n, text);
        text += n;
        while (*text == ' ')
            text++;
    }
    fprintf(to, "\n");
}

static void print_usage(FILE *to, const char *program, const kit_command *c)
{
    const char *u = c->usage;
    fprintf(to, "Usage: ");
    for (;;) {
        size_t n = strcspn(u, "\n");
        fprintf(to, "%s %.*s\n", program, (int)n, u);
        if (!u[n])
            break;
        u += n + 1;
        fprintf(to, "       ");
    }
}

/* The option with its argument, indented; returns the column after it. */
static int print_option(FILE *to, const kit_option *o)
{
    int at = o->key < 256 ? fprintf(to, "  -%c%s", o->key, o->name ? ", " : "")
                          : fprintf(to, "      ");
    if (o->name)
        at += fprintf(to, "--%s", o->name);
    if (o->arg)
        at += *o->arg == '[' ? fprintf(to, "[=%s", o->arg + 1)
                             : fprintf(to, " %s", o->arg);
    return at;
}

static bool has_brief(const kit_command *c)
{
    for (const kit_option *o = c->options; o && o->key; o++)
        if (o->brief)
            return true;
    return false;
}

void kit_help_short(FILE *to, const char *program, const kit_command *c)
{
    int all = 0;
    if (!has_brief(c)) {
        kit_help(to, program, c);
        return;
    }
    for (const kit_option *o = c->options; o->key; o++)
        all += o->key != KIT_HEADING;
    print_usage(to, program, c);
    fprintf(to, "%c%s.\n\n", toupper((unsigned char)*c->summary), c->summary + 1);
    for (const kit_option *o = c->options; o->key; o++)
        if (o->brief) {
            int at = print_option(to, o);
            fprintf(to, "%*s%s\n", at < 24 ? 24 - at : 1, "", o->brief);
        }
    fprintf(to, "\n'%s --help' explains all %d options, with examples.\n", program,
            all);
}

void kit_help(FILE *to, const char *program, const kit_command *c)
{
    print_usage(to, program, c);
    fprintf(to, "\n");
    fill(to, c->about, 0, 0);
    fprintf(to, "\nOptions:\n");
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key == KIT_HEADING) {
            fprintf(to, "%s%s:\n", o == c->options ? "" : "\n", o->help);
            continue;
        }
        int at = print_option(to, o);
        if (at > 22) {
            fprintf(to, "\n");
            at = 0;
        }
        fill(to, o->help, 24, at);
    }
    fprintf(to, "      --help            Print this text%s.\n",
            has_brief(c) ? "; -h prints what is needed most" : "");
    if (c->examples) {
        fprintf(to, "\nExamples:\n");
        for (const char *e = c->examples; *e;) {
            size_t n = strcspn(e, "\n");
            if (e[0] == '#')
                fprintf(to, "  %.*s:\n", (int)n - 2, e + 2);
            else
                fprintf(to, "      %.*s\n", (int)n - 2, e + 2);
            e += n + (e[n] == '\n');
        }
    }
    fprintf(to, "\nExit status:");
    fill(to, c->status ? c->status : kit_usual_status, 0, 12);
}

/* Text for roff: backslashes and leading dots escaped, hyphens as typed. */
static void roff(FILE *to, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if ((i == 0 || s[i - 1] == '\n') && (s[i] == '.' || s[i] == '\''))
            fprintf(to, "\\&");
        if (s[i] == '\\')
            fprintf(to, "\\e");
        else if (s[i] == '-')
            fprintf(to, "\\-");
        else if (s[i] == '\n' && i + 1 < n && s[i + 1] == '\n') {
            fprintf(to, "\n.PP\n");
            i++;
        } else if (s[i] == '\n' && i + 1 < n && s[i + 1] == ' ')
            fprintf(to, "\n.br\n");
        else
            putc(s[i], to);
    }
}

static void roff_text(FILE *to, const char *s)
{
    roff(to, s, strlen(s));
    putc('\n', to);
}

void kit_man(FILE *to, const char *program, const kit_command *c, const char *see_also)
{
    char page[64], upper[64];
    snprintf(page, sizeof page, "%s", program);
    for (char *p = page; *p; p++)
        if (*p == ' ')
            *p = '-';
    size_t i;
    for (i = 0; i < sizeof upper - 1 && page[i]; i++)
        upper[i] = (char)toupper((unsigned char)page[i]);
    upper[i] = 0;
    fprintf(
        to,
        ".\\\" Written by the program itself (--help-man): change its option table.\n");
    fprintf(to, ".TH %s 1 \"\" seen \"seen\"\n.SH NAME\n", upper);
    roff(to, page, strlen(page));
    fprintf(to, " \\- ");
    roff_text(to, c->summary);
    fprintf(to, ".SH SYNOPSIS\n");
    for (const char *u = c->usage;;) {
        size_t n = strcspn(u, "\n");
        fprintf(to, ".B ");
        roff_text(to, program);
        roff(to, u, n);
        fprintf(to, "\n");
        if (!u[n])
            break;
        fprintf(to, ".br\n");
        u += n + 1;
    }
    fprintf(to, ".SH DESCRIPTION\n");
    roff_text(to, c->about);
    if (c->options && c->options->key)
        fprintf(to, ".SH OPTIONS\n");
    for (const kit_option *o = c->options; o && o->key; o++) {
        if (o->key == KIT_HEADING) {
            fprintf(to, ".SS ");
            roff_text(to, o->help);
            continue;
        }
        fprintf(to, ".TP\n");
        if (o->key < 256)
            fprintf(to, "\\fB\\-%c\\fR%s", o->key, o->name ? ", " : "");
        if (o->name) {
            fprintf(to, "\\fB\\-\\-");
            roff(to, o->name, strlen(o->name));
            fprintf(to, "\\fR");
        }
        if (o->arg && *o->arg == '[')
            fprintf(to, "[=\\fI%.*s\\fR]", (int)strlen(o->arg) - 2, o->arg + 1);
        else if (o->arg)
            fprintf(to, " \\fI%s\\fR", o->arg);
        fprintf(to, "\n");
        roff_text(to, o->help);
    }
    fprintf(to, ".SH EXIT STATUS\n");
    roff_text(to, c->status ? c->status : kit_usual_status);
    if (c->examples) {
        fprintf(to, ".SH EXAMPLES\n");
        for (const char *e = c->examples; *e;) {
            size_t n = strcspn(e, "\n");
            if (e[0] == '#') {
                fprintf(to, ".PP\n");
                roff(to, e + 2, n - 2);
                fprintf(to, ":\n");
            } else {
                fprintf(to, ".PP\n.EX\n    ");
                roff(to, e + 2, n - 2);
                fprintf(to, "\n.EE\n");
            }
            e += n + (e[n] == '\n');
        }
    }
    fprintf(to, ".SH SEE ALSO\n");
    roff_text(to, see_also);
}
