/* cdxj.c - a line of the archive's index: key, time, and JSON that says where it is. */
#include "report.h"

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

void cdxj_line(buf *line, const fetch *f, const char *file, uint64_t at, uint64_t length)
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
    snprintf(text, sizeof text, "%llu", (unsigned long long)length);
    json_field(line, "length", text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)at);
    json_field(line, "offset", text);
    json_field(line, "filename", file);
    memmove(line->p + brace, line->p + brace + 1, --line->len - brace); /* the first comma */
    buf_text(line, "}\n");
}
