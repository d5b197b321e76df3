/* site.c - a web site for tests: every page known by formula, every request counted.
 *
 *   site [OPTION]... serve       prints its port and serves until it is killed
 *   site ask PORT PATH           fetches one path and prints the body
 *
 *   --pages N    pages, spread over the hosts (1000)
 *   --hosts H    127.0.0.1 to 127.0.0.H (1)
 *   --links L    links on a page (12)
 *   --size B     bytes of a page, about (2000)
 *   --spell      many spellings of each address, redirects, text that looks like links
 *   --odd        on page 0: traps, broken and slow answers, rules; see odd[]
 *   --wait MS    before each answer
 *   --robots X   what robots.txt is: a status, "moved" (five times, to /rules.txt,
 * which forbids /q), "maze" (moved for ever), "delay" (a crawl-delay of 0.1), "busy"
 *                (503 once, then as odd) or "inner" (moved to 127.0.0.1)
 *   --out URL    page 0 redirects there, page 1 links there: see who follows
 *   --port P     instead of a free one
 *
 * Page i is /p/I.html, or /q?id=I&s=S for every fourth, on host 1 + i mod H. It links
 * to 3i+1, 3i+2, 3i+3, so that all can be reached from page 0, and to others.
 * GET /_report says what was asked too little, too often or not at all wanted. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static unsigned pages = 1000, hosts = 1, links = 12, size = 2000, wait_ms, port;
static bool spell, odd_on;
static unsigned *asked, *asked_r;
static bool *want_r;
static unsigned unknown, outside, robots_asked, busy[256], busiest, answered, opened;
static char unknown_name[400];
static const char *rules = "", *out_url;

typedef struct text {
    char *p;
    size_t len, room;
} text;

static void add(text *t, const void *p, size_t n)
{
    if (!n)
        return;
    if (t->room - t->len < n) {
        t->room = 2 * (t->len + n) + 1024;
        t->p = realloc(t->p, t->room);
    }
    memcpy(t->p + t->len, p, n);
    t->len += n;
}

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *fmt, ...)
{
    char line[4096];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    add(t, line, (size_t)n);
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- the odd ones ---------------------------------------------------------------- */

enum { RETRIES = 2 }; /* the tests run with --retries 2 */

