/* file_lock.h - one writer at a time for a file that is replaced whole. */
#ifndef CLI_FILE_LOCK_H
#define CLI_FILE_LOCK_H

/* Locks the file that NAME is now and returns the descriptor that holds the lock, or -1
 * if there is no such file. Another writer is waited for as --wait says. Reports any
 * failure and ends the program. */
int file_lock(const char *name);

/* Locks the file of FD, which nobody else knows yet: a file that takes the place of a
 * locked one must be locked before it has the name. Returns a descriptor of its own
 * that holds the lock, or -1 if there are no locks here. */
int file_lock_new(int fd);

/* How long to wait for another writer: 0 not at all, below 0 for ever. */
void file_lock_wait(double seconds);
#endif
