/* progress_file.c - the state of a run. */
#include "progress_file.h"
#include "dedup.h"
#include "durable.h"
#include "file_kind.h"
#include "messages.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the native file, see docs/format.md: where the sum of a filter's content is. */
enum { VERSION_AT = 8, COMPACT = 3, SUM_AT = 80, COMPACT_SUM_AT = 72, SUM_END = 88 };

static const char magic[] = "seen dedup 1\n";

struct progress_file {
    char *path, *log, *next;
    int fd;             /* of the log, locked */
    bytes text;         /* the log: valid lines */
    bytes pending;      /* lines of files that are finished */
    const char **known; /* the lines of the log as it was opened, sorted */
    size_t knowns;
    bool private;       /* the filter is for its owner only */
};

static char *with_suffix(const char *path, const char *suffix)
{
    char *s = kit_alloc(strlen(path) + strlen(suffix) + 1);
    return strcat(strcpy(s, path), suffix);
}

/* One line for F: size, time, and the name with every odd byte in hexadecimal. */
static void put_line(bytes *b, const input *f)
{
    char text[64];
    int n = snprintf(text, sizeof text, "file %" PRIu64 " %" PRId64 " ", f->size,
                     f->changed);
    bytes_put(b, text, (size_t)n);
    for (const unsigned char *s = (const unsigned char *)f->path; *s; s++) {
        n = *s > ' ' && *s != '%' ? sprintf(text, "%c", *s)
                                  : sprintf(text, "%%%02x", *s);
        bytes_put(b, text, (size_t)n);
    }
    bytes_put(b, "\n", 1);
}

/* "state HEX\n" for the filter file PATH. */
static bool state_line(const char *path, char line[32])
{
    unsigned char head[SUM_END];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n != SUM_END)
        return false;
    const unsigned char *sum =
        head + (head[VERSION_AT] == COMPACT ? COMPACT_SUM_AT : SUM_AT);
    char *p = line + sprintf(line, "state ");
    for (int i = 0; i < 8; i++)
        p += sprintf(p, "%02x", sum[i]);
    strcpy(p, "\n");
    return true;
}

/* The offset behind the last line of the log that equals LINE; 0 if none does. */
static size_t last_line(const bytes *b, const char *line)
{
    size_t n = strlen(line), found = 0;
    for (size_t at = 0; at + n <= b->len;) {
        if (memcmp(b->data + at, line, n) == 0)
            found = at + n;
        const char *end = memchr(b->data + at, '\n', b->len - at);
        if (!end)
            break;
        at = (size_t)(end - b->data) + 1;
    }
    return found;
}