/* Path, how often it must be asked, and whether page 0 links to it plainly. */
static struct odd {
    const char *path;
    unsigned want;
    bool linked;
    unsigned asked;
} odd[] = {
    {"/private/1", 0, true, 0},      /* robots.txt: no */
    {"/private/open/1", 1, true, 0}, /* the longer rule says yes */
    {"/a.secret", 0, true, 0},       /* "*.secret$" */
    {"/a.secret.html", 1, true, 0},  /* not at the end */
    {"/never/comment", 0, false, 0}, /* in a comment */
    {"/never/script", 0, false, 0},  /* in a script */
    {"/never/textarea", 0, false, 0},
    {"/never/attribute", 0, false, 0}, /* inside another attribute */
    {"/never/nofollow", 0, false, 0},  /* rel=nofollow */
    {"/never/meta", 0, false, 0},      /* on /meta: meta robots nofollow */
    {"/never/xrobots", 0, false, 0},   /* on /xrobots: X-Robots-Tag */
    {"/never/404", 0, false, 0},       /* on /gone */
    {"/meta", 1, true, 0},
    {"/xrobots", 1, true, 0},
    {"/gone", 1, true, 0},            /* 404 */
    {"/error", 1 + RETRIES, true, 0}, /* 500 for ever */
    {"/once/broken", 2, true, 0},     /* half an answer, then a good one */
    {"/once/reset", 2, true, 0},      /* no answer, then a good one */
    {"/once/busy", 2, true, 0},       /* 503, Retry-After: 0 */
    {"/once/many", 2, true, 0},       /* 429 */
    {"/junk", 1 + RETRIES, true, 0},  /* not HTTP */
    {"/slow", 1, true, 0},            /* byte by byte */
    {"/chunked", 1, true, 0},
    {"/chunked/target", 1, false, 0}, /* its link crosses chunks */
    {"/close", 1, true, 0},           /* no length: ends with the connection */
    {"/close/target", 1, false, 0},
    {"/gzip", 1, true, 0},
    {"/gzip/target", 1, false, 0},
    {"/cutzip", 1 + RETRIES, true, 0}, /* packed, not to its end, the length right */
    {"/cutzip/target", 1, false, 0},
    {"/twolengths", 1 + RETRIES, true, 0}, /* Content-Length twice, not the same */
    {"/bomb", 1, true, 0},    /* 64 MB of nothing in 64 KB */
    {"/endless", 1, true, 0}, /* a body without end */
    {"/bin", 1, true, 0},     /* not a page */
    {"/never/bin", 0, false, 0},
    {"/loop/1", 1, true, 0}, /* redirects in a circle */
    {"/loop/2", 1, false, 0},
    {"/self", 1, true, 0},  /* redirects to itself */
    {"/trap/", 1, true, 0}, /* x/ below x/ below x/ ... */
    {"/trap/x/", 1, false, 0},
    {"/trap/x/x/", 1, false, 0},
    {"/trap/x/x/x/", 1, false, 0},
    {"/trap/x/x/x/x/", 0, false, 0},
    {"/base/", 1, true, 0}, /* <base href="/based/deep/"> */
    {"/based/t", 1, false, 0},
    {"/refresh", 1, true, 0},
    {"/refreshed", 1, false, 0},
    {"/refresh/field", 1, true, 0}, /* Refresh: as a field */
    {"/refresh/target", 1, false, 0},
    {"/latin/%E9", 1, true, 0},
    {"/empty", 1, true, 0}, /* 204 */
    {"/sm/1", 0, false, 0}, /* in the sitemap only */
    {"/sm/2&x", 0, false, 0},
    {"/sm/nested", 0, false, 0}, /* in one that an index names */
    {"/sm/late", 0, false, 0},   /* behind more bytes than a page may have */
};
enum { ODD = sizeof odd / sizeof *odd, CHAIN = 11 };
static unsigned chain_asked[64];

/* ---- pages ----------------------------------------------------------------------- */

static unsigned target(unsigned i, unsigned k)
{
    if (k < 3)
        return 3 * i + 1 + k;
    return (unsigned)(((uint64_t)i * 31 + (uint64_t)k * k * 97 + 7) % pages);
}

static bool by_redirect(unsigned i, unsigned k)
{
    return spell && k >= 3 && (i + k) % 11 == 10;
}

static void put_link(text *t, unsigned i, unsigned k)
{
    unsigned j = target(i, k), h = 1 + j % hosts;
    if (j >= pages)
        return;
    if (by_redirect(i, k)) {
        say(t, "<a href='http://127.0.0.%u:%u/r/%u'>r</a> ", h, port, j);
        return;
    }
    bool query = j % 4 == 3, same = h == 1 + i % hosts;
    char path[64];
    if (query)
        snprintf(path, sizeof path, "q?id=%u&amp;s=%u", j, j % 7);
    else
        snprintf(path, sizeof path, "p/%u.html", j);
    switch (spell ? (i + 5 * k) % 14 : 0) {
    case 1:
        say(t, "<A HREF='HTTP://127.0.0.%u:%u/%s#top'>x</A>\n", h, port, path);
        break;
    case 2:
        if (same)
            say(t, "<a href=/%s>x</a>\n", path);
        else
            say(t, "<a href=//127.0.0.%u:%u/%s>x</a>\n", h, port, path);
        break;
    case 3:
        say(t,
            "<a\nclass=\"a>b\" href = \" http://127.0.0.%u:%u/a/./b/../../%s \">x</a>",
            h, port, path);
        break;
    case 4:
        say(t, "<a href=\"http://2130706%u:%u/%s\">x</a>", 432 + h, port, path);
        break;
    case 5:
        say(t, "<a href='http:\\\\127.0.0.%u:%u\\%s'>x</a>", h, port, path);
        break;
    case 6:
        say(t,
            "<a title='<a href=/never/attribute>' "
            "href=\"http&#58;&#x2F;&sol;127.0.0.%u:%u"
            "/%s\">x</a>",
            h, port, path);
        break;
    case 7:
        if (query)
            say(t, "<a href=\"http://127.0.0.%u:%u/%%71?id=%u&s=%u\">x</a>", h, port, j,
                j % 7);
        else
            say(t, "<a href=\"http://127.0.0.%u:%u/%%70/%u%%2ehtml\">x</a>", h, port,
                j);
        break;
    case 8:
        say(t, "<a href=\"ht\ntp://0x7f.%u:%u/%s\">x</a>", h, port, path);
        break;
    case 9:
        say(t, "<a href=\"http://127.0.0.%u:0%u/%s\" href=/never/attribute>x</a>", h,
            port, path);
        break;
    case 10:
        if (same)
            say(t, "<a href=\"%s%s\">x</a>", i % 4 == 3 ? "" : "../", path);
        else
            say(t, "<a/href=http://127.0.0.%u:%u/%s>x</a>", h, port, path);
        break;
    default:
        say(t, "<a href=\"http://127.0.0.%u:%u/%s\">page %u</a>\n", h, port, path, j);
    }
}

