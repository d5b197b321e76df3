/* report.c - pages and links as lines, bodies as files. */
#include "report.h"
#include "page/page.h"
#include "queue/cut_tail.h"
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static void open_growing(growing *g, const char *path, const uint64_t *size)
{
    struct stat st;
    g->fd = -1;
    g->name = path;
    if (!path)
        return;
    if (!strcmp(path, "-")) {
        g->fd = 1;
        g->name = "standard output";
        return;
    }
    g->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (size ? 0 : O_TRUNC), 0666);
    if (g->fd < 0 || fstat(g->fd, &st) < 0)
        kit_die("%s: %s", path, strerror(errno));
    g->regular = S_ISREG(st.st_mode);
    if (size && g->regular) {
        if ((uint64_t)st.st_size < *size)
            kit_die("%s is shorter than the log says: restore it, or begin another crawl", path);
        cut_tail(g->fd, path, *size);
        if (lseek(g->fd, 0, SEEK_END) < 0)
            kit_die("%s: %s", path, strerror(errno));
        g->size = *size;
    }
}

static void flush_growing(growing *g)
{
    while (g->written < g->b.len) {
        ssize_t n = write(g->fd, g->b.p + g->written, g->b.len - g->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE) {
            signal(SIGPIPE, SIG_DFL);
            raise(SIGPIPE);
        }
        if (n < 0)
            kit_die("%s: %s", g->name, strerror(errno));
        g->written += (size_t)n;
    }
    if (!g->held)
        g->b.len = g->written = 0;
}

void growing_add(growing *g, const void *p, size_t n)
{
    buf_add(&g->b, p, n);
    g->size += n;
    if (g->b.len > 1 << 20 && !g->held)
        flush_growing(g);
}

static void add_text(growing *g, const char *s)
{
    growing_add(g, s, strlen(s));
}

/* A file that was begun after the last commit is not part of the crawl. */
static void set_aside(const char *path)
{
    char other[4096 + 16];
    snprintf(other, sizeof other, "%s.cut", path);
    if (rename(path, other) == 0)
        kit_warn("%s is not part of the crawl; it is %s now", path, other);
}

static void open_warc(report *r, const uint64_t *size)
{
    const config *c = r->conf;
    growing *g = &r->file[FILE_WARC];
    free(r->warc_name);
    r->warc_name = c->warc ? kit_copy(warc_path(c, r->warc_number)) : NULL;
    open_growing(g, r->warc_name, size);
    if (c->warc)
        warc_begin(r->warc, g, g->name);
}

/* Goes on in the next file once this one is large enough; never within a page. */
static void rotate_warc(report *r)
{
    growing *g = &r->file[FILE_WARC];
    if (!r->conf->warc_size || g->size < r->conf->warc_size || !g->regular)
        return;
    flush_growing(g);
    if (fdatasync(g->fd) < 0)
        kit_die("%s: %s", g->name, strerror(errno));
    close(g->fd);
    free(g->b.p);
    *g = (growing){.fd = -1};
    r->warc_number++;
    open_warc(r, NULL);
}

const char *warc_path(const config *c, uint64_t n)
{
    static char path[4096];
    const char *name = strrchr(c->warc, '/'), *dot = strstr(name ? name : c->warc, ".warc");
    if (!dot)
        dot = c->warc + strlen(c->warc);
    if (n)
        snprintf(path, sizeof path, "%.*s-%05llu%s", (int)(dot - c->warc), c->warc,
                 (unsigned long long)n, dot);
    else
        snprintf(path, sizeof path, "%s", c->warc);
    return path;
}

static char *cdx_path(const config *c)
{
    char *path = kit_alloc(strlen(c->warc) + 8);
    const char *name = strrchr(c->warc, '/'), *dot = strstr(name ? name : c->warc, ".warc");
    sprintf(path, "%.*s.cdxj", dot ? (int)(dot - c->warc) : (int)strlen(c->warc), c->warc);
    return path;
}

void report_open(report *r, const config *c, const uint64_t *sizes)
{
    r->conf = c;
    open_growing(&r->file[FILE_PAGES], c->out, sizes ? &sizes[FILE_PAGES] : NULL);
    open_growing(&r->file[FILE_LINKS], c->links, sizes ? &sizes[FILE_LINKS] : NULL);
    if (c->warc) {
        r->warc_number = sizes ? sizes[WARC_NUMBER] : 0;
        set_aside(warc_path(c, r->warc_number + 1));
        r->warc = warc_new(c);
    }
    open_warc(r, sizes ? &sizes[FILE_WARC] : NULL);
    r->cdx_name = c->warc && strcmp(c->warc, "-") ? cdx_path(c) : NULL;
    open_growing(&r->file[FILE_CDX], r->cdx_name,
                 sizes ? &sizes[FILE_CDX] : NULL);
    for (int i = 0; i < REPORT_FILES; i++) {
        r->file[i].held = c->redis && i != FILE_CDX;
        r->begin.at[i] = r->file[i].b.len;
    }
    if (c->bodies && mkdir(c->bodies, 0777) < 0 && errno != EEXIST)
        kit_die("%s: %s", c->bodies, strerror(errno));
}

