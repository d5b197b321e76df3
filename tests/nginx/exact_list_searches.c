/* exact_list_searches.c - the sorted list by itself, against a plain search. */
#include "exact_list.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/seen-list.XXXXXX";

static int put(const char *text, size_t len, exact_list *l, char *why)
{
    FILE *f = fopen(path, "w");
    if (!f || fwrite(text, 1, len, f) != len || fclose(f))
        exit(2);
    int fd = open(path, O_RDONLY), rc = exact_list_open(l, fd, path, why, 200);
    close(fd);
    return rc;
}

int main(void)
{
    exact_list l;
    char why[200];
    int fd = mkstemp(path);
    if (fd < 0)
        return 2;
    close(fd);

    ok(put("", 0, &l, why) == 0 && !exact_list_has(&l, "", 0) &&
           !exact_list_has(&l, "a", 1),
       "an empty list holds nothing, not even the empty key");
    exact_list_close(&l);
    ok(put("\na\nab\n", 6, &l, why) == 0 && exact_list_has(&l, "", 0) &&
           exact_list_has(&l, "a", 1) && exact_list_has(&l, "ab", 2),
       "an empty line is an empty key");
    ok(!exact_list_has(&l, "a\nab", 4) && !exact_list_has(&l, "b", 1) &&
           !exact_list_has(&l, "abc", 3),
       "neighbours, longer keys and two lines at once are not in it");
    exact_list_close(&l);
    ok(put("b\na\n", 4, &l, why) < 0 && strstr(why, "line 2"),
       "an unsorted list is refused");
    ok(put("a\nb", 3, &l, why) == 0 && exact_list_has(&l, "b", 1),
       "the last line needs no end");
    exact_list_close(&l);

    /* Numbers in decimal, sorted as bytes, with lengths from 1 to 5. */
    char *text = NULL;
    size_t len = 0;
    FILE *cmd = popen("seq 3 3 30000 | LC_ALL=C sort", "r");
    char line[64];
    while (cmd && fgets(line, sizeof line, cmd)) {
        text = realloc(text, len + strlen(line));
        memcpy(text + len, line, strlen(line));
        len += strlen(line);
    }
    if (cmd)
        pclose(cmd);
    ok(put(text, len, &l, why) == 0, "10000 numbers are sorted");
    int wrong = 0;
    for (int i = 0; i < 31000; i++) {
        int n = sprintf(line, "%d", i);
        wrong +=
            exact_list_has(&l, line, (size_t)n) != (i >= 3 && i <= 30000 && i % 3 == 0);
    }
    ok(wrong == 0, "each of 31000 numbers is answered rightly");
    exact_list_close(&l);
    fd = open("/", O_RDONLY);
    ok(exact_list_open(&l, fd, "/", why, sizeof why) < 0 && strstr(why, "regular"),
       "a folder is an error with its reason");
    close(fd);
    unlink(path);
    free(text);
    return done();
}
