/* outputs.c - pages and links as lines, bodies as files. */
#include "outputs.h"
#include "archive/cdxj.h"
#include "archive/json_field.h"
#include "durable.h"
#include "page/page.h"
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that was begun after the last commit is not part of the crawl. */
static void set_aside(const char *path)
{
    char other[4096 + 16];
    snprintf(other, sizeof other, "%s.cut", path);
    if (kit_rename(path, other) == 0)
        kit_warn("%s is not part of the crawl; it is %s now", path, other);
}

static void open_warc(outputs *r, const uint64_t *size)
{
    const config *c = r->conf;
    output_file *g = &r->file[FILE_WARC];
    free(r->warc_name);
    r->warc_name = c->warc ? kit_copy(warc_path(c, r->warc_number)) : NULL;
    output_file_open(g, r->warc_name, size);
    if (c->warc)
        warc_begin(r->warc, g, g->name);
}

/* Begins the next file when this one is large enough, but never within a page. */
static void rotate_warc(outputs *r)
{
    output_file *g = &r->file[FILE_WARC];
    if (!r->conf->warc_size || g->size < r->conf->warc_size || !g->regular)
        return;
    output_file_flush(g);
    if (fdatasync(g->fd) < 0)
        kit_die("%s: %s", g->name, strerror(errno));
    close(g->fd);
    free(g->b.p);
    *g = (output_file){.fd = -1};
    r->warc_number++;
    open_warc(r, NULL);
}