/* The file of a page's body: the hash of its address, in one of 256 folders. */
static void body_path(const report *r, const url *u, char *out, size_t room)
{
    uint64_t h = seen_hash_seeded(0, u->text, u->len);
    snprintf(out, room, "%s/%02x/%016" PRIx64, r->conf->bodies, (unsigned)(h >> 56), h);
}

static void write_body(const report *r, const fetch *f)
{
    char path[4096];
    body_path(r, &f->u, path, sizeof path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    if (fd < 0 || write(fd, f->body.p, f->body.len) != (ssize_t)f->body.len)
        kit_die("%s: %s", path, strerror(errno));
    close(fd);
}

void json_field(buf *b, const char *name, const char *s)
{
    char one[8];
    buf_text(b, ",\"");
    buf_text(b, name);
    buf_text(b, "\":\"");
    for (; *s; s++) {
        uint8_t c = (uint8_t)*s;
        if (c == '"' || c == '\\')
            snprintf(one, sizeof one, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            snprintf(one, sizeof one, "\\u%04x", c);
        else
            snprintf(one, sizeof one, "%c", c);
        buf_text(b, one);
    }
    buf_byte(b, '"');
}

static const char *note_of(const job *j, int outcome)
{
    const fetch *f = &j->f;
    return outcome == OUT_OK && j->change ? change_name(j->change)
           : outcome != OUT_OK ? outcome_name(outcome)
           : f->truncated    ? "truncated"
           : f->noindex      ? "noindex"
                             : "";
}

/* A line of the index whose page is held: when pages before it are withdrawn, its record
 * moves. Its text follows. */
typedef struct held_line {
    uint32_t page; /* its number */
    uint32_t len;
} held_line;

/* A page's records, and the line of the index that says where its answer is. */
static void archive_page(report *r, const job *j)
{
    static buf line;
    char digest[SHA1_TEXT];
    growing *g = &r->file[FILE_WARC];
    rotate_warc(r);
    uint64_t at = g->size, length = warc_add(r->warc, g, j, digest);
    if (r->file[FILE_CDX].fd < 0)
        return;
    const char *slash = strrchr(g->name, '/');
    line.len = 0;
    cdxj_line(&line, &j->f, slash ? slash + 1 : g->name, at, length, digest);
    if (!g->held) {
        growing_add(&r->file[FILE_CDX], line.p, line.len);
        return;
    }
    held_line h = {(uint32_t)(r->ends.len / sizeof(page_end)), (uint32_t)line.len};
    buf_add(&r->lines, &h, sizeof h);
    buf_add(&r->lines, line.p, line.len);
}

void report_page(report *r, const job *j, const char *referrer, int outcome)
{
    static buf line;
    const fetch *f = &j->f;
    growing *g = &r->file[FILE_PAGES];
    bool keep = outcome == OUT_OK && f->status > 0 && !f->noindex;
    bool body = r->conf->bodies && keep && f->status == 200 && !f->dropped;
    if (g->fd >= 0 && r->conf->json_lines) {
        char n[160];
        snprintf(n, sizeof n, "{\"status\":%d,\"depth\":%u,\"size\":%" PRIu64,
                 f->status, j->depth, f->size);
        line.len = 0;
        buf_text(&line, n);
        json_field(&line, "url", f->u.text);
        json_field(&line, "type", f->type);
        json_field(&line, "referrer", referrer);
        json_field(&line, "outcome", outcome_name(outcome));
        if (f->why[0])
            json_field(&line, "reason", f->why);
        if (j->change)
            json_field(&line, "change", change_name(j->change));
        if (f->address[0])
            json_field(&line, "address", f->address);
        if (f->location && f->status >= 300 && f->status < 400)
            json_field(&line, "location", f->location);
        if (f->truncated)
            buf_text(&line, ",\"truncated\":true");
        if (f->noindex)
            buf_text(&line, ",\"noindex\":true");
        if (body) {
            char path[4096];
            body_path(r, &f->u, path, sizeof path);
            json_field(&line, "body", path + strlen(r->conf->bodies) + 1);
        }
        buf_text(&line, "}\n");
        growing_add(g, line.p, line.len);
    } else if (g->fd >= 0) {
        char n[120];
        growing_add(g, f->u.text, f->u.len);
        snprintf(n, sizeof n, "\t%d\t%s\t%u\t%" PRIu64 "\t", f->status, f->type,
                 j->depth, f->size);
        add_text(g, n);
        add_text(g, referrer);
        add_text(g, "\t");
        add_text(g, note_of(j, outcome));
        add_text(g, "\t");
        add_text(g, f->why);
        add_text(g, "\n");
    }
    if (r->warc && keep)
        archive_page(r, j);
    if (body)
        write_body(r, f);
    if (g->held) {
        page_end end;
        for (int i = 0; i < REPORT_FILES; i++)
            end.at[i] = r->file[i].b.len;
        buf_add(&r->ends, &end, sizeof end);
    }
}

void report_link(report *r, const url *from, const url *to, unsigned kind)
{
    growing *g = &r->file[FILE_LINKS];
    static const char *const names[] = {"a",         "area",  "next",    "canonical",
                                        "alternate", "frame", "refresh", "sitemap"};
    if (g->fd < 0)
        return;
    growing_add(g, from->text, from->len);
    growing_add(g, "\t", 1);
    growing_add(g, to->text, to->len);
    growing_add(g, "\t", 1);
    add_text(g, kind ? names[__builtin_ctz(kind)] : "redirect");
    growing_add(g, "\n", 1);
}

void report_flush(report *r, uint64_t sizes[FRONTIER_OUTPUTS], bool sync)
{
    for (int i = 0; i < REPORT_FILES; i++) {
        if (r->file[i].fd >= 0)
            flush_growing(&r->file[i]);
        if (sync && r->file[i].regular && fdatasync(r->file[i].fd) < 0)
            kit_die("%s: %s", r->file[i].name, strerror(errno));
        sizes[i] = r->file[i].size;
    }
    sizes[WARC_NUMBER] = r->warc_number;
}

uint32_t report_number(const report *r)
{
    return (uint32_t)(r->ends.len / sizeof(page_end)) - 1;
}

/* Writes file I again from the first held page on, without those that are GONE. The new
 * end is written before the old one is cut off, so nothing of ours is ever missing. */
static void write_again(report *r, int i, const bool *gone)
{
    growing *g = &r->file[i];
    const page_end *end = (const page_end *)r->ends.p;
    size_t pages = r->ends.len / sizeof *end, len = r->begin.at[i], from = len;
    uint64_t start = g->size - g->b.len;
    for (size_t k = 0; k < pages; from = end[k++].at[i])
        if (!gone[k]) {
            memmove(g->b.p + len, g->b.p + from, end[k].at[i] - from);
            len += end[k].at[i] - from;
        }
    if (len == g->b.len)
        return;
    g->b.len = len;
    g->written = 0;
    g->size = start + len;
    if (lseek(g->fd, (off_t)start, SEEK_SET) < 0)
        kit_die("%s: %s", g->name, strerror(errno));
    flush_growing(g);
    if (ftruncate(g->fd, (off_t)g->size) < 0)
        kit_die("%s: %s", g->name, strerror(errno));
}

/* Writes the lines of the index for the pages that were held and stay. */
static void write_lines(report *r, const bool *gone)
{
    static buf line;
    growing *g = &r->file[FILE_CDX];
    const page_end *end = (const page_end *)r->ends.p;
    size_t next = 0, from = r->begin.at[FILE_WARC];
    uint64_t withdrawn = 0; /* bytes of the archive before page NEXT */
    for (size_t i = 0; i < r->lines.len;) {
        held_line h;
        memcpy(&h, r->lines.p + i, sizeof h);
        for (; next < h.page; from = end[next++].at[FILE_WARC])
            withdrawn += gone[next] ? end[next].at[FILE_WARC] - from : 0;
        line.len = 0;
        buf_add(&line, r->lines.p + i + sizeof h, h.len);
        buf_byte(&line, 0);
        cdxj_move(&line, withdrawn);
        if (!gone[h.page])
            growing_add(g, line.p, line.len - 1);
        i += sizeof h + h.len;
    }
    r->lines.len = 0;
    if (g->fd >= 0)
        flush_growing(g);
}

void report_confirm(report *r, const uint32_t *refused, size_t n)
{
    bool *gone = kit_alloc(r->ends.len / sizeof(page_end) + 1);
    for (size_t k = 0; k < n; k++)
        gone[refused[k]] = true;
    for (int i = 0; i < REPORT_FILES; i++) {
        growing *g = &r->file[i];
        if (n && g->b.len && g->regular)
            write_again(r, i, gone);
    }
    write_lines(r, gone);
    for (int i = 0; i < REPORT_FILES; i++)
        r->begin.at[i] = r->file[i].b.len = r->file[i].written = 0;
    r->ends.len = 0;
    free(gone);
}

void report_close(report *r)
{
    free(r->ends.p);
    free(r->lines.p);
    free(r->warc_name);
    for (int i = 0; i < REPORT_FILES; i++) {
        if (r->file[i].fd > 1)
            close(r->file[i].fd);
        free(r->file[i].b.p);
    }
    if (r->cdx_name)
        cdxj_sort(r->cdx_name);
    free(r->cdx_name);
    warc_free(r->warc);
}
