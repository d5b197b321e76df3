/* sync.h - the two steps of writing a file that callers get wrong: a write that takes
 * only part, and a name that is not on disk although the data are.
 *
 * Both report through errno alone and need nothing of the library, so kit/ and guard/
 * use this code too. */
#ifndef SN_SYNC_H
#define SN_SYNC_H
#include <stddef.h>

/* Writes all LEN bytes to FD, and waits where FD does not block. 0, or -1 with errno;
 * some bytes may be written then. */
int sn_write_all(int fd, const void *p, size_t len);

/* Waits until the folder that holds PATH is on disk. Call it after a file was created,
 * renamed or removed there: fsync on the file saves its data, not its name. 0, or -1
 * with errno. A file system that cannot synchronise folders counts as success. */
int sn_sync_folder(const char *path);
#endif
