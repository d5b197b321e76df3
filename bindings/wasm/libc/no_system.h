/* no_system.h - calls of POSIX and Linux that wasi-libc does not declare; included
 * before the library. src/no_system.c has them: none can be done. */
#ifndef SN_WASM_NO_SYSTEM_H
#define SN_WASM_NO_SYSTEM_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sys/types.h>

#define O_TMPFILE 0
char *realpath(const char *path, char *to);
gid_t getegid(void);
int fchmod(int fd, mode_t mode);
int fchown(int fd, uid_t owner, gid_t group);
int mkostemp(char *name, int flags);
uid_t geteuid(void);
#endif