static void put_odd_links(text *t)
{
    for (int n = 0; n < ODD; n++)
        if (odd[n].linked)
            say(t, "<a href=\"%s\">odd</a>\n", odd[n].path);
    say(t,
        "<!-- <a href=/never/comment> --><!--><script>'<a href=\"/never/script\">'"
        "<!-- <script> </script> <a href=/never/script> --></script>"
        "<textarea><a href=/never/textarea></textarea>"
        "<img alt='<a href=/never/attribute>'>"
        "<a rel='ugc nofollow' href=/never/nofollow>x</a>"
        "<a href='http://127.0.0.200:%u/outside'>x</a><a href='mailto:a@b'>x</a>"
        "<a href='javascript:void(0)'>x</a><a href=>x</a><a>x</a>"
        "<a href=/chain/0>x</a>",
        port);
}

static void put_page(text *t, unsigned i)
{
    say(t, "<!DOCTYPE html><html><head><title>Page %u%s</title></head><body>\n", i,
        spell ? " <a href=/never/script>" : "");
    if (i == 0 && odd_on)
        put_odd_links(t);
    for (unsigned k = 0; k < links; k++)
        put_link(t, i, k);
    static const char filler[] = "<p class=\"text\">It was the best of pages, it was "
                                 "the worst of pages; it was the "
                                 "age of links, it was the age of redirects.</p>\n";
    while (t->len + sizeof filler < size)
        add(t, filler, sizeof filler - 1);
    say(t, "</body></html>\n");
}

/* ---- answers --------------------------------------------------------------------- */

typedef struct conn {
    int fd;
    char in[8192];
    size_t in_len;
    text out;
    size_t sent, step; /* step: bytes a time for slow ones */
    uint64_t due;      /* nothing is sent before */
    bool close_after, endless, reset;
    unsigned host;
    bool counted, used;
    struct conn *next, *prev;
} conn;

static conn *all;
static int loop;

static void head(conn *c, int status, const char *type, const char *more, long length)
{
    say(&c->out, "HTTP/1.1 %d %s\r\nServer: site\r\n", status,
        status == 200 ? "OK" : "Status");
    if (type)
        say(&c->out, "Content-Type: %s\r\n", type);
    if (more)
        say(&c->out, "%s", more);
    if (!more || !strstr(more, "Connection"))
        say(&c->out, "Connection: keep-alive\r\n");
    if (length >= 0)
        say(&c->out, "Content-Length: %ld\r\n", length);
    say(&c->out, "\r\n");
}

static void page(conn *c, int status, const char *more, const char *body)
{
    head(c, status, "text/html; charset=utf-8", more, (long)strlen(body));
    add(&c->out, body, strlen(body));
}