static void read_log(progress_file *s)
{
    for (;;) {
        ssize_t n = read(s->fd, bytes_room(&s->text, 65536), 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            kit_die("%s: %s", s->log, strerror(errno));
        if (n == 0)
            return;
        s->text.len += (size_t)n;
    }
}

static void append(progress_file *s, const bytes *b)
{
    if (kit_write_synced(s->fd, b->data, b->len) < 0)
        kit_die("%s: %s", s->log, strerror(errno));
}

/* Lines end in a newline, which sorts before every other byte in them. */
static int by_line(const void *a, const void *b)
{
    const unsigned char *s = *(const unsigned char *const *)a,
                        *t = *(const unsigned char *const *)b;
    while (*s == *t && *s != '\n')
        s++, t++;
    return *s - *t;
}

/* Thousands of files are looked up in the log, so its lines are sorted once. */
static void sort_lines(progress_file *s)
{
    size_t room = 0;
    for (const char *p = s->text.data, *end = p + s->text.len; p < end;) {
        if (s->knowns == room) {
            room = room ? room * 2 : 1024;
            s->known = kit_grow(s->known, room, sizeof *s->known);
        }
        s->known[s->knowns++] = p;
        p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    }
    if (s->knowns)
        qsort(s->known, s->knowns, sizeof *s->known, by_line);
}

progress_file *progress_open(const char *path, const char *rules, bool private,
                             seen_filter **filter)
{
    progress_file *s = kit_alloc(sizeof *s);
    s->private = private;
    s->path = kit_copy(path);
    s->log = with_suffix(path, ".files");
    s->next = with_suffix(path, ".next");
    *filter = NULL;
    struct stat st;
    kit_must_be_file(path);
    kit_must_be_file(s->log);
    bool there = stat(path, &st) == 0;
    if (!there && errno != ENOENT)
        kit_die("%s: %s", path, strerror(errno));
    if (there && access(s->log, F_OK) < 0)
        kit_die("%s: not a state of 'seen dedup': %s is missing", path, s->log);
    s->fd = open(s->log, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (s->fd < 0)
        kit_die("%s: %s", s->log, strerror(errno));
    if (flock(s->fd, LOCK_EX | LOCK_NB) < 0)
        kit_die("%s: another run is using it", path);
    read_log(s);
    bytes head = {0};
    bytes_put(&head, magic, strlen(magic));
    bytes_put(&head, rules, strlen(rules));
    bytes_put(&head, "\n", 1);
    size_t keep = 0;
    if (there) {
        char line[32];
        if (s->text.len < head.len || memcmp(s->text.data, head.data, head.len)) {
            size_t skip = strlen(magic);
            bool list = s->text.len > skip && !memcmp(s->text.data, magic, skip);
            const char *was = s->text.data + skip;
            const char *end = list ? memchr(was, '\n', s->text.len - skip) : NULL;
            if (!end && s->text.len > 12 && !memcmp(s->text.data, magic, 11))
                kit_die("%s: made by another version of 'seen dedup': go on with that "
                        "version, or begin with a new state",
                        s->log);
            if (!end)
                kit_die("%s: not a list of 'seen dedup'", s->log);
            kit_die("%s: made with other rules: '%.*s', not '%s'", path,
                    (int)(end - was), was, rules);
        }
        if (!state_line(path, line))
            kit_die("%s: not a filter file of seen", path);
        keep = last_line(&s->text, line);
        if (!keep)
            kit_die("%s: %s does not know this filter: one of them was replaced", path,
                    s->log);
        if (seen_open(path, SEEN_LOAD, filter) < 0)
            kit_die("%s: %s", path, seen_reason());
    }
    /* The rest was written for a filter that never took its place. */
    s->text.len = keep;
    if (ftruncate(s->fd, (off_t)keep) < 0)
        kit_die("%s: %s", s->log, strerror(errno));
    if (!keep) {
        append(s, &head);
        bytes_put(&s->text, head.data, head.len);
        if (kit_sync_folder(s->log) < 0)
            kit_die("cannot synchronise the folder of %s: %s", s->log, strerror(errno));
    }
    free(head.data);
    unlink(s->next);
    sort_lines(s);
    return s;
}

void progress_close(progress_file *s)
{
    if (!s)
        return;
    close(s->fd);
    free(s->path);
    free(s->log);
    free(s->next);
    free(s->text.data);
    free(s->pending.data);
    free(s->known);
    free(s);
}

bool progress_has(const progress_file *s, const input *f)
{
    bytes line = {0};
    if (!f->size)
        return false;
    put_line(&line, f);
    const char *key = line.data;
    bool has = bsearch(&key, s->known, s->knowns, sizeof *s->known, by_line) != NULL;
    free(line.data);
    return has;
}

void progress_finished(progress_file *s, const input *f)
{
    if (strcmp(f->path, "-"))
        put_line(&s->pending, f);
}

/* The new filter gets the permissions of the old one, or of its owner only: the library
 * keeps those of a file that is there. */
static void prepare_next(const progress_file *s)
{
    struct stat st;
    bool there = stat(s->path, &st) == 0;
    mode_t mode = s->private ? 0600 : there ? st.st_mode & 0777 : 0666;
    if (!there && !s->private)
        return;
    int fd = open(s->next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fchmod(fd, mode) < 0)
        kit_die("%s: %s", s->next, strerror(errno));
    close(fd);
}

void progress_save(progress_file *s, const seen_filter *filter)
{
    char line[32];
    prepare_next(s);
    if (seen_save(filter, s->next) < 0)
        kit_die("%s", seen_reason());
    if (!state_line(s->next, line))
        kit_die("%s: cannot be read back", s->next);
    bytes_put(&s->pending, line, strlen(line));
    append(s, &s->pending);
    if (kit_rename(s->next, s->path) < 0)
        kit_die("%s: %s", s->path, strerror(errno));
    s->pending.len = 0;
}
