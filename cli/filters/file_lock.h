/* file_lock.h - one writer at a time for a file that is replaced whole. */
#ifndef CLI_FILE_LOCK_H
#define CLI_FILE_LOCK_H

#include <stdbool.h>

/* Locks the file that NAME is now and returns the descriptor that holds the lock. A
 * missing file is made, empty, if MAKE; otherwise -1 is returned for it. Another
 * writer is waited for as --wait says. Reports any failure and ends the program.
 *
 * A file that was made here and is still empty disappears if the program fails. */
int file_lock(const char *name, bool make);

/* How long to wait for another writer: 0 not at all, below 0 for ever. */
void file_lock_wait(double seconds);
#endif
