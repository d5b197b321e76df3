/* uniq_base.c - what bench/uniq measures against: the same lines, cut and hashed by
 * the same code, and nothing else.
 *
 *   uniq_base gen N        N lines on standard output, 30% of them repeats
 *   uniq_base split FILE   read and cut into lines
 *   uniq_base hash FILE    and hash each line
 */
#include "lines.h"
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "gen") == 0) {
        kit_sample s = {.state = 42, .repeats = 0.3};
        char line[128];
        for (long n = atol(argv[2]); n > 0; n--)
            fwrite(line, 1, kit_sample_line(&s, line), stdout);
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
    printf("%llu lines, sum %llx\n", (unsigned long long)lines, (unsigned long long)sum);
    kit_block_free(&b);
    kit_lines_free(r);
    return 0;
}
