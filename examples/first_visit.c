/* first_visit.c - prints lines that are new, and remembers them from run to run.
 *
 *     cc first_visit.c $(pkg-config --cflags --libs seen) -o first_visit
 *     ./first_visit visited.seen < urls.txt
 *
 * The filter grows with the number of lines; one new line in a thousand may be called
 * old. */
#include <errno.h>
#include <seen.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "visited.seen";
    seen_spec spec = {.keys = 1000000, .error = 0.001}; /* how many, how sure */
    seen_filter *f;
    char line[4096];
    int rc = seen_open(file, SEEN_LOAD, &f);
    if (rc == SEEN_EIO && errno == ENOENT) /* the first run */
        rc = seen_new(&spec, &f);
    if (rc < 0)
        return fprintf(stderr, "first_visit: %s: %s\n", file, seen_reason()), 2;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (seen_add_str(f, line) == SEEN_NEW)
            puts(line);
    }
    rc = seen_save(f, file);
    if (rc < 0)
        fprintf(stderr, "first_visit: %s: %s\n", file, seen_reason());
    seen_free(f);
    return rc < 0 ? 2 : 0;
}