static void packed(conn *c, const char *body, size_t len, size_t zeros, size_t less)
{
    z_stream z = {0};
    static uint8_t out[1 << 20], none[1 << 16];
    deflateInit2(&z, 9, Z_DEFLATED, 31, 9, 0);
    z.next_out = out;
    z.avail_out = sizeof out;
    z.next_in = (Bytef *)(uintptr_t)body;
    z.avail_in = (uInt)len;
    deflate(&z, Z_NO_FLUSH);
    for (size_t n = 0; n < zeros; n += sizeof none) {
        z.next_in = none;
        z.avail_in = sizeof none;
        deflate(&z, Z_NO_FLUSH);
    }
    deflate(&z, Z_FINISH);
    size_t n = sizeof out - z.avail_out - less;
    deflateEnd(&z);
    head(c, 200, "text/html", "Content-Encoding: gzip\r\n", (long)n);
    add(&c->out, out, n);
}

static void answer_odd(conn *c, struct odd *o)
{
    const char *p = o->path;
    bool first = o->asked == 1;
#define IS(s) (!strcmp(p, s))
    if (IS("/meta"))
        page(c, 200, NULL,
             "<meta NAME=Robots content='noarchive, NOFOLLOW'>"
             "<a href=/never/meta>x</a>");
    else if (IS("/xrobots"))
        page(c, 200, "X-Robots-Tag: otherbot: noindex\r\nX-Robots-Tag: nofollow\r\n",
             "<a href=/never/xrobots>x</a>");
    else if (IS("/gone"))
        page(c, 404, NULL, "<a href=/never/404>x</a>");
    else if (IS("/error"))
        page(c, 500, NULL, "oh");
    else if (IS("/once/broken") && first) {
        head(c, 200, "text/html", NULL, 1000);
        say(&c->out, "half of it");
        c->close_after = true;
    } else if (IS("/once/reset") && first)
        c->reset = c->close_after = true;
    else if (IS("/once/busy") && first)
        page(c, 503, "Retry-After: 0\r\n", "later");
    else if (IS("/once/many") && first)
        page(c, 429, NULL, "slower");
    else if (IS("/junk")) {
        say(&c->out, "220 mail.example ESMTP ready\r\n\r\n");
        c->close_after = true;
    } else if (IS("/slow")) {
        page(c, 200, NULL, "<p>at last");
        c->step = 8;
    } else if (IS("/chunked")) {
        head(c, 200, "text/html", "Transfer-Encoding: chunked\r\n", -1);
        const char *body = "<a href=\"/chunked/tar\nget\">x</a>";
        for (const char *s = body; *s; s++)
            say(&c->out, "1;x=y\r\n%c\r\n", *s);
        say(&c->out, "0\r\nTrailer: x\r\n\r\n");
    } else if (IS("/close")) {
        head(c, 200, "text/html", "Connection: close\r\n", -1);
        say(&c->out, "<a href=/close/target>x</a>");
        c->close_after = true;
    } else if (IS("/gzip"))
        packed(c, "<a href=/gzip/target>x</a>", 26, 0, 0);
    else if (IS("/cutzip"))
        packed(c, "<a href=/cutzip/target>x</a>", 28, 0, 8);
    else if (IS("/twolengths"))
        page(c, 200, "Content-Length: 3\r\n", "<p>fine");
    else if (IS("/bomb"))
        packed(c, "<p>", 3, 64 << 20, 0);
    else if (IS("/endless")) {
        head(c, 200, "text/html", "Connection: close\r\n", -1);
        c->endless = true;
    } else if (IS("/bin")) {
        head(c, 200, "application/octet-stream", NULL, 400000);
        for (int i = 0; i < 10000; i++)
            say(&c->out, "%-40s", "<a href=/never/bin>x</a>");
    } else if (IS("/loop/1"))
        page(c, 302, "Location: /loop/2\r\n", "");
    else if (IS("/loop/2"))
        page(c, 301, "Location: /loop/1\r\n", "");
    else if (IS("/self"))
        page(c, 307, "Location: #again\r\n", "");
    else if (!strncmp(p, "/trap/", 6))
        page(c, 200, NULL, "<a href=x/>x</a>");
    else if (IS("/base/"))
        page(c, 200, NULL,
             "<a href=../t>x</a><base href=/based/deep/><base href=/no/>");
    else if (IS("/refresh"))
        page(c, 200, NULL, "<meta http-equiv=refresh content=\"3; URL='/refreshed'\">");
    else if (IS("/refresh/field"))
        page(c, 200, "Refresh: 0;url=target\r\n", "soon");
    else if (IS("/empty"))
        head(c, 204, NULL, NULL, -1);
    else
        page(c, 200, NULL, "<p>fine");
#undef IS
}

