/* cut_tail.h - cuts the end off a file, but never destroys much of it. */
#ifndef CRAWL_CUT_TAIL_H
#define CRAWL_CUT_TAIL_H

#include <stdint.h>

/* Cuts FD, the file PATH, to SIZE. A tail of more than a megabyte, which is more than
 * an interrupted write leaves, is first copied to PATH.cut.N, and a warning names it.
 * Dies on failure, with the file as it was. */
void cut_tail(int fd, const char *path, uint64_t size);

#endif