void outputs_open(outputs *r, const config *c, const uint64_t *sizes)
{
    r->conf = c;
    output_file_open(&r->file[FILE_PAGES], c->out, sizes ? &sizes[FILE_PAGES] : NULL);
    output_file_open(&r->file[FILE_LINKS], c->links, sizes ? &sizes[FILE_LINKS] : NULL);
    if (c->warc) {
        r->warc_number = sizes ? sizes[WARC_NUMBER] : 0;
        set_aside(warc_path(c, r->warc_number + 1));
        r->warc = warc_new(c);
    }
    open_warc(r, sizes ? &sizes[FILE_WARC] : NULL);
    r->cdx_name = c->warc && strcmp(c->warc, "-") ? cdxj_path(c) : NULL;
    output_file_open(&r->file[FILE_CDX], r->cdx_name, sizes ? &sizes[FILE_CDX] : NULL);
    for (int i = 0; i < OUTPUT_FILES; i++) {
        r->file[i].held = c->redis && i != FILE_CDX;
        r->begin.at[i] = r->file[i].b.len;
    }
    if (c->bodies && mkdir(c->bodies, 0777) < 0 && errno != EEXIST)
        kit_die("%s: %s", c->bodies, strerror(errno));
    r->bodies = -1;
    if (c->bodies &&
        (r->bodies = open(c->bodies, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        kit_die("%s: %s", c->bodies, strerror(errno));
}

/* The file of a page's body: the hash of its address, in one of 256 folders. */
static void body_path(const outputs *r, const url *u, char *out, size_t room)
{
    uint64_t h = seen_hash_seeded(0, u->text, u->len);
    snprintf(out, room, "%s/%02x/%016" PRIx64, r->conf->bodies, (unsigned)(h >> 56), h);
}

static void write_body(const outputs *r, const fetch *f)
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

static const char *note_of(const job *j, int outcome)
{
    const fetch *f = &j->f;
    return outcome == OUT_OK && j->change ? change_name(j->change)
           : outcome != OUT_OK            ? outcome_name(outcome)
           : f->truncated                 ? "truncated"
           : f->noindex                   ? "noindex"
                                          : "";
}

/* A line of the index whose page is held; its text follows. If pages before it are
 * withdrawn, its record moves. */
typedef struct held_line {
    uint32_t page; /* its number */
    uint32_t len;
} held_line;

/* A page's records, and the line of the index that says where its answer is. */
static void archive_page(outputs *r, const job *j)
{
    static buf line;
    char digest[SHA1_TEXT];
    output_file *g = &r->file[FILE_WARC];
    rotate_warc(r);
    uint64_t at = g->size,
             length = warc_add(r->warc, g, &j->f, j->before.fetched, digest);
    if (r->file[FILE_CDX].fd < 0)
        return;
    const char *slash = strrchr(g->name, '/');
    line.len = 0;
    cdxj_line(&line, &j->f, slash ? slash + 1 : g->name, at, length, digest);
    if (!g->held) {
        output_file_add(&r->file[FILE_CDX], line.p, line.len);
        return;
    }
    held_line h = {(uint32_t)(r->ends.len / sizeof(page_end)), (uint32_t)line.len};
    buf_add(&r->lines, &h, sizeof h);
    buf_add(&r->lines, line.p, line.len);
}

void outputs_page(outputs *r, const job *j, const char *referrer, int outcome)
{
    static buf line;
    const fetch *f = &j->f;
    output_file *g = &r->file[FILE_PAGES];
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
        output_file_add(g, line.p, line.len);
    } else if (g->fd >= 0) {
        char n[120];
        output_file_add(g, f->u.text, f->u.len);
        snprintf(n, sizeof n, "\t%d\t%s\t%u\t%" PRIu64 "\t", f->status, f->type,
                 j->depth, f->size);
        output_file_text(g, n);
        output_file_text(g, referrer);
        output_file_text(g, "\t");
        output_file_text(g, note_of(j, outcome));
        output_file_text(g, "\t");
        output_file_text(g, f->why);
        output_file_text(g, "\n");
    }
    if (r->warc && keep)
        archive_page(r, j);
    if (body)
        write_body(r, f);
    if (g->held) {
        page_end end;
        for (int i = 0; i < OUTPUT_FILES; i++)
            end.at[i] = r->file[i].b.len;
        buf_add(&r->ends, &end, sizeof end);
    }
}

void outputs_link(outputs *r, const url *from, const url *to, unsigned kind)
{
    output_file *g = &r->file[FILE_LINKS];
    static const char *const names[] = {"a",         "area",  "next",    "canonical",
                                        "alternate", "frame", "refresh", "sitemap"};
    if (g->fd < 0)
        return;
    output_file_add(g, from->text, from->len);
    output_file_add(g, "\t", 1);
    output_file_add(g, to->text, to->len);
    output_file_add(g, "\t", 1);
    output_file_text(g, kind ? names[__builtin_ctz(kind)] : "redirect");
    output_file_add(g, "\n", 1);
}

void outputs_flush(outputs *r, uint64_t sizes[FRONTIER_OUTPUTS], bool sync)
{
    for (int i = 0; i < OUTPUT_FILES; i++) {
        if (r->file[i].fd >= 0)
            output_file_flush(&r->file[i]);
        if (sync && r->file[i].regular && fdatasync(r->file[i].fd) < 0)
            kit_die("%s: %s", r->file[i].name, strerror(errno));
        sizes[i] = r->file[i].size;
    }
    /* Bodies are many small files: their file system is asked to write all of them. */
    if (sync && r->bodies >= 0 && syncfs(r->bodies) < 0)
        kit_die("%s: %s", r->conf->bodies, strerror(errno));
    sizes[WARC_NUMBER] = r->warc_number;
}

uint32_t outputs_number(const outputs *r)
{
    return (uint32_t)(r->ends.len / sizeof(page_end)) - 1;
}

/* Rewrites file I from the first held page on, without the pages that are GONE. The
 * new end is written before the old one is cut off, so none of our pages is ever
 * missing. */
static void write_again(outputs *r, int i, const bool *gone)
{
    output_file *g = &r->file[i];
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
    output_file_flush(g);
    if (ftruncate(g->fd, (off_t)g->size) < 0)
        kit_die("%s: %s", g->name, strerror(errno));
}

/* Writes the lines of the index for held pages that stay. */
static void write_lines(outputs *r, const bool *gone)
{
    static buf line;
    output_file *g = &r->file[FILE_CDX];
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
            output_file_add(g, line.p, line.len - 1);
        i += sizeof h + h.len;
    }
    r->lines.len = 0;
    if (g->fd >= 0)
        output_file_flush(g);
}

void outputs_confirm(outputs *r, const uint32_t *refused, size_t n)
{
    bool *gone = kit_alloc(r->ends.len / sizeof(page_end) + 1);
    for (size_t k = 0; k < n; k++)
        gone[refused[k]] = true;
    for (int i = 0; i < OUTPUT_FILES; i++) {
        output_file *g = &r->file[i];
        if (n && g->b.len && g->regular)
            write_again(r, i, gone);
    }
    write_lines(r, gone);
    for (int i = 0; i < OUTPUT_FILES; i++)
        r->begin.at[i] = r->file[i].b.len = r->file[i].written = 0;
    r->ends.len = 0;
    free(gone);
}

void outputs_close(outputs *r)
{
    free(r->ends.p);
    free(r->lines.p);
    free(r->warc_name);
    if (r->bodies >= 0)
        close(r->bodies);
    for (int i = 0; i < OUTPUT_FILES; i++) {
        if (r->file[i].fd > 1)
            close(r->file[i].fd);
        free(r->file[i].b.p);
    }
    if (r->cdx_name)
        cdxj_sort(r->cdx_name);
    free(r->cdx_name);
    warc_free(r->warc);
}

static void flush_hook(void *r, uint64_t sizes[FRONTIER_OUTPUTS], bool sync)
{
    outputs_flush(r, sizes, sync);
}

static uint32_t number_hook(const void *r)
{
    return outputs_number(r);
}

static void confirm_hook(void *r, const uint32_t *refused, size_t n)
{
    outputs_confirm(r, refused, n);
}

output_hooks outputs_hooks(outputs *r)
{
    return (output_hooks){r, flush_hook, number_hook, confirm_hook};
}
