/* durable.h - files that survive a power cut: data before names, names before success.
 *
 * What a program keeps for its next run is written with these, and nothing else; what
 * it prints goes through output.h. Both replace files with lib/base/replace.c. Each
 * call returns 0 when everything it promises is on disk, or -1 with errno. None of them
 * changes the umask, prints or exits. */
#ifndef KIT_DURABLE_H
#define KIT_DURABLE_H

#include <stddef.h>
#include <sys/types.h>

/* Replaces the file PATH by LEN bytes of DATA: at any moment, also after a crash, PATH
 * is the old file or the new one, and on failure it is the old one. A file that existed
 * keeps its permissions, and its owner where that is allowed; a new one gets MODE less
 * the umask. Follows symbolic links. (The folder may fail to synchronise after the
 * rename: then the new file is there, but -1 is returned.) */
int kit_replace_file(const char *path, const void *data, size_t len, mode_t mode);

/* Renames FROM, whose data are on disk already, to TO in the same folder, and waits
 * until the folder is on disk. */
int kit_rename(const char *from, const char *to);

/* Writes LEN bytes at FD's position and waits until they are on disk. */
int kit_write_synced(int fd, const void *data, size_t len);

/* Waits until the folder of PATH is on disk. Call it when PATH was created or linked:
 * fsync saves a file's data, not its name. */
int kit_sync_folder(const char *path);
#endif