static void put_robots(conn *c, const char *path)
{
    text t = {0};
    char more[200];
    int n = 0;
    robots_asked++;
    if (atoi(rules)) {
        page(c, atoi(rules), NULL, "User-agent: *\nDisallow: /");
        return;
    }
    if (!strcmp(rules, "inner")) {
        snprintf(more, sizeof more, "Location: http://127.0.0.1:%u/inner\r\n", port);
        page(c, 302, more, "");
        return;
    }
    if (!strcmp(rules, "busy") && robots_asked == 1) {
        page(c, 503, NULL, "");
        return;
    }
    if (!strcmp(rules, "moved") || !strcmp(rules, "maze")) {
        sscanf(path, "/robots%d.txt", &n);
        snprintf(more, sizeof more, "Location: /robots%d.txt\r\n", n + 1);
        if (n == 4 && !strcmp(rules, "moved"))
            snprintf(more, sizeof more, "Location: /rules.txt\r\n");
        page(c, 301, more, "User-agent: *\nDisallow: /");
        return;
    }
    if (!strcmp(rules, "delay"))
        say(&t, "User-agent: *\nCrawl-delay: 0.1\n");
    if (odd_on)
        say(&t,
            "# rules\nUser-agent: otherbot\nDisallow: /\n\nuser-agent: *\nDisallow: /p"
            "rivate/\nSitemap: http://127.0.0.1:%u/sitemap_index.xml\n\n"
            "User-Agent: *\nAllow: /private/open/\nDisallow: /*.secret$\nDisallow:\n",
            port);
    head(c, t.len ? 200 : 404, "text/plain", NULL, (long)t.len);
    add(&c->out, t.p, t.len);
    free(t.p);
}

static void put_report(conn *c, bool with_sitemaps)
{
    text t = {0};
    unsigned missing = 0, twice = 0, again = 0, most = 0, r_missing = 0, r_again = 0,
             r_no = 0;
    for (unsigned i = 0; i < pages; i++) {
        missing += asked[i] == 0;
        twice += asked[i] > 1;
        again += asked[i] > 1 ? asked[i] - 1 : 0;
        most = asked[i] > most ? asked[i] : most;
        r_missing += want_r[i] && asked_r[i] == 0;
        r_again += asked_r[i] > 1 ? asked_r[i] - 1 : 0;
        r_no += !want_r[i] && asked_r[i];
    }
    say(&t, "pages %u missing %u twice %u again %u most %u\n", pages, missing, twice,
        again, most);
    say(&t, "redirects missing %u again %u unwanted %u\n", r_missing, r_again, r_no);
    say(&t, "unknown %u outside %u%s\n", unknown, outside, unknown_name);
    say(&t, "robots %u connections %u busiest %u answered %u\n", robots_asked, opened,
        busiest, answered);
    for (int n = 0; odd_on && n < ODD; n++) {
        unsigned want = odd[n].want;
        if (!strncmp(odd[n].path, "/sm/", 4))
            want = with_sitemaps;
        if (odd[n].asked != want)
            say(&t, "odd %s asked %u want %u\n", odd[n].path, odd[n].asked, want);
    }
    for (int n = 0; odd_on && n < 64; n++)
        if (chain_asked[n] != (n < CHAIN))
            say(&t, "odd /chain/%d asked %u want %u\n", n, chain_asked[n], n < CHAIN);
    head(c, 200, "text/plain", NULL, (long)t.len);
    add(&c->out, t.p, t.len);
    free(t.p);
}

