/* uniq_base.c - what bench/uniq compares with: cuts and hashes the same lines with the
 * same code, and does nothing else.
 *
 *   uniq_base gen N        N lines on standard output, 30% of them repeats
 *   uniq_base split FILE   read and cut into lines
 *   uniq_base hash FILE    and hash each line
 *   uniq_base ints N       N integers between 1 and 1,000,000,000
 *   uniq_base run COMMAND...   run it with its output discarded and print CPU
 *                          seconds, elapsed seconds and peak memory in kilobytes
 */
#include "lines.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static int measure(char **argv)
{
    struct timespec a, b;
    struct rusage u;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open("/dev/null", O_WRONLY);
        dup2(fd, 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &u) < 0)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &b);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return 1;
    printf("%.3f %.3f %ld\n", seconds(u.ru_utime) + seconds(u.ru_stime),
           (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9,
           u.ru_maxrss);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "gen") == 0) {
        kit_sample s = {.state = 42, .repeats = 0.3};
        char line[128];
        for (long n = (long)strtod(argv[2], NULL); n > 0; n--)
            fwrite(line, 1, kit_sample_line(&s, line), stdout);
        return fflush(stdout) ? 2 : 0;
    }
    if (argc > 2 && strcmp(argv[1], "run") == 0)
        return measure(argv + 2);
    if (argc == 3 && strcmp(argv[1], "ints") == 0) {
        for (uint64_t i = 0, n = (uint64_t)strtod(argv[2], NULL); i < n; i++)
            printf("%llu\n", 1 + (unsigned long long)(kit_mix(i) % 1000000000));
        return fflush(stdout) ? 2 : 0;
    }
    if (argc != 3)
        return 2;
    bool hash = strcmp(argv[1], "hash") == 0;
    kit_lines *r = kit_lines_new(argv + 2, 1, '\n');
    kit_block b = {0};
    static seen_key line[512];
    uint64_t lines = 0, sum = 0;
    int rc;
    while ((rc = kit_lines_next(r, &b)) > 0) {
        const char *p = b.data, *end = p + b.len;
        while (p < end) {
            size_t n = kit_cut(&p, end, '\n', line, 512);
            lines += n;
            for (size_t i = 0; hash && i < n; i++)
                sum += seen_hash_seeded(42, line[i].data, line[i].len);
        }
    }
    if (rc < 0) {
        fprintf(stderr, "uniq_base: %s\n", kit_lines_error(r));
        return 2;
    }
    printf("%llu lines, sum %llx\n", (unsigned long long)lines,
           (unsigned long long)sum);
    kit_block_free(&b);
    kit_lines_free(r);
    return 0;
}
