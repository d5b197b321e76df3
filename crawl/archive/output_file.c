/* output_file.c - opens, buffers and writes one output file. */
#include "output_file.h"
#include "durable.h"
#include "queue/cut_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

void output_file_open(output_file *f, const char *path, const uint64_t *size)
{
    struct stat st;
    f->fd = -1;
    f->name = path;
    if (!path)
        return;
    if (!strcmp(path, "-")) {
        f->fd = 1;
        f->name = "standard output";
        return;
    }
    bool new = access(path, F_OK) < 0;
    f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (size ? 0 : O_TRUNC), 0666);
    if (f->fd < 0 || fstat(f->fd, &st) < 0 || (new &&kit_sync_folder(path) < 0))
        kit_die("%s: %s", path, strerror(errno));
    f->regular = S_ISREG(st.st_mode);
    if (size && f->regular) {
        if ((uint64_t)st.st_size < *size)
            kit_die("%s is shorter than the log says: restore it, or begin another "
                    "crawl",
                    path);
        cut_tail(f->fd, path, *size);
        if (lseek(f->fd, 0, SEEK_END) < 0)
            kit_die("%s: %s", path, strerror(errno));
        f->size = *size;
    }
}

void output_file_flush(output_file *f)
{
    while (f->written < f->b.len) {
        ssize_t n = write(f->fd, f->b.p + f->written, f->b.len - f->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE) {
            signal(SIGPIPE, SIG_DFL);
            raise(SIGPIPE);
        }
        if (n < 0)
            kit_die("%s: %s", f->name, strerror(errno));
        f->written += (size_t)n;
    }
    if (!f->held)
        f->b.len = f->written = 0;
}

void output_file_add(output_file *f, const void *p, size_t n)
{
    buf_add(&f->b, p, n);
    f->size += n;
    if (f->b.len > 1 << 20 && !f->held)
        output_file_flush(f);
}

void output_file_text(output_file *f, const char *s)
{
    output_file_add(f, s, strlen(s));
}
