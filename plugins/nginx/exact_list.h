/* exact_list.h - a sorted text file as an exact set of lines, asked after "maybe".
 *
 * It is mapped, not read: a lookup touches the pages of one binary search. The lines
 * must be in byte order (LC_ALL=C sort -u). Opening checks this once, because an
 * unsorted list would silently miss keys. */
#ifndef EXACT_LIST_H
#define EXACT_LIST_H
#include <stdbool.h>
#include <stddef.h>

typedef struct exact_list {
    const char *text; /* NULL: an empty file */
    size_t len;
} exact_list;

/* Maps the file behind FD, which the caller still owns; messages call it PATH. 0, or -1
 * with a message in WHY. */
int exact_list_open(exact_list *l, int fd, const char *path, char *why, size_t why_len);
void exact_list_close(exact_list *l);

/* True if KEY is a line of the list. A key with a newline is in no list. */
bool exact_list_has(const exact_list *l, const void *key, size_t len);
#endif
