/* cdxj.c - writes the lines of the archive's index, and sorts them at the end. A
 * line has the key of an answer, its time, and JSON that says where its record is. */
#include "cdxj.h"
#include "json_field.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The key of the CDX formats: "org,example)/path?query". */
static void add_surt(buf *b, const url *u)
{
    const char *name = u->text + u->host, *end = name + u->host_len;
    if (u->ip) {
        buf_add(b, name, u->host_len);
    } else {
        for (const char *dot = end; dot > name; end = dot) {
            do
                dot--;
            while (dot > name && *dot != '.');
            const char *label = *dot == '.' ? dot + 1 : dot;
            buf_add(b, label, (size_t)(end - label));
            if (dot > name)
                buf_byte(b, ',');
        }
        end = u->text + u->host + u->host_len;
    }
    buf_add(b, u->text + u->host + u->host_len, u->path - u->host - u->host_len);
    buf_byte(b, ')');
    buf_add(b, u->text + u->path, u->len - u->path);
}

void cdxj_line(buf *line, const fetch *f, const char *file, uint64_t at,
               uint64_t length, const char *digest)
{
    char text[64], date[32];
    time_t now = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, " %Y%m%d%H%M%S {", gmtime_r(&now, &tm));
    add_surt(line, &f->u);
    buf_text(line, date);
    size_t brace = line->len;
    json_field(line, "url", f->u.text);
    json_field(line, "mime", f->status == 304 ? "warc/revisit" : f->type);
    snprintf(text, sizeof text, "%d", f->status);
    json_field(line, "status", text);
    if (*digest)
        json_field(line, "digest", digest);
    snprintf(text, sizeof text, "%llu", (unsigned long long)length);
    json_field(line, "length", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)at);
    json_field(line, "offset", text);
    json_field(line, "filename", file);
    memmove(line->p + brace, line->p + brace + 1,
            --line->len - brace); /* the first comma */
    buf_text(line, "}\n");
}

void cdxj_move(buf *line, uint64_t less)
{
    static const char name[] =
        ",\"offset\":\""; /* quotes inside of fields are escaped */
    char *at = memmem(line->p, line->len, name, sizeof name - 1), number[32];
    if (!at || !less)
        return;
    at += sizeof name - 1;
    char *end;
    unsigned long long place = strtoull(at, &end, 10);
    snprintf(number, sizeof number, "%llu", place - less);
    size_t n = strlen(number); /* not longer than it was */
    memcpy(at, number, n);
    memmove(at + n, end, line->len - (size_t)(end - line->p));
    line->len -= (size_t)(end - at) - n;
}

typedef struct span {
    const char *p;
    size_t len;
} span;

static int compare_lines(const void *a, const void *b)
{
    const span *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(x->p, y->p, n);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void write_sorted(const char *path, const char *text, size_t len)
{
    size_t count = 0, room = 0;
    span *lines = NULL;
    bool sorted = true;
    for (const char *p = text, *end = text + len, *next; p < end; p = next) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        next = nl ? nl + 1 : end;
        if (count == room) {
            room = room ? 2 * room : 1024;
            lines = kit_grow(lines, room, sizeof *lines);
        }
        lines[count++] = (span){p, (size_t)(next - p)};
        if (count > 1 && compare_lines(&lines[count - 2], &lines[count - 1]) > 0)
            sorted = false;
    }
    if (!sorted) {
        qsort(lines, count, sizeof *lines, compare_lines);
        kit_output *o = kit_output_open(path);
        if (!o)
            kit_die("%s: %s", path, strerror(errno));
        for (size_t i = 0; i < count; i++)
            if (kit_output_write(o, lines[i].p, lines[i].len) < 0)
                kit_output_fail(o);
        if (kit_output_commit(o) < 0)
            kit_output_fail(o);
        kit_output_close(o);
    }
    free(lines);
}

void cdxj_sort(const char *path)
{
    enum { MOST = 2000000000 };
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        kit_die("%s: %s", path, strerror(errno));
    if (st.st_size > MOST) {
        kit_warn("%s is too large to be sorted here: LC_ALL=C sort -o %s %s", path,
                 path, path);
    } else if (st.st_size > 0) {
        size_t n = (size_t)st.st_size;
        char *text = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
        if (text == MAP_FAILED)
            kit_die("%s: %s", path, strerror(errno));
        write_sorted(path, text, n);
        munmap(text, n);
    }
    close(fd);
}

char *cdxj_path(const config *c)
{
    char *path = kit_alloc(strlen(c->warc) + 8);
    const char *name = strrchr(c->warc, '/'),
               *dot = strstr(name ? name : c->warc, ".warc");
    sprintf(path, "%.*s.cdxj", dot ? (int)(dot - c->warc) : (int)strlen(c->warc),
            c->warc);
    return path;
}
