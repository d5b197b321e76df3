/* no_files.c - what a module without a file system says to those who ask for one.
 *
 * Nothing that seen_wasm.c exports opens a file. The library still refers to these, for
 * filters that came from files and builders that outgrow their memory; here they say
 * that it cannot be done, and that is an ordinary failure of the call. */
#include "base/fail.h"
#include "base/map.h"
#include "base/replace.h"
#include "filter/exceptions.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int none(void)
{
    errno = ENOSYS;
    return -1;
}

/* ---- the system's ---------------------------------------------------------------- */

int open(const char *path, int flags, ...)
{
    return none();
}
int mkostemp(char *name, int flags)
{
    return none();
}
int unlink(const char *path)
{
    return none();
}
int close(int fd)
{
    return none();
}
ssize_t pread(int fd, void *to, size_t len, off_t at)
{
    return none();
}
ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
    return none();
}
int fstatvfs(int fd, struct statvfs *out)
{
    return none();
}
int stat(const char *path, struct stat *out)
{
    return none();
}
int fstat(int fd, struct stat *out)
{
    return none();
}
int futimens(int fd, const struct timespec times[2])
{
    return none();
}
int asprintf(char **out, const char *fmt, ...)
{
    *out = NULL;
    return -1;
}
char *getenv(const char *name)
{
    return NULL;
}
char *strerror(int e)
{
    return e == ENOSYS ? "there are no files here" : "the system refused";
}

/* ---- the library's: base/map.c and base/replace.c -------------------------------- */

static int refused(void)
{
    none();
    return sn_fail(SEEN_EIO, "there are no files here");
}
int sn_map(const char *path, enum sn_writing how, uint8_t **p, uint64_t *len,
           int *lock, uint64_t *modified)
{
    return refused();
}
uint64_t sn_modified(const struct stat *st)
{
    return 0;
}
void sn_unmap(uint8_t *p, uint64_t len, int lock)
{
}
int sn_cannot_open(const char *path)
{
    return refused();
}
int sn_replace_begin(sn_replace *r, const char *path, mode_t mode)
{
    return refused();
}
int sn_replace_write(sn_replace *r, const void *p, size_t len)
{
    return refused();
}
int sn_replace_rewind(sn_replace *r)
{
    return refused();
}
int sn_replace_commit(sn_replace *r)
{
    return refused();
}
void sn_replace_abort(sn_replace *r)
{
}

/* ---- and filter/exceptions.c: exceptions live in files beside filters, so here a filter
 * has none --------------------------------------------------------------------------- */

#define NONE(type, name, ...)                                                          \
    type name(__VA_ARGS__)                                                             \
    {                                                                                  \
        return 0;                                                                      \
    }
#define NOTHING(name, ...)                                                             \
    void name(__VA_ARGS__)                                                             \
    {                                                                                  \
    }
NONE(int, sn_exceptions_load, seen_filter *f, const char *path)
NONE(int, sn_exceptions_save, const seen_filter *f, const char *path, int fd,
     uint64_t content)
NONE(int, sn_exceptions_flush, seen_filter *f)
NONE(bool, sn_exceptions_changed, const seen_filter *f)
NONE(int, sn_exceptions_copy, seen_filter *to, const seen_filter *from)
NONE(bool, sn_exceptions_has, const seen_filter *f, const void *key, size_t len,
     uint64_t hash)
NOTHING(sn_exceptions_merged, seen_filter *f, const seen_filter *src)
NOTHING(sn_exceptions_free, seen_filter *f)
NOTHING(sn_exceptions_sift, const seen_filter *f, const seen_key *keys,
        const uint64_t *hashes, size_t n, bool *found)
NOTHING(sn_exceptions_added, seen_filter *f, const seen_key *keys, const uint64_t *hashes,
        size_t n, bool *dup)