static bool put_sitemap(conn *c, const char *p)
{
    text t = {0};
    const char *more = NULL;
    if (!strcmp(p, "/sitemap_index.xml"))
        say(&t,
            "<?xml version='1.0'?><sitemapindex xmlns='x'><!-- <loc>/never</loc> -->"
            "<sitemap><loc>http://127.0.0.1:%u/sitemap1.xml</loc></sitemap>"
            "<sitemap><loc> http://127.0.0.1:%u/sitemap2.xml.gz </loc></sitemap>"
            "</sitemapindex>",
            port, port);
    else if (!strcmp(p, "/sitemap1.xml")) {
        say(&t,
            "<urlset><url><loc>http://127.0.0.1:%u/sm/1</loc></url><url><loc>"
            "<![CDATA[http://127.0.0.1:%u/sm/2&x]]></loc></url>",
            port, port);
        for (int i = 0; i < 3 << 10; i++)
            say(&t, "%1024s", "\n");
        say(&t, "<url><loc>http://127.0.0.1:%u/sm/late</loc></url></urlset>", port);
    } else if (!strcmp(p, "/sitemap2.xml.gz")) {
        text x = {0};
        say(&x, "<urlset><url><loc>http://127.0.0.1:%u/sm/nested</loc></url></urlset>",
            port);
        uint8_t out[4096];
        z_stream z = {.next_in = (Bytef *)x.p,
                      .avail_in = (uInt)x.len,
                      .next_out = out,
                      .avail_out = sizeof out};
        deflateInit2(&z, 9, Z_DEFLATED, 31, 9, 0);
        deflate(&z, Z_FINISH);
        add(&t, out, sizeof out - z.avail_out);
        deflateEnd(&z);
        free(x.p);
    } else
        return false;
    head(c, 200, t.p[0] == '<' ? "application/xml" : "application/gzip", more,
         (long)t.len);
    add(&c->out, t.p, t.len);
    free(t.p);
    return true;
}

static void answer_page(conn *c, unsigned i)
{
    text t = {0};
    asked[i]++;
    put_page(&t, i);
    head(c, 200, "text/html; charset=utf-8", NULL, (long)t.len);
    add(&c->out, t.p, t.len);
    free(t.p);
}

