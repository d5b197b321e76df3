/* map.h - a file as memory. */
#ifndef SN_MAP_H
#define SN_MAP_H
#include <stdint.h>
#include <sys/stat.h>

/* What this process does: it only reads, it is the only writer, or it writes along with
 * others that share. */
enum sn_writing { SN_READS, SN_WRITES_ALONE, SN_WRITES_TOO };

/* Maps the regular file PATH, shared, for reading or also for writing. An empty file
 * gives *P = NULL, *LEN = 0. SEEN_EIO with errno and a reason that names the file (a
 * folder is EISDIR); SEEN_EFORMAT for pipes, sockets and devices. SEEN_EBUSY if another
 * process writes and does not share; *LOCK is the descriptor that keeps other writers
 * out, or -1. *MODIFIED is sn_modified of the mapped file. */
int sn_map(const char *path, enum sn_writing how, uint8_t **p, uint64_t *len,
           int *lock, uint64_t *modified);
/* The time of the last change, in nanoseconds. */
uint64_t sn_modified(const struct stat *st);
void sn_unmap(uint8_t *p, uint64_t len, int lock);
/* Fails with "cannot open PATH: ..." from errno, which is kept; returns SEEN_EIO. */
int sn_cannot_open(const char *path);
#endif
