/* libbloom_live.c - libbloom 1.x fills a filter with the lines of standard input and
 * writes its bit array: libbloom_live ENTRIES ERROR > BITS */
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct bloom b;
    char line[1000];
    if (argc != 3 || bloom_init(&b, atoi(argv[1]), atof(argv[2])))
        return 2;
    while (fgets(line, sizeof line, stdin))
        bloom_add(&b, line, (int)strcspn(line, "\n"));
    fwrite(b.bf, 1, (size_t)b.bytes, stdout);
    bloom_free(&b);
    return 0;
}