static void answer(conn *c, char *path, const char *host)
{
    unsigned n, s;
    char extra;
    if (!strncmp(path, "/_report", 8)) {
        put_report(c, strstr(path, "sitemaps") != NULL);
        return;
    }
    answered++;
    opened += !c->used;
    c->used = true;
    unsigned a;
    if (host && sscanf(host, "127.0.0.%u", &a) == 1) {
        outside += a > hosts;
        c->host = a & 255;
    }
    c->counted = true;
    if (++busy[c->host] > busiest)
        busiest = busy[c->host];
    if (wait_ms)
        c->due = now_ms() + wait_ms;
    if (!strncmp(path, "/robots", 7)) {
        put_robots(c, path);
        return;
    }
    if (!strcmp(path, "/rules.txt")) {
        page(c, 200, NULL, "User-agent: seen-crawl\nDisallow: /q\n");
        return;
    }
    if (out_url && !strcmp(path, "/p/0.html")) {
        char more[400];
        snprintf(more, sizeof more, "Location: %s\r\n", out_url);
        asked[0]++;
        page(c, 302, more, "");
        return;
    }
    if (out_url && !strcmp(path, "/p/1.html")) {
        char body[400];
        snprintf(body, sizeof body, "<a href=\"%s?linked\">x</a>", out_url);
        asked[1]++;
        page(c, 200, NULL, body);
        return;
    }
    bool page_path = sscanf(path, "/p/%u.htm%c", &n, &extra) == 2 && n % 4 != 3;
    bool query_path = sscanf(path, "/q?id=%u&s=%u%c", &n, &s, &extra) == 2 &&
                      n % 4 == 3 && s == n % 7;
    if (!strcmp(path, "/")) {
        char more[100];
        snprintf(more, sizeof more, "Location: /p/0.html\r\n");
        page(c, 302, more, "");
        return;
    }
    if ((page_path || query_path) && n < pages && c->host == 1 + n % hosts) {
        answer_page(c, n);
        return;
    }
    if (sscanf(path, "/r/%u%c", &n, &extra) == 1 && n < pages) {
        char more[200];
        asked_r[n]++;
        if (n % 4 == 3)
            snprintf(more, sizeof more, "Location: /q?id=%u&s=%u\r\n", n, n % 7);
        else
            snprintf(more, sizeof more, "Location: /x/../p/%u.html#r\r\n", n);
        page(c, 301 + (int)(n % 2), more, "moved");
        return;
    }
    if (odd_on && sscanf(path, "/chain/%u%c", &n, &extra) == 1 && n < 64) {
        char more[100];
        chain_asked[n]++;
        snprintf(more, sizeof more, "Location: /chain/%u\r\n", n + 1);
        page(c, 302, more, "");
        return;
    }
    for (int i = 0; odd_on && i < ODD; i++)
        if (!strcmp(path, odd[i].path)) {
            odd[i].asked++;
            answer_odd(c, &odd[i]);
            return;
        }
    if (odd_on && put_sitemap(c, path))
        return;
    unknown++;
    if (strlen(unknown_name) + strlen(path) + 2 < sizeof unknown_name)
        strcat(strcat(unknown_name, " "), path);
    page(c, 404, NULL, "unknown");
}

/* ---- connections ----------------------------------------------------------------- */

static void drop(conn *c)
{
    if (c->counted)
        busy[c->host]--;
    if (c->reset) {
        struct linger l = {1, 0};
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    }
    close(c->fd);
    if (c->prev)
        c->prev->next = c->next;
    else
        all = c->next;
    if (c->next)
        c->next->prev = c->prev;
    free(c->out.p);
    free(c);
}

/* Answers the next request that has come whole; false if there is none. */
static bool next_request(conn *c)
{
    char *end = memmem(c->in, c->in_len, "\r\n\r\n", 4);
    if (!end)
        return false;
    *end = 0;
    char path[4096] = "/", *host = strstr(c->in, "\r\nHost: "), name[64] = "";
    sscanf(c->in, "GET %4095s", path);
    if (host)
        sscanf(host, "\r\nHost: %63s", name);
    c->out.len = c->sent = c->step = 0;
    c->due = 0;
    answer(c, path, name);
    size_t used = (size_t)(end + 4 - c->in);
    memmove(c->in, c->in + used, c->in_len - used);
    c->in_len -= used;
    return true;
}

/* Sends what may be sent; false if the connection is gone. */
static bool push(conn *c)
{
    for (;;) {
        if (c->due && c->due > now_ms())
            return true;
        while (c->sent < c->out.len) {
            size_t n = c->out.len - c->sent;
            if (c->step && n > c->step)
                n = c->step;
            ssize_t k = send(c->fd, c->out.p + c->sent, n, MSG_NOSIGNAL);
            if (k < 0)
                return errno == EAGAIN;
            c->sent += (size_t)k;
            if (c->step) {
                c->due = now_ms() + 5;
                return true;
            }
        }
        if (c->endless) {
            if (c->sent > 1 << 20)
                c->out.len = c->sent = 0;
            for (int i = 0; i < 1000; i++)
                say(&c->out, "<p>and so on, and so on, and so on</p>\n");
            c->due = now_ms() + 1;
            return true;
        }
        if (c->counted) {
            busy[c->host]--;
            c->counted = false;
        }
        if (c->close_after)
            return false;
        if (!next_request(c))
            return true;
    }
}

