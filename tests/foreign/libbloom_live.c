/* libbloom_live.c - the libbloom of this machine fills a filter with the lines of
 * standard input and saves it, or counts those that a saved one has:
 *
 *     libbloom_live                      prints the major version
 *     libbloom_live ENTRIES ERROR FILE   1.x writes its bit array, 2.x its file
 *     libbloom_live FILE                 2.x only */
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BITS_T
enum { MAJOR = 2 };
static int save(struct bloom *b, char *file)
{
    return bloom_save(b, file);
}
static int load(struct bloom *b, char *file)
{
    return bloom_load(b, file);
}
#else
enum { MAJOR = 1 };
static int save(struct bloom *b, char *file)
{
    FILE *f = fopen(file, "w");
    return !f || fwrite(b->bf, 1, (size_t)b->bytes, f) != (size_t)b->bytes || fclose(f);
}
static int load(struct bloom *b, char *file)
{
    (void)b, (void)file;
    return -1;
}
#endif

int main(int argc, char **argv)
{
    struct bloom b;
    char line[1000];
    int found = 0;
    if (argc == 1)
        return printf("%d\n", MAJOR) < 0;
    if (argc == 2 ? load(&b, argv[1]) : bloom_init(&b, atoi(argv[1]), atof(argv[2])))
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        int len = (int)strcspn(line, "\n");
        found +=
            (argc == 2 ? bloom_check(&b, line, len) : bloom_add(&b, line, len)) == 1;
    }
    if (argc == 2)
        printf("%d\n", found);
    else if (save(&b, argv[3]))
        return 2;
    bloom_free(&b);
    return 0;
}
