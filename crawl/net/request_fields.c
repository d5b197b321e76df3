/* request_fields.c - sends each password to its own host, and checks header fields. */
#include "request_fields.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

void header_check(const char *s)
{
    static const char *const ours[] = {"host", "connection", "content-length",
                                       "transfer-encoding", "accept-encoding"};
    size_t n = strcspn(s, ":");
    if (!s[n] || !n || s[strcspn(s, "\r\n")] || strcspn(s, " \t") < n)
        kit_die("--header '%s': not of the form 'Name: value'", s);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strlen(ours[i]) == n && !strncasecmp(ours[i], s, n))
            kit_die("--header '%s': the crawler writes this field itself", s);
}

static void base64(buf *out, const char *s)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t n = strlen(s), i = 0; i < n; i += 3) {
        uint32_t w = (uint32_t)(uint8_t)s[i] << 16;
        if (i + 1 < n)
            w |= (uint32_t)(uint8_t)s[i + 1] << 8;
        if (i + 2 < n)
            w |= (uint8_t)s[i + 2];
        for (int k = 0; k < 4; k++)
            buf_byte(out, (uint8_t)(i + (size_t)k <= n ? digits[w >> (18 - 6 * k) & 63]
                                                       : '='));
    }
}

/* Stores one line as "host\0base64\0", ready to be sent. */
static void add_account(config *c, const char *where, size_t number, char *line)
{
    char *host = line + strspn(line, " \t"), *end = host + strcspn(host, " \t\r\n");
    if (!*host || *host == '#' || *host == '\r' || *host == '\n')
        return;
    char *user = end + strspn(end, " \t");
    user[strcspn(user, "\r\n")] = 0;
    if (!strchr(user, ':'))
        kit_die("%s: line %zu is not of the form HOST USER:PASSWORD", where, number);
    *end = 0;
    buf b = {0};
    buf_text(&b, host);
    buf_byte(&b, 0);
    base64(&b, user);
    buf_byte(&b, 0);
    c->accounts.p = kit_grow(c->accounts.p, c->accounts.n + 1, sizeof *c->accounts.p);
    c->accounts.p[c->accounts.n++] = b.p;
}

void auth_read(config *c, const char *file)
{
    const char *env = getenv("SEEN_CRAWL_AUTH");
    FILE *f = file ? fopen(file, "re") : NULL;
    char *line = NULL;
    size_t room = 0, number = 0;
    if (file && !f)
        kit_die("--auth %s: %s", file, strerror(errno));
    while (f && getline(&line, &room, f) >= 0)
        add_account(c, file, ++number, line);
    if (f)
        fclose(f);
    free(line);
    if (env && *env) {
        char *copy = kit_copy(env), *rest = copy;
        for (number = 1; (line = strsep(&rest, "\n")); number++)
            add_account(c, "SEEN_CRAWL_AUTH", number, line);
        free(copy);
    }
}

void request_fields(const config *c, const fetch *f, buf *out)
{
    const url *u = &f->u;
    char conditions[FETCH_CONDITIONS];
    for (size_t i = 0; i < c->headers.n; i++) {
        buf_text(out, c->headers.p[i]);
        buf_text(out, "\r\n");
    }
    /* The host as in the URL: its name, with the port if that is not the usual one. */
    const char *host = u->text + u->host;
    size_t len = u->path - u->host;
    for (size_t i = 0; i < c->accounts.n; i++) {
        const char *a = c->accounts.p[i];
        if (strlen(a) == len && !strncasecmp(a, host, len)) {
            buf_text(out, "Authorization: Basic ");
            buf_text(out, a + len + 1);
            buf_text(out, "\r\n");
            break;
        }
    }
    fetch_conditions(f, conditions);
    buf_text(out, conditions);
}
