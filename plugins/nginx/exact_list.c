/* exact_list.c - maps a sorted text file and searches it by bisection over bytes: no
 * table of line starts is needed. */
#include "exact_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Byte order; a prefix comes first. */
static int compare(const char *a, size_t alen, const char *b, size_t blen)
{
    int c = memcmp(a, b, alen < blen ? alen : blen);
    return c ? c : alen < blen ? -1 : alen > blen;
}

/* The line that starts at AT, without its end. */
static size_t line_len(const exact_list *l, size_t at)
{
    const char *end = memchr(l->text + at, '\n', l->len - at);
    return end ? (size_t)(end - l->text) - at : l->len - at;
}

/* 0, or the number of the first line that is smaller than the one before it. */
static size_t unsorted_at(const exact_list *l)
{
    size_t before = 0, before_len = 0, number = 0;
    for (size_t at = 0; at < l->len; number++) {
        size_t len = line_len(l, at);
        if (number && compare(l->text + before, before_len, l->text + at, len) > 0)
            return number + 1;
        before = at;
        before_len = len;
        at += len + 1;
    }
    return 0;
}

int exact_list_open(exact_list *l, int fd, const char *path, char *why, size_t why_len)
{
    struct stat st;
    *l = (exact_list){NULL, 0};
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        snprintf(why, why_len, "cannot open %s: not a regular file", path);
        return -1;
    }
    if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            snprintf(why, why_len, "cannot map %s: %s", path, strerror(errno));
            return -1;
        }
        l->text = p;
        l->len = (size_t)st.st_size;
    }
    size_t bad = unsorted_at(l);
    if (bad) {
        snprintf(why, why_len,
                 "%s: line %zu is out of order, sort it with LC_ALL=C sort", path, bad);
        exact_list_close(l);
        return -1;
    }
    return 0;
}

void exact_list_close(exact_list *l)
{
    if (l->text)
        munmap((void *)l->text, l->len);
    l->text = NULL;
    l->len = 0;
}

bool exact_list_has(const exact_list *l, const void *key, size_t len)
{
    /* Lines that start before LOW are smaller than KEY, those at or after HIGH are
     * not; both are starts of lines or the end. */
    size_t low = 0, high = l->len;
    while (low < high) {
        size_t at = low + (high - low) / 2;
        while (at > low && l->text[at - 1] != '\n')
            at--;
        size_t n = line_len(l, at);
        if (compare(l->text + at, n, key, len) < 0) {
            low = at + n + 1;
            if (low > l->len)
                low = l->len;
        } else {
            high = at;
        }
    }
    return low < l->len && compare(l->text + low, line_len(l, low), key, len) == 0;
}
