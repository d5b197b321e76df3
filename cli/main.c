/* main.c - the `seen` command: finds the subcommand and runs it.
 *
 * A new subcommand is a file cmd_NAME.c with a kit_command, one name in commands.h and
 * one line in the table below; help, man page and completions follow from its table. */
#include "bus_error.h"
#include "commands.h"
#include "did_you_mean.h"
#include "output.h"
#include "messages.h"
#include "seen.h"
#include "compression.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const kit_command *const commands[] = {
    &cmd_uniq,    &cmd_dedup,   &cmd_partition, &cmd_new,   &cmd_add,  &cmd_has,
    &cmd_excuse,  &cmd_build,   &cmd_rm,        &cmd_merge, &cmd_info, &cmd_verify,
    &cmd_convert, &cmd_formats, &cmd_sort,      &cmd_count, &cmd_plan, &cmd_compare,
    &cmd_demo,    &cmd_help,    NULL,
};

#if defined(__x86_64__)
#define BUILT_FOR "scalar avx2 avx512"
#elif defined(__aarch64__)
#define BUILT_FOR "scalar neon"
#else
#define BUILT_FOR "scalar"
#endif

static void version(void)
{
    printf("seen %s\nkinds:", seen_version());
    for (int k = 1; seen_kind_name((seen_kind)k); k++)
        printf(" %s", seen_kind_name((seen_kind)k));
    printf("\ninstructions: %s, of " BUILT_FOR "\nunpacks: %s\n", seen_simd(),
           kit_unpacks());
}

void overview(FILE *to)
{
    fprintf(to, "Usage: seen COMMAND [OPTION]... [FILE]...\n\n"
                "Have I seen this before? Answers in a few bits a key.\n\nCommands:\n");
    for (size_t i = 0; commands[i]; i++)
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fprintf(to, "  %-10s %s\n", "crawl",
            "fetch pages, each once (the program seen-crawl)");
    fprintf(to,
            "\n'seen COMMAND --help' says more; 'seen --version' names the version.\n"
            "Start with: seen uniq FILE\n");
}

/* Descriptors 0 to 2 must be open, or the next file opened would become one of them
 * and get messages or data meant for another. A closed one is replaced by a descriptor
 * that cannot be used. */
static void open_standard(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            exit(2);
}

static int run(const kit_command *c, int argc, char **argv)
{
    static char name[64];
    snprintf(name, sizeof name, "seen %s", c->name);
    kit_say_name(name);
    return c->run(c, argc, argv);
}

void run_other(const char *word, char **argv)
{
    char path[4096], name[80];
    if (strchr(word, '/') ||
        snprintf(name, sizeof name, "seen-%s", word) >= (int)sizeof name)
        return;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - sizeof name - 1);
    char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
    argv[1] = name;
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (slash) {
        strcpy(slash + 1, name);
        execv(path, argv + 1);
    }
    execvp(name, argv + 1);
}

void no_command(const char *word)
{
    if (strcmp(word, "crawl") == 0)
        kit_die("crawl: the program seen-crawl is not installed (Debian package "
                "seen-crawl)");
    kit_meant meant = {.word = word};
    for (size_t i = 0; commands[i]; i++)
        kit_meant_try(&meant, commands[i]->name);
    kit_meant_try(&meant, "crawl");
    kit_die("no command '%s'%s (try 'seen --help')", word, kit_meant_ask(&meant, ""));
}

int main(int argc, char **argv)
{
    open_standard();
    kit_stdout_waits();
    kit_name_bus_errors();
    signal(SIGPIPE, SIG_IGN); /* noticed as EPIPE, after which outputs are tidied up */
    signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error like a full disk */
    kit_version = version;
    const char *word = argc > 1 ? argv[1] : "";
    int status = 2;
    if (!*word) {
        overview(stderr);
        return 2;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        overview(stdout);
        status = 0;
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        version();
        status = 0;
    } else {
        const kit_command *c = NULL;
        for (size_t i = 0; commands[i] && !c; i++)
            if (strcmp(word, commands[i]->name) == 0)
                c = commands[i];
        if (!c) {
            char *given = argv[1];
            run_other(word, argv);
            no_command(given);
        }
        status = run(c, argc - 1, argv + 1);
    }
    kit_stdout_flush();
    return status;
}
