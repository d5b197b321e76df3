/* statvfs.h - no file system. */
#ifndef SN_WASM_STATVFS_H
#define SN_WASM_STATVFS_H
struct statvfs {
    unsigned long f_bavail, f_frsize;
};
int fstatvfs(int fd, struct statvfs *out);
#endif
