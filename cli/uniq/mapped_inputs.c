/* mapped_inputs.c - the inputs of an exact run: read twice, then reached at any byte.
 *
 * Regular files are mapped where they are; pipes and compressed files are copied to
 * TMPDIR while they are read for the first time. Later readings see the bytes of the
 * first: a file that changes in between is an error, never a wrong answer. */
#include "mapped_inputs.h"
#include "output.h"
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void mapped_inputs_open(mapped_inputs *x, const uniq *u)
{
    x->n = u->nagainst + (u->nfiles ? u->nfiles : 1);
    x->file = kit_alloc(x->n * sizeof *x->file);
    x->path = kit_alloc(x->n * sizeof *x->path);
    for (size_t i = 0; i < x->n; i++) {
        mapped_input *s = x->file + i;
        s->list = i < u->nagainst;
        s->name = s->list     ? u->against_name[i]
                  : u->nfiles ? u->files[i - u->nagainst]
                              : "-";
        s->spool = -1;
        if (s->list && strcmp(s->name, "-")) {
            named_filter *f = named_open_if_filter(s->name);
            if (f)
                kit_die("%s: -x takes only lists in --against: a filter may be wrong",
                        s->name);
        }
        if (strcmp(s->name, "-") == 0) {
            /* A file as standard input can be opened again, if read from its start. */
            if (fstat(0, &s->before) == 0 && S_ISREG(s->before.st_mode) &&
                lseek(0, 0, SEEK_CUR) == 0 && access("/proc/self/fd/0", R_OK) == 0)
                s->name = "/proc/self/fd/0";
        }
        s->regular = stat(s->name, &s->before) == 0 && S_ISREG(s->before.st_mode);
        x->path[i] = (char *)s->name;
    }
}

static void spool(mapped_input *s, const char *p, size_t len)
{
    if (s->spool < 0) {
        s->spool = kit_temp_nameless();
        if (s->spool < 0)
            kit_die("cannot make a temporary file in TMPDIR: %s", strerror(errno));
        snprintf(s->spooled, sizeof s->spooled, "/proc/self/fd/%d", s->spool);
    }
    while (len) {
        ssize_t n = write(s->spool, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            kit_die("temporary copy of %s in TMPDIR: %s", s->name, strerror(errno));
        p += n;
        len -= (size_t)n;
    }
}

void mapped_inputs_take(mapped_inputs *x, const kit_block *b)
{
    mapped_input *s = x->file + b->file;
    if (!s->regular || b->packed)
        spool(s, b->data, b->len);
    s->len += b->len;
}

void mapped_inputs_map(mapped_inputs *x)
{
    uint64_t at = 0;
    x->most = kit_alloc(x->n * sizeof *x->most);
    for (size_t i = 0; i < x->n; i++) {
        mapped_input *s = x->file + i;
        s->start = at;
        at += x->most[i] = s->len;
        if (!s->len) { /* not copied, though it may be compressed */
            x->path[i] = "/dev/null";
            continue;
        }
        if (s->spool >= 0)
            x->path[i] = s->spooled;
        int fd = s->spool >= 0 ? s->spool : open(s->name, O_RDONLY | O_CLOEXEC);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
            kit_die("%s: %s", s->name, strerror(errno));
        if ((uint64_t)st.st_size < s->len)
            kit_die("%s: was truncated while it was read", s->name);
        s->map = mmap(NULL, s->len, PROT_READ, MAP_SHARED, fd, 0);
        if (s->map == MAP_FAILED)
            kit_die("%s: cannot map: %s", s->name, strerror(errno));
        madvise((void *)(uintptr_t)s->map, s->len, MADV_RANDOM);
        if (s->spool < 0)
            close(fd);
    }
    x->bytes = at;
    if (at >= (uint64_t)1 << 44)
        kit_die("inputs of more than 16 TB are too large for -x");
}

const char *mapped_inputs_at(const mapped_inputs *x, uint64_t offset,
                             const mapped_input **which)
{
    /* The last file that starts at or before OFFSET: not an empty one, because the next
     * file starts where an empty one does. */
    size_t lo = 0, hi = x->n;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (x->file[mid].start <= offset)
            lo = mid;
        else
            hi = mid;
    }
    *which = x->file + lo;
    return x->file[lo].map + (offset - x->file[lo].start);
}

void mapped_inputs_check(const mapped_inputs *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const mapped_input *s = x->file + i;
        struct stat now;
        if (s->spool >= 0 || !s->regular)
            continue;
        bool there = stat(s->name, &now) == 0;
        if (there && now.st_size > s->before.st_size)
            kit_die("%s: grew while it was read, which -x cannot use: give it a pipe, "
                    "cat %s | seen uniq -x",
                    s->name, s->name);
        if (!there || now.st_size != s->before.st_size ||
            now.st_mtim.tv_sec != s->before.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != s->before.st_mtim.tv_nsec)
            kit_die("%s: changed while it was read", s->name);
    }
}

void mapped_inputs_give_back(const mapped_inputs *x)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->file[i].map)
            madvise((void *)(uintptr_t)x->file[i].map, x->file[i].len, MADV_DONTNEED);
}

void mapped_inputs_close(mapped_inputs *x)
{
    for (size_t i = 0; i < x->n; i++) {
        if (x->file[i].map)
            munmap((void *)(uintptr_t)x->file[i].map, x->file[i].len);
        if (x->file[i].spool >= 0)
            close(x->file[i].spool);
    }
    free(x->path);
    free(x->most);
    free(x->file);
}
