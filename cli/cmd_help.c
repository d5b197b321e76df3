/* cmd_help.c - `seen help`: prints help as text, man page or shell completion. */
#include "commands.h"
#include "messages.h"

#include <stdio.h>
#include <string.h>

enum { OPT_MAN = 300, OPT_BASH, OPT_ZSH, OPT_FISH, OPT_LIST };

static const kit_option options[] = {
    {OPT_MAN, "man", NULL,
     "Print a man page in roff; without COMMAND, that of seen itself."},
    {OPT_BASH, "bash", NULL, "Print the completion for bash."},
    {OPT_ZSH, "zsh", NULL, "Print the completion for zsh."},
    {OPT_FISH, "fish", NULL, "Print the completion for fish."},
    {OPT_LIST, "list", NULL, "Print the names of all commands."},
    {0},
};

static void bash(void)
{
    printf("# bash completion for seen, written by `seen help --bash`.\n"
           "_seen() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} words= of=1\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
           "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; commands[i]; i++)
        printf("%s ", commands[i]->name);
    printf("--help --version' -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           /* --kind=bl comes as three words, "--kind" "=" "bl". */
           "    [ \"$cur\" != = ] || cur= of=0\n"
           "    [ \"${COMP_WORDS[COMP_CWORD-of]}\" != = ] || of=$((of + 1))\n"
           "    case \"${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD-of]}\" in\n");
    for (size_t i = 0; commands[i]; i++)
        kit_bash_values(stdout, commands[i]);
    printf("    esac\n"
           "    if [ \"$words\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    case $cur in -*) ;; *) return ;; esac\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("    %s) words='", commands[i]->name);
        kit_words(stdout, commands[i]);
        printf("' ;;\n");
    }
    /* A program of its own, such as seen-crawl, is asked for its options. */
    printf("    *) words=$(seen \"${COMP_WORDS[1]}\" --help-words 2>/dev/null) ;;\n"
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "}\n"
           "complete -o default -F _seen seen\n");
}

static void zsh(void)
{
    printf("#compdef seen\n# zsh completion for seen, written by `seen help --zsh`.\n"
           "_seen() {\n"
           "    if (( CURRENT == 2 )); then\n"
           "        local -a names=(\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("            '%s:", commands[i]->name);
        kit_zsh_text(stdout, commands[i]->summary);
        printf("'\n");
    }
    printf("        )\n"
           "        _describe command names\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $words[1] in\n");
    for (size_t i = 0; commands[i]; i++) {
        printf("    %s)\n        _arguments -s", commands[i]->name);
        kit_zsh_arguments(stdout, commands[i]);
        printf(" \\\n            '*:file:_files' ;;\n");
    }
    printf("    *) compadd -- $(seen $words[1] --help-words 2>/dev/null) ;;\n"
           "    esac\n}\n_seen \"$@\"\n");
}

static void fish(void)
{
    printf("# fish completion for seen, written by `seen help --fish`.\n"
           "function __seen_word\n"
           "    set -l words (commandline -opc)\n"
           "    test (count $words) -gt 1; and echo $words[2]\n"
           "end\n"
           "function __seen_other\n"
           "    set -l word (__seen_word)\n"
           "    test -n \"$word\"; and not contains -- $word");
    for (size_t i = 0; commands[i]; i++)
        printf(" %s", commands[i]->name);
    printf("\nend\n"
           "function __seen_is\n"
           "    set -l word (__seen_word)\n"
           "    test \"$word\" = \"$argv[1]\"\n"
           "end\n"
           "complete -c seen -n __seen_other -f -a "
           "'(seen (__seen_word) --help-words 2>/dev/null | string split -n \" \")'\n");
    for (size_t i = 0; commands[i]; i++) {
        char head[96];
        printf("complete -c seen -n '__seen_is \"\"' -f -a %s -d ", commands[i]->name);
        kit_fish_text(stdout, commands[i]->summary);
        printf("\n");
        snprintf(head, sizeof head, "complete -c seen -n '__seen_is %s'",
                 commands[i]->name);
        kit_fish_options(stdout, commands[i], head);
    }
}

static void man_overview(void)
{
    printf(
        ".\\\" Written by `seen help --man`; change the text in the program.\n"
        ".TH SEEN 1 \"\" seen \"seen\"\n.SH NAME\nseen \\- have I seen this before?\n"
        ".SH SYNOPSIS\n.B seen\nCOMMAND [OPTION]... [FILE]...\n.SH DESCRIPTION\n"
        "Remembers keys in a few bits each and says whether one was seen before. A "
        "\"no\" is certain; a \"yes\" is a false positive with a probability that you "
        "choose.\n"
        ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++)
        printf(".TP\n\\fBseen %s\\fR\n%s; see \\fBseen\\-%s\\fR(1)\n",
               commands[i]->name, commands[i]->summary, commands[i]->name);
    printf(
        ".SH ENVIRONMENT\n.TP\n.B TMPDIR\nWhere temporary files go [/tmp].\n"
        ".TP\n.B SEEN_SIMD\nscalar, avx2, avx512 or neon: use no better instructions "
        "than these.\n"
        ".TP\n.B SEEN_SEED\na number: the seed of every new filter, instead of a "
        "random one, so that a run can be repeated bit for bit. With a known seed, "
        "strangers can choose keys that collide.\n"
        ".SH EXIT STATUS\n0 on success (for \\fBseen has\\fR and \\fBseen rm\\fR: "
        "something was found), 1 if nothing was found, 2 on failure; then one line on "
        "standard error says what failed and where.\n");
}

static int help_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen help", self, argc, argv);
    int form = 0;
    for (int o; (o = kit_next(&p));)
        form = o;
    const kit_command *c = NULL;
    for (size_t i = 0; p.at < argc && commands[i]; i++)
        if (strcmp(argv[p.at], commands[i]->name) == 0)
            c = commands[i];
    if (p.at < argc && !c && (!form || form == OPT_MAN))
        run_other(argv[p.at],
                  (char *[]){"seen", argv[p.at], form ? "--help-man" : "--help", NULL});
    if (p.at < argc && !c)
        no_command(argv[p.at]);
    char program[64];
    snprintf(program, sizeof program, "seen%s%s", c ? " " : "", c ? c->name : "");
    if (form == OPT_BASH)
        bash();
    else if (form == OPT_ZSH)
        zsh();
    else if (form == OPT_FISH)
        fish();
    else if (form == OPT_LIST)
        for (size_t i = 0; commands[i]; i++)
            printf("%s\n", commands[i]->name);
    else if (form == OPT_MAN && c)
        kit_man(stdout, program, c, "seen(1)");
    else if (form == OPT_MAN)
        man_overview();
    else if (c)
        kit_help(stdout, program, c);
    else
        overview(stdout);
    return 0;
}

const kit_command cmd_help = {
    .name = "help",
    .summary = "show the help of a command",
    .usage = "[OPTION] [COMMAND]",
    .about = "Prints the help of COMMAND, or the list of commands.",
    .options = options,
    .examples = "# Everything about one command\n$ seen help uniq\n"
                "# Completion in this shell\n$ eval \"$(seen help --bash)\"\n",
    .run = help_main,
};
