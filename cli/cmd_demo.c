/* cmd_demo.c - `seen demo`: the main job on generated lines, with awk beside it.
 *
 * Every row is a process of its own, so that time and memory are as the system counts
 * them. */
#include "commands.h"
#include "output.h"
#include "sample.h"
#include "messages.h"
#include "human_numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const kit_option options[] = {
    {'n', "lines", "N", "Number of lines [3M]."},
    {0},
};

typedef struct result {
    double cpu, wall, memory;
    uint64_t lines;
    char stats[1024]; /* what it said on standard error */
    bool ran;
} result;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs ARGV with standard input from IN; counts the lines it prints. */
static result run(char *const *argv, const char *in)
{
    result r = {0};
    int out[2], err[2];
    if (pipe(out) < 0 || pipe(err) < 0)
        kit_die("cannot make a pipe: %s", strerror(errno));
    double t = now();
    pid_t pid = fork();
    if (pid < 0)
        kit_die("cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        int fd = open(in, O_RDONLY);
        dup2(fd, 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        close(out[0]);
        close(err[0]);
        setenv("LC_ALL", "C", 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    close(out[1]);
    close(err[1]);
    static char buf[1 << 16];
    for (ssize_t n; (n = read(out[0], buf, sizeof buf)) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        for (char *p = buf; (p = memchr(p, '\n', (size_t)(buf + n - p))); p++)
            r.lines++;
    }
    size_t len = 0;
    for (ssize_t n; len < sizeof r.stats - 1 &&
                    (n = read(err[0], r.stats + len, sizeof r.stats - 1 - len)) > 0;)
        len += (size_t)n;
    close(out[0]);
    close(err[0]);
    int status;
    struct rusage u;
    if (wait4(pid, &status, 0, &u) < 0)
        kit_die("lost a process: %s", strerror(errno));
    r.wall = now() - t;
    r.ran = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    r.cpu = (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
            (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
    r.memory = (double)u.ru_maxrss * 1024;
    return r;
}

static void show(const char *what, const result *r, double error, const char *lost)
{
    char out[32], memory[24], e[24] = "0";
    if (error > 0)
        snprintf(e, sizeof e, "%.2g", error);
    printf("%-24s %12s %10s %14s %7.2f s %7.2f s %8s\n", what,
           kit_show_count(r->lines, out), e, lost, r->cpu, r->wall,
           kit_show_bytes(r->memory, memory));
    fflush(stdout);
}

/* The number after "NAME": in JSON that seen wrote. */
static double number_in(const char *json, const char *name)
{
    char want[48];
    snprintf(want, sizeof want, "\"%s\": ", name);
    const char *p = strstr(json, want);
    return p ? atof(p + strlen(want)) : 0;
}

static int demo_main(const kit_command *self, int argc, char **argv)
{
    kit_parse p = kit_parse_start("seen demo", self, argc, argv);
    uint64_t n = 3000000;
    for (int o; (o = kit_next(&p));)
        if (!kit_parse_count(p.arg, &n) || n > 1000000000)
            kit_bad_value(&p, o, "a number of lines up to a billion");
    if (p.at < argc)
        kit_usage(&p, "no operand '%s' is expected", argv[p.at]);

    int fd = kit_temp_nameless();
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!f)
        kit_die("cannot make a temporary file in TMPDIR: %s", strerror(errno));
    kit_sample s = {.state = 42, .repeats = 0.3};
    char line[128], path[64], a[32], b[32], c[24];
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < n; i++) {
        size_t len = kit_sample_line(&s, line);
        fwrite(line, 1, len, f);
        bytes += len;
    }
    if (fflush(f) || ferror(f))
        kit_die("temporary file in TMPDIR: %s", strerror(errno));
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    printf("%s lines like those of a crawl, %s, %s of them distinct, for example\n  ",
           kit_show_count(n, a), kit_show_bytes((double)bytes, c),
           kit_show_count(s.distinct, b));
    fwrite(line, 1, kit_sample_line(&s, line), stdout);
    printf("\n%-24s %12s %10s %14s %9s %9s %8s\n", "", "lines out", "error",
           "expected lost", "CPU", "time", "memory");
    fflush(stdout);

    char expect[24];
    snprintf(expect, sizeof expect, "%llu", (unsigned long long)s.distinct);
    char *self_exe = (char *)"/proc/self/exe";
    char *const plain[] = {self_exe, "uniq", "--json", NULL};
    char *const small[] = {self_exe, "uniq", "--json", "-e",
                           "0.001",  "-n",   expect,   NULL};
    char *const exact[] = {self_exe, "uniq", "--json", "-x", NULL};
    char *const *const ours[] = {plain, small, exact};
    static const char *const name[] = {"seen uniq", "seen uniq -e 0.001 -n N",
                                       "seen uniq -x"};
    result r[4];
    for (int i = 0; i < 3; i++) {
        r[i] = run(ours[i], path);
        if (!r[i].ran)
            kit_die("%s failed: %s", name[i], r[i].stats);
        char lost[24];
        double l = number_in(r[i].stats, "expected_lost");
        snprintf(lost, sizeof lost, "%s", kit_expected(l));
        show(name[i], &r[i], number_in(r[i].stats, "error"), lost);
    }
    char *const awk[] = {"awk", "!seen[$0]++", NULL};
    r[3] = run(awk, path);
    if (r[3].ran) {
        show("awk '!seen[$0]++'", &r[3], 0, "0");
        printf("\nseen uniq took 1/%.0f of awk's CPU time and 1/%.0f of its memory; "
               "with -e 0.001,\n1/%.0f and 1/%.0f, and lost %s lines.\n",
               r[3].cpu / r[0].cpu, r[3].memory / r[0].memory, r[3].cpu / r[1].cpu,
               r[3].memory / r[1].memory, kit_counted(r[3].lines - r[1].lines));
    } else {
        printf("\n(no awk here to compare with)\n");
    }
    printf("(The memory of -x includes pages of the file itself, which the system can "
           "take back.)\n");
    fclose(f);
    return 0;
}

const kit_command cmd_demo = {
    .name = "demo",
    .summary = "show the main job on a few million lines",
    .usage = "[-n LINES]",
    .about =
        "Makes lines like the addresses of a crawl's log in TMPDIR, removes the "
        "repeats in several ways, and prints lines, error, expected losses, time and "
        "memory, with the same job by awk beside it.",
    .options = options,
    .examples = "# A quick look\n$ seen demo -n 300k\n",
    .run = demo_main,
};