static void on_ready(conn *c)
{
    for (;;) {
        ssize_t n = recv(c->fd, c->in + c->in_len, sizeof c->in - c->in_len, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN)) {
            drop(c);
            return;
        }
        if (n > 0)
            c->in_len += (size_t)n;
        if (!push(c)) {
            drop(c);
            return;
        }
        if (n < 0)
            return;
    }
}

static void serve(void)
{
    int one = 1, ls = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof a;
    setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(ls, (struct sockaddr *)&a, sizeof a) < 0 || listen(ls, 1024) < 0 ||
        getsockname(ls, (struct sockaddr *)&a, &len) < 0) {
        perror("site");
        exit(2);
    }
    port = ntohs(a.sin_port);
    asked = calloc(pages, sizeof *asked);
    asked_r = calloc(pages, sizeof *asked_r);
    want_r = calloc(pages, sizeof *want_r);
    for (unsigned i = 0; i < pages; i++)
        for (unsigned k = 0; k < links; k++)
            if (target(i, k) < pages && by_redirect(i, k))
                want_r[target(i, k)] = true;
    printf("%u\n", port);
    fflush(stdout);
    loop = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL}, got[256];
    epoll_ctl(loop, EPOLL_CTL_ADD, ls, &e);
    bool timed = wait_ms || odd_on;
    for (;;) {
        int n = epoll_wait(loop, got, 256, timed ? 2 : -1);
        for (int i = 0; i < n; i++) {
            conn *c = got[i].data.ptr;
            if (c) {
                on_ready(c);
                continue;
            }
            int fd;
            while ((fd = accept4(ls, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
                c = calloc(1, sizeof *c);
                c->fd = fd;
                c->next = all;
                if (all)
                    all->prev = c;
                all = c;
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                e = (struct epoll_event){.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                         .data.ptr = c};
                epoll_ctl(loop, EPOLL_CTL_ADD, fd, &e);
            }
        }
        if (timed)
            for (conn *c = all, *next; c; c = next) {
                next = c->next;
                if (c->due && c->due <= now_ms() && !push(c))
                    drop(c);
            }
    }
}

static int ask(const char *where, const char *path)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)atoi(where)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char b[65536];
    size_t len = 0;
    ssize_t n;
    if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0) {
        perror("site ask");
        return 2;
    }
    n = snprintf(b, sizeof b, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path);
    if (write(fd, b, (size_t)n) != n || shutdown(fd, SHUT_WR) < 0)
        return 2;
    while (len < sizeof b - 1 && (n = read(fd, b + len, sizeof b - 1 - len)) > 0)
        len += (size_t)n;
    b[len] = 0;
    char *body = strstr(b, "\r\n\r\n");
    fputs(body ? body + 4 : "", stdout);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        unsigned v = i + 1 < argc ? (unsigned)atoi(argv[i + 1]) : 0;
        if (!strcmp(argv[i], "ask") && i + 2 < argc)
            return ask(argv[i + 1], argv[i + 2]);
        else if (!strcmp(argv[i], "serve"))
            serve();
        else if (!strcmp(argv[i], "--spell"))
            spell = true;
        else if (!strcmp(argv[i], "--odd"))
            odd_on = true;
        else if (!strcmp(argv[i], "--pages"))
            pages = v, i++;
        else if (!strcmp(argv[i], "--hosts"))
            hosts = v, i++;
        else if (!strcmp(argv[i], "--links"))
            links = v, i++;
        else if (!strcmp(argv[i], "--size"))
            size = v, i++;
        else if (!strcmp(argv[i], "--wait"))
            wait_ms = v, i++;
        else if (!strcmp(argv[i], "--robots") && i + 1 < argc)
            rules = argv[++i];
        else if (!strcmp(argv[i], "--out") && i + 1 < argc)
            out_url = argv[++i];
        else if (!strcmp(argv[i], "--port"))
            port = v, i++;
        else
            break;
    }
    fputs("usage: site [OPTION]... serve | site ask PORT PATH\n", stderr);
    return 2;
}
