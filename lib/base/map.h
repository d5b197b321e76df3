/* map.h - a file as memory. */
#ifndef SN_MAP_H
#define SN_MAP_H
#include <stdbool.h>
#include <stdint.h>

/* Maps the regular file PATH, shared, for reading or also for writing. An empty file
 * is *P = NULL, *LEN = 0. SEEN_EIO with errno and a reason that names the file; a
 * folder is EISDIR, another thing that is no file EINVAL. */
int sn_map(const char *path, bool write, uint8_t **p, uint64_t *len);
void sn_unmap(uint8_t *p, uint64_t len);
/* "cannot open PATH: ..." from errno, which stays; returns SEEN_EIO. */
int sn_cannot_open(const char *path);
#endif
