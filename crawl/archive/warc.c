/* warc.c - WARC 1.1 records, one gzip member each, as archives keep the web.
 *
 * The request as it was sent and the answer as it came. Bodies are unpacked, so fields
 * that describe the transfer (Content-Encoding, Transfer-Encoding,
 * Content-Length) are renamed to X-Archive-Orig-... and the true Content-Length added.
 * The digests are those of the block and of the payload as they stand in the record. */
#include "warc.h"
#include "seen.h"

#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <zlib.h>

struct archive {
    const config *conf;
    z_stream z;
    buf head, block;
};

archive *warc_new(const config *c)
{
    archive *a = kit_alloc(sizeof *a);
    a->conf = c;
    if (deflateInit2(&a->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        kit_die("cannot start zlib");
    return a;
}

void warc_free(archive *a)
{
    if (!a)
        return;
    deflateEnd(&a->z);
    free(a->head.p);
    free(a->block.p);
    free(a);
}

static void deflate_all(archive *a, output_file *g, const void *p, size_t n, int flush)
{
    uint8_t out[32 << 10];
    a->z.next_in = (Bytef *)(uintptr_t)p;
    a->z.avail_in = (uInt)n;
    do {
        a->z.next_out = out;
        a->z.avail_out = sizeof out;
        deflate(&a->z, flush);
        output_file_add(g, out, sizeof out - a->z.avail_out);
    } while (a->z.avail_out == 0);
}

static void add_field(archive *a, const char *name, const char *value)
{
    buf_text(&a->head, name);
    buf_text(&a->head, ": ");
    buf_text(&a->head, value);
    buf_text(&a->head, "\r\n");
}

/* One record of a->head (without the length and the block's digest) and a->block. */
static void put_record(archive *a, output_file *g)
{
    char n[64], digest[SHA1_TEXT];
    sha1_text(a->block.p, a->block.len, digest);
    add_field(a, "WARC-Block-Digest", digest);
    snprintf(n, sizeof n, "Content-Length: %zu\r\n\r\n", a->block.len);
    buf_text(&a->head, n);
    deflateReset(&a->z);
    deflate_all(a, g, a->head.p, a->head.len, Z_NO_FLUSH);
    deflate_all(a, g, a->block.p, a->block.len, Z_NO_FLUSH);
    deflate_all(a, g, "\r\n\r\n", 4, Z_FINISH);
}

static void make_id(char out[64])
{
    uint8_t b[16];
    if (getrandom(b, sizeof b, 0) != sizeof b)
        kit_die("no random numbers");
    b[6] = (uint8_t)((b[6] & 15) | 0x40);
    b[8] = (uint8_t)((b[8] & 63) | 0x80);
    snprintf(out, 64,
             "<urn:uuid:%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x>",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
             b[12], b[13], b[14], b[15]);
}

static void begin_record(archive *a, const char *type, const char *id,
                         const char *content)
{
    char date[32], line[256];
    time_t now = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    a->head.len = a->block.len = 0;
    snprintf(line, sizeof line,
             "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: %s\r\nWARC-Date: %s\r\n"
             "Content-Type: %s\r\n",
             type, id, date, content);
    buf_text(&a->head, line);
}

void warc_begin(archive *a, output_file *g, const char *path)
{
    char id[64], text[512];
    make_id(id);
    const char *slash = strrchr(path, '/');
    begin_record(a, "warcinfo", id, "application/warc-fields");
    add_field(a, "WARC-Filename", slash ? slash + 1 : path);
    snprintf(text, sizeof text,
             "software: seen-crawl/%s\r\nformat: WARC File Format 1.1\r\n"
             "conformsTo: http://iipc.github.io/warc-specifications/specifications/"
             "warc-format/warc-1.1/\r\nrobots: %s\r\nhttp-header-user-agent: %s\r\n",
             seen_version(), a->conf->no_robots ? "ignore" : "obey",
             a->conf->user_agent);
    buf_text(&a->block, text);
    put_record(a, g);
}

static bool speaks_of_wire(const char *line, size_t n)
{
    static const char *const names[] = {
        "content-encoding:", "transfer-encoding:", "content-length:"};
    for (int i = 0; i < 3; i++)
        if (n > strlen(names[i]) && !strncasecmp(line, names[i], strlen(names[i])))
            return true;
    return false;
}

static void copy_head(archive *a, const fetch *f)
{
    char status[64];
    size_t i = 0;
    while (i < f->head.len) {
        const char *line = f->head.p + i, *end = memchr(line, '\n', f->head.len - i);
        size_t n = end ? (size_t)(end - line) + 1 : f->head.len - i;
        if (i == 0 && n > 6 && line[5] != '1') {
            /* HTTP/2 has no status line of this form; readers expect one. */
            snprintf(status, sizeof status, "HTTP/1.1 %d OK\r\n", f->status);
            buf_text(&a->block, status);
        } else if (n <= 2 && (line[0] == '\r' || line[0] == '\n')) {
            break;
        } else {
            if (f->decoded && speaks_of_wire(line, n))
                buf_text(&a->block, "X-Archive-Orig-");
            buf_add(&a->block, line, n);
        }
        i += n;
    }
    if (f->decoded) {
        snprintf(status, sizeof status, "Content-Length: %zu\r\n", f->body.len);
        buf_text(&a->block, status);
    }
    buf_text(&a->block, "\r\n");
}

/* The request as it was sent, without passwords and cookies. */
static void copy_request(archive *a, const fetch *f)
{
    for (size_t i = 0, n; i < f->sent.len; i += n) {
        const char *line = f->sent.p + i, *end = memchr(line, '\n', f->sent.len - i);
        n = end ? (size_t)(end - line) + 1 : f->sent.len - i;
        if (n > 14 && !strncasecmp(line, "authorization:", 14))
            buf_text(&a->block, "Authorization: removed\r\n");
        else if (n > 7 && !strncasecmp(line, "cookie:", 7))
            buf_text(&a->block, "Cookie: removed\r\n");
        else
            buf_add(&a->block, line, n);
    }
}

/* A page that the server says has not changed: what was archived before still holds. */
static void begin_revisit(archive *a, const char *id, const fetch *f, uint64_t before)
{
    char date[32];
    time_t t = (time_t)before;
    struct tm tm;
    begin_record(a, "revisit", id, "application/http;msgtype=response");
    add_field(a, "WARC-Profile",
              "http://netpreserve.org/warc/1.1/revisit/server-not-modified");
    add_field(a, "WARC-Refers-To-Target-URI", f->u.text);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
    if (t)
        add_field(a, "WARC-Refers-To-Date", date);
}

uint64_t warc_add(archive *a, output_file *g, const fetch *f, uint64_t before,
                  char digest[SHA1_TEXT])
{
    uint64_t start = g->size, length;
    char answer[64], request[64];
    make_id(answer);
    make_id(request);
    if (f->status == 304)
        begin_revisit(a, answer, f, before);
    else
        begin_record(a, "response", answer, "application/http;msgtype=response");
    add_field(a, "WARC-Target-URI", f->u.text);
    if (f->address[0])
        add_field(a, "WARC-IP-Address", f->address);
    if (f->truncated || f->dropped)
        add_field(a, "WARC-Truncated", "length");
    digest[0] = 0; /* a revisit has no payload */
    if (f->status != 304) {
        sha1_text(f->body.p, f->body.len, digest);
        add_field(a, "WARC-Payload-Digest", digest);
    }
    copy_head(a, f);
    buf_add(&a->block, f->body.p, f->body.len);
    put_record(a, g);
    length = g->size - start;
    if (!f->sent.len)
        return length;
    begin_record(a, "request", request, "application/http;msgtype=request");
    add_field(a, "WARC-Target-URI", f->u.text);
    add_field(a, "WARC-Concurrent-To", answer);
    copy_request(a, f);
    put_record(a, g);
    return length;
}

const char *warc_path(const config *c, uint64_t n)
{
    static char path[4096];
    const char *name = strrchr(c->warc, '/'),
               *dot = strstr(name ? name : c->warc, ".warc");
    if (!dot)
        dot = c->warc + strlen(c->warc);
    if (n)
        snprintf(path, sizeof path, "%.*s-%05llu%s", (int)(dot - c->warc), c->warc,
                 (unsigned long long)n, dot);
    else
        snprintf(path, sizeof path, "%s", c->warc);
    return path;
}
