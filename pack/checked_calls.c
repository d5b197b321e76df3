/* checked_calls.c - names that glibc's checked calls have, for a static binary with
 * another libc.
 *
 * Debian's archives of the compression libraries were compiled with glibc's headers,
 * where -D_FORTIFY_SOURCE turns printing into these calls, and large files into names
 * with 64, which musl 1.2.4 and later lack. Nothing else in them is glibc's own. A size
 * that is smaller than the bound is kept, where glibc would abort. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

int __vsnprintf_chk(char *s, size_t n, int flag, size_t size, const char *fmt,
                    va_list ap);
int __snprintf_chk(char *s, size_t n, int flag, size_t size, const char *fmt, ...);
int __fprintf_chk(FILE *f, int flag, const char *fmt, ...);
#undef lseek64
#undef fopen64
off_t lseek64(int fd, off_t offset, int whence);
FILE *fopen64(const char *path, const char *mode);

int __vsnprintf_chk(char *s, size_t n, int flag, size_t size, const char *fmt,
                    va_list ap)
{
    return vsnprintf(s, n < size ? n : size, fmt, ap);
}

int __snprintf_chk(char *s, size_t n, int flag, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int got = vsnprintf(s, n < size ? n : size, fmt, ap);
    va_end(ap);
    return got;
}

int __fprintf_chk(FILE *f, int flag, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int got = vfprintf(f, fmt, ap);
    va_end(ap);
    return got;
}

/* Weak: older versions of musl have them. */
__attribute__((weak)) off_t lseek64(int fd, off_t offset, int whence)
{
    return lseek(fd, offset, whence);
}

__attribute__((weak)) FILE *fopen64(const char *path, const char *mode)
{
    return fopen(path, mode);
}
