/* durable.c - for programs, what lib/base does for the library. */
#include "durable.h"
#include "base/replace.h"
#include "base/sync.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int kit_replace_file(const char *path, const void *data, size_t len, mode_t mode)
{
    sn_replace r;
    if (sn_replace_begin(&r, path, mode) < 0)
        return -1;
    if (sn_replace_write(&r, data, len) < 0) {
        int e = errno;
        sn_replace_abort(&r);
        errno = e;
        return -1;
    }
    return sn_replace_commit(&r) < 0 ? -1 : 0;
}

int kit_rename(const char *from, const char *to)
{
    return rename(from, to) < 0 ? -1 : sn_sync_folder(to);
}

int kit_write_synced(int fd, const void *data, size_t len)
{
    return sn_write_all(fd, data, len) < 0 || fsync(fd) < 0 ? -1 : 0;
}

int kit_sync_folder(const char *path)
{
    return sn_sync_folder(path);
}
