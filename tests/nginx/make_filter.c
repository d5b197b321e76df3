/* make_filter.c - for tests: lines of standard input to a filter file.
 *
 *     make_filter FILE [ERROR]    ERROR: 1e-6; 1: a single bit, which holds everything
 */
#include <seen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

int main(int argc, char **argv)
{
    seen_filter *f;
    char *line = NULL;
    size_t room = 0, keys = 0, keys_room = 0;
    uint64_t *hash = NULL;
    ssize_t n;
    while ((n = getline(&line, &room, stdin)) > 0) {
        if (keys == keys_room)
            hash = realloc(hash, (keys_room = 2 * keys_room + 64) * sizeof *hash);
        hash[keys++] = seen_hash_seeded(0, line, (size_t)n - (line[n - 1] == '\n'));
    }
    seen_spec spec = {.keys = keys, .error = argc > 2 ? atof(argv[2]) : 1e-6,
                      .hash = SEEN_HASH_XXH3};
    if (spec.error == 1)
        spec = (seen_spec){
            .kind = SEEN_CLASSIC, .bits = 1, .probes = 1, .hash = SEEN_HASH_XXH3};
    if (argc < 2 || seen_new(&spec, &f) < 0) {
        fprintf(stderr, "make_filter: %s\n", seen_reason());
        return 2;
    }
    seen_add_hashes(f, hash, keys, NULL, NULL);
    if (seen_save(f, argv[1]) < 0) {
        fprintf(stderr, "make_filter: %s\n", seen_reason());
        return 2;
    }
    seen_free(f);
    free(hash);
    free(line);
    return 0;
}
