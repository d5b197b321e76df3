/* sync.h - the two steps of writing a file that callers get wrong: a write that writes
 * only a part, and a name that is not on disk although the data are.
 *
 * Both report through errno alone and need nothing of the library, so kit/ and guard/
 * use this code too. */
#ifndef SN_SYNC_H
#define SN_SYNC_H
#include <stddef.h>

/* Writes all LEN bytes to FD; if FD does not block, waits until it can write. 0, or -1
 * with errno, and then some bytes may have been written. */
int sn_write_all(int fd, const void *p, size_t len);

/* Waits until the folder that holds PATH is on disk. Call it after a file was created,
 * renamed or removed there: fsync on the file saves its data, not its name. 0, or -1
 * with errno. A file system that cannot synchronise folders counts as success. */
int sn_sync_folder(const char *path);
#endif
