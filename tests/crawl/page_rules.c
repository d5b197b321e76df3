/* page_rules.c - what pages, robots.txt and sitemaps say is what the crawler reads. */
#include "page/charset.h"
#include "net/fetch.h"
#include "page/page.h"
#include "page/robots.h"
#include "page/sitemap.h"
#include "tap.h"


/* ---- pages: what links a piece of HTML holds ------------------------------------- */

static const struct {
    const char *html, *links; /* one after the other, each with a newline */
} pages[] = {
    {"<a href=\"x\">", "x\n"},
    {"<a href='x'>", "x\n"},
    {"<a href=x>", "x\n"},
    {"<A HREF=x>", "x\n"},
    {"<a href = x >", "x\n"},
    {"<a\n\thref\n=\n'x'>", "x\n"},
    {"<a/href=x>", "x\n"},
    {"<a/ /href='x'/>", "x\n"},
    {"<a href=x/>", "x/\n"},
    {"<a class=\"a>b\" href=x>", "x\n"},
    {"<a title='<a href=y>' href=x>", "x\n"},
    {"<a href=x href=y>", "x\n"},
    {"<a href>", "\n"},
    {"<a href=>", "\n"},
    {"<a href=\"\">", "\n"},
    {"<a =href=x>", ""},
    {"<a nohref=x>", ""},
    {"<a>", ""},
    {"<a href=x", ""},
    {"<a href='x>", ""},
    {"<a href=\"x'>y\">", "x'>y\n"},
    {"<ab href=x>", ""},
    {"< a href=x>", ""},
    {"<a<b href=x>", ""},
    {"</a href=x>", ""},
    {"</a title='>' ><a href=x>", "x\n"},
    {"</><a href=x>", "x\n"},
    {"</ <a href=y>><a href=x>", "x\n"},
    {"1 < 2 <a href=x>", "x\n"},
    {"<<a href=x>", "x\n"},
    {"<", ""},
    {"<a", ""},
    {"</", ""},
    {"<!", ""},
    {"<!--", ""},
    {"<!-- <a href=y> --><a href=x>", "x\n"},
    {"<!-- -- <a href=y> --!><a href=x>", "x\n"},
    {"<!--><a href=x>-->", "x\n"},
    {"<!---><a href=x>-->", "x\n"},
    {"<!-- > <a href=y>", ""},
    {"<!doctype html><a href=x>", "x\n"},
    {"<!a <a href=y><a href=x>", "x\n"},
    {"<?xml ?><a href=x>", "x\n"},
    {"<?php echo '<a href=y>' ?><a href=x>", "x\n"},
    {"<script><a href=y></script><a href=x>", "x\n"},
    {"<script>'</scripty>'<a href=y></script ><a href=x>", "x\n"},
    {"<script><!-- <script> </script> <a href=y> --></script><a href=x>", "x\n"},
    {"<script><!-- </script><a href=x>", "x\n"},
    {"<script><!--><script></script><a href=x>", "x\n"},
    {"<style><a href=y></STYLE><a href=x>", "x\n"},
    {"<title><a href=y></title><a href=x>", "x\n"},
    {"<textarea><a href=y></textarea><a href=x>", "x\n"},
    {"<xmp><a href=y></xmp><a href=x>", "x\n"},
    {"<noscript><a href=y></noscript><a href=x>", "x\n"},
    {"<noframes><a href=y></noframes><a href=x>", "x\n"},
    {"<iframe src=f><a href=y></iframe><a href=x>", "f\nx\n"},
    {"<plaintext></plaintext><a href=y>", ""},
    {"<frame src=f>", "f\n"},
    {"<area href=x>", "x\n"},
    {"<link rel=next href=n><link rel='prev' href=p>", "n\np\n"},
    {"<link rel=\"Canonical\" href=c>", "c\n"},
    {"<link rel=stylesheet href=s>", ""},
    {"<link rel='alternate stylesheet' href=s>", ""},
    {"<link rel=alternate href=s>", "s\n"},
    {"<meta http-equiv=refresh content='5; url=r'>", "r\n"},
    {"<meta http-equiv=Refresh content=\"0;URL='r s'\">", "r s\n"},
    {"<meta http-equiv=refresh content='5'>", ""},
    {"<a href='?a=1&amp;b=2'>", "?a=1&b=2\n"},
    {"<a href='?a=1&b=2'>", "?a=1&b=2\n"},
    {"<a href='?a&copy=1'>", "?a&copy=1\n"},
    {"<a href='?a&copy;=1'>", "?a\xc2\xa9=1\n"},
    {"<a href='?a&copy'>", "?a\xc2\xa9\n"},
    {"<a href='?a&copyb'>", "?a&copyb\n"},
    {"<a href='&lt&gt;'>", "<>\n"},
    {"<a href='&AMP;&amp'>", "&&\n"},
    {"<a href='&notit;&notin;'>", "&notit;\xe2\x88\x89\n"},
    {"<a href='&nGt;'>", "\xe2\x89\xab\xe2\x83\x92\n"},
    {"<a href='&CounterClockwiseContourIntegral;'>", "\xe2\x88\xb3\n"},
    {"<a href='&nosuchthing;&;& &#;&#x;&#xg'>", "&nosuchthing;&;& &#;&#x;&#xg\n"},
    {"<a href='&#47;&#x2F;&#X2f&#47x'>", "////x\n"},
    {"<a href='&#0;&#xD800;&#x110000;&#99999999999;'>",
     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\n"},
    {"<a href='&#128;&#x9f;'>", "\xe2\x82\xac\xc5\xb8\n"},
    {"<a href='&#x1F600;'>", "\xf0\x9f\x98\x80\n"},
    {"<a href='&sol;&colon;&quest;'>", "/:?\n"},
};

static void check_pages(void)
{
    page pg = {0};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        const char *h = pages[i].html;
        size_t n = strlen(h);
        char *heap = malloc(n ? n : 1), got[1000];
        size_t at = 0;
        memcpy(heap, h, n); /* so that the sanitizer sees a step too far */
        page_read(&pg, heap, n, 127, "seen-crawl");
        for (size_t k = 0; k < pg.count; k++)
            at += (size_t)snprintf(got + at, sizeof got - at, "%.*s\n",
                                   (int)pg.links[k].len, pg.text + pg.links[k].at);
        got[at] = 0;
        char shown[200];
        snprintf(shown, sizeof shown, "%s", h);
        for (char *s = shown; *s; s++)
            if (*s < ' ' || *s == '#')
                *s = '.';
        if (!ok(!strcmp(got, pages[i].links), "page %s", shown))
            note("got %s", got);
        free(heap);
    }
    const char *s =
        "<base href=b1><base href=b2><meta name=ROBOTS content='x,NoFollow'>"
        "<a rel='a NOFOLLOW' href=x><a rel=nofollows href=y>";
    page_read(&pg, s, strlen(s), 127, "seen-crawl");
    ok(pg.has_base && pg.base_len == 2 && !memcmp(pg.text + pg.base_at, "b1", 2),
       "the first base counts");
    ok(pg.nofollow && !pg.noindex, "meta robots is read word by word");
    ok(pg.links[0].nofollow && !pg.links[1].nofollow, "rel=nofollow is a word");
    s = "<meta name=seen-crawl content=none><meta name=otherbot content=nofollow>";
    page_read(&pg, s, strlen(s), 127, "seen-crawl");
    ok(pg.nofollow && pg.noindex, "meta may speak to us by name");
    buf many = {0};
    buf_text(&many, "<a");
    for (int i = 0; i < 100; i++)
        buf_text(&many, " data-x=y rel=x");
    buf_text(&many, " HREF=/late rel=nofollow href=/later><a hre=/a hreff=/b>");
    page_read(&pg, many.p, many.len, 127, "seen-crawl");
    ok(pg.count == 1 && pg.links[0].len == 5 && !pg.links[0].nofollow,
       "an address behind any number of attributes is found; the first of equals "
       "counts");
    free(many.p);
    s = "<meta name=otherbot content=none>";
    page_read(&pg, s, strlen(s), 127, "seen-crawl");
    ok(!pg.nofollow && !pg.noindex, "what is said to others is not for us");
    s = "<meta name=robots content='index, max-image-preview: none, max-snippet:-1'>";
    page_read(&pg, s, strlen(s), 127, "seen-crawl");
    ok(!pg.nofollow && !pg.noindex, "the value of another wish is no wish");
    page_free(&pg);
}

static const struct {
    const char *value;
    bool nofollow, noindex;
} tags[] = {
    {"nofollow", true, false},
    {" NoIndex , NOFOLLOW", true, true},
    {"none", true, true},
    {"all", false, false},
    {"otherbot: nofollow", false, false},
    {"otherbot: noindex, nofollow", false, false},
    {"Seen-Crawl : nofollow", true, false},
    {"seen-crawl: noarchive, nofollow", true, false},
    {"otherbot: noindex, seen-crawl: nofollow", true, false},
    {"noindex, otherbot: nofollow", false, true},
    {"unavailable_after: 25 Jun 2030 15:00:00 PST", false, false},
    {"unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", true, false},
    {"unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, nofollow", true, false},
    {"nofollow, unavailable_after: 25 Jun 2030 15:00:00 PST", true, false},
    {"noindex unavailable_after: 25 Jun 2030 15:00:00 PST", false, true},
    {"max-snippet:-1, max-image-preview:none", false, false},
    {"max-image-preview: none", false, false},
    {"max-video-preview: 0, nofollow", true, false},
    {"", false, false},
    {":", false, false},
    {",:,nofollow", true, false},
};

static void check_robots_tags(void)
{
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        bool nofollow = false, noindex = false;
        page_robots_tag(tags[i].value, strlen(tags[i].value), "seen-crawl", &nofollow,
                        &noindex);
        ok(nofollow == tags[i].nofollow && noindex == tags[i].noindex,
           "X-Robots-Tag: %s", tags[i].value);
    }
}

static const struct {
    const char *type, *page, *link, *is; /* link: in the page's UTF-8; NULL: none */
} encodings[] = {
    {NULL, "<a href=/\xc3\xa9>", NULL, "<a href=/\xc3\xa9>"},
    {"text/html; charset=utf-8", "\xe9", NULL, "\xe9"},
    {"text/html; charset=nonsense", "\xe9", NULL, "\xe9"},
    {"text/html; charset=iso-8859-1", "\xe9\x80", NULL, "\xc3\xa9\xe2\x82\xac"},
    {"text/html;CHARSET = \"Latin1\" ; x=y", "\xe9", NULL, "\xc3\xa9"},
    {"text/html; charset=windows-1251", "\xc0", NULL, "\xd0\x90"},
    {"text/html; charset=ISO_8859-15", "\xa4", NULL, "\xe2\x82\xac"},
    {"text/html; charset=shift_jis", "\x83\x65", NULL, "\xe3\x83\x86"},
    {"text/html; charset=gb2312", "\xd6\xd0", NULL, "\xe4\xb8\xad"},
    {"text/html; charset=euc-kr", "\xc7\xd1", NULL, "\xed\x95\x9c"},
    {"text/html; charset=big5", "\xa4\xa4", NULL, "\xe4\xb8\xad"},
    {"text/html; charset=koi8-r", "\xe1", NULL, "\xd0\x90"},
    {"text/html; charset=shift_jis", "a\x83", NULL, "a\xef\xbf\xbd"},
    {"text/html; charset=utf-8", "<meta charset=latin1>\xe9", NULL,
     "<meta charset=latin1>\xe9"},
    {"text/html", "<meta charset='Latin1'>\xe9", NULL,
     "<meta charset='Latin1'>\xc3\xa9"},
    {"text/html", "<meta http-equiv=content-type content='a; charset=cp1251'>\xc0",
     NULL, "<meta http-equiv=content-type content='a; charset=cp1251'>\xd0\x90"},
    {"text/html", "<meta charset=utf-16>\xc3\xa9", NULL,
     "<meta charset=utf-16>\xc3\xa9"},
    {"text/html; charset=latin1", "\xef\xbb\xbf\xc3\xa9", NULL, "\xef\xbb\xbf\xc3\xa9"},
    {"text/html", "\xfe\xff\x20\xac", NULL, "\xef\xbb\xbf\xe2\x82\xac"},
    {"text/html; charset=latin1", "", "/\xc3\xa9?a=\xc3\xa9#\xc3\xa9",
     "/\xc3\xa9?a=\xe9"},
    {"text/html; charset=latin1", "", "/\xc3\xa9", "/\xc3\xa9"},
    {"text/html; charset=latin1", "", "/?\xd0\x90&b", "/?%26%231040%3B&b"},
    {"text/html; charset=shift_jis", "", "?\xe3\x83\x86", "?\x83\x65"},
    {"text/html; charset=utf-16le", "", "/?\xc3\xa9", "/?\xc3\xa9"},
    {NULL, "", "/?\xc3\xa9", "/?\xc3\xa9"},
};

static void check_waits(void)
{
    static const struct {
        const char *said;
        double ours, wait;
    } cases[] = {{"", 2, 2},
                 {"Retry-After: 5", 2, 5},
                 {"Retry-After: 1", 2, 2},
                 {"Retry-After: 0", 0, 0},
                 {"retry-after: 1800", 2, 1800},
                 {"Retry-After: 90000", 2, 3600},
                 {"Retry-After: soon", 2, 2},
                 {"Retry-After: -5", 2, 2},
                 {"Retry-After: Fri, 31 Dec 2100 23:59:59 GMT", 2, 3600},
                 {"Retry-After: Fri, 31 Dec 1999 23:59:59 GMT", 2, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fetch f = {0};
        fetch_clear(&f);
        buf_text(&f.head, "HTTP/1.1 503 Busy\r\n");
        buf_text(&f.head, cases[i].said);
        buf_text(&f.head, "\r\n\r\n");
        fetch_read_head(&f);
        ok(fetch_wait(&f, cases[i].ours) == cases[i].wait,
           "%g seconds of ours and '%s'", cases[i].ours, cases[i].said);
        fetch_free(&f);
    }
}

static void check_encodings(void)
{
    buf out = {0};
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        const char *type = encodings[i].type, *is = encodings[i].is;
        const char *text = encodings[i].page;
        const char *name =
            charset_of(type, type ? strlen(type) : 0, text, strlen(text));
        bool changed;
        if (encodings[i].link) {
            text = encodings[i].link;
            changed = name && charset_link(name, text, strlen(text), &out);
        } else {
            changed = name && charset_to_utf8(name, text, strlen(text), &out);
        }
        ok(changed ? out.len == strlen(is) && !memcmp(out.p, is, out.len)
                   : !strcmp(text, is),
           "encoding %zu: %s", i, type ? type : "not said");
    }
    static const char wide[] = "\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0\xe9\0>\0";
    const char *name = charset_of(NULL, 0, wide, sizeof wide - 1);
    ok(name && charset_to_utf8(name, wide, sizeof wide - 1, &out) && out.len == 14 &&
           !memcmp(out.p + 3, "<a href=\xc3\xa9>", 11),
       "a page in UTF-16 is read");
    /* Long and full of errors: everything comes out, nothing beyond it is touched. */
    size_t n = 100000;
    char *long_page = malloc(n);
    memset(long_page, 0xff, n);
    ok(charset_to_utf8("CP932", long_page, n, &out) && out.len == 3 * n,
       "what makes no sense becomes U+FFFD");
    free(long_page);
    free(out.p);
}

/* ---- robots.txt ------------------------------------------------------------------ */

static const struct {
    const char *text, *path;
    bool allowed;
} rules[] = {
    {"", "/a", true},
    {"User-agent: *\nDisallow: /", "/a", false},
    {"User-agent: *\nDisallow: /", "/robots.txt", true},
    {"User-agent: *\nDisallow:", "/a", true},
    {"Disallow: /", "/a", true},
    {"user-AGENT:*\r\ndisALLOW:/a # why\r\n", "/ab", false},
    {"\xef\xbb\xbfUser-agent: *\rDisallow: /a", "/a", false},
    {"User-agent: otherbot\nDisallow: /", "/a", true},
    {"User-agent: *\nDisallow: /\n\nUser-agent: seen-crawl\nDisallow: /b", "/a", true},
    {"User-agent: *\nDisallow: /\n\nUser-agent: seen-crawl\nDisallow: /b", "/b", false},
    {"User-agent: SEEN-CRAWL/1.0\nDisallow: /a", "/a", false},
    {"User-agent: seen-crawler\nDisallow: /a", "/a", true},
    {"User-agent: seen\nDisallow: /a", "/a", true},
    {"User-agent: x\nUser-agent: seen-crawl\nDisallow: /a", "/a", false},
    {"User-agent: seen-crawl\n\nUser-agent: x\nDisallow: /a", "/a", false},
    {"User-agent: seen-crawl\nDisallow: /a\nUser-agent: x\nDisallow: /b", "/b", true},
    {"User-agent: seen-crawl\nDisallow: /a\n\nUser-agent: seen-crawl\nDisallow: /b",
     "/a", false},
    {"User-agent: seen-crawl\nDisallow: /a\n\nUser-agent: seen-crawl\nDisallow: /b",
     "/b", false},
    {"User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true},
    {"User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/c", false},
    {"User-agent: *\nDisallow: /a\nAllow: /a", "/a", true},
    {"User-agent: *\nAllow: /a\nDisallow: /a", "/a", true},
    {"User-agent: *\nDisallow: /*.gif$", "/x/y.gif", false},
    {"User-agent: *\nDisallow: /*.gif$", "/x/y.gif?z", true},
    {"User-agent: *\nDisallow: /*.gif", "/x/y.gif?z", false},
    {"User-agent: *\nDisallow: *.gif", "/y.gif", false},
    {"User-agent: *\nDisallow: /a*b*c", "/axxbxxc/", false},
    {"User-agent: *\nDisallow: /a*b*c", "/axxcxxb", true},
    {"User-agent: *\nDisallow: /a*c$", "/abcbc", false},
    {"User-agent: *\nDisallow: /$", "/", false},
    {"User-agent: *\nDisallow: /$", "/a", true},
    {"User-agent: *\nDisallow: /*", "/a", false},
    {"User-agent: *\nDisallow: /a$b", "/a$b", false},
    {"User-agent: *\nDisallow: /%7ea", "/~a", false},
    {"User-agent: *\nDisallow: /a%2fb", "/a%2Fb", false},
    {"User-agent: *\nDisallow: /a%2fb", "/a/b", true},
    {"User-agent: *\nDisallow: /\xc3\xa9", "/%C3%A9", false},
    {"User-agent: *\nDisallow: /q?a=", "/q?a=1", false},
    {"User-agent: *\nDisallow: /A", "/a", true},
    {"User-agent: *\nUnknown: x\nDisallow: /a", "/a", false},
    {"User-agent: *\nCrawl-delay: 5\nUser-agent: x\nDisallow: /a", "/a", true},
    {"User-agent: *\nDisallow /a\nDisallow: /b", "/a", true},
    {"User-agent: *\nSitemap: x\nDisallow: /a", "/a", false},
};

static void check_robots(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        robots *r = robots_parse(rules[i].text, strlen(rules[i].text), "seen-crawl");
        bool got = robots_allowed(r, rules[i].path, strlen(rules[i].path));
        ok(got == rules[i].allowed, "rules %zu: %s is %s", i, rules[i].path,
           rules[i].allowed ? "allowed" : "not allowed");
        robots_free(r);
    }
    const char *s =
        "Sitemap: http://a/1\nUser-agent: *\nCrawl-delay: 2.5\nSitemap: /2\n";
    robots *r = robots_parse(s, strlen(s), "seen-crawl");
    ok(robots_delay(r) == 2.5, "crawl-delay is read");
    ok(!strcmp(robots_sitemap(r, 0), "http://a/1") &&
           !strcmp(robots_sitemap(r, 1), "/2") && !robots_sitemap(r, 2),
       "sitemaps belong to no group");
    robots_free(r);
    buf b = {0};
    buf_text(&b, "User-agent: *\n");
    while (b.len < 500 << 10)
        buf_text(&b, "Disallow: /x\n");
    buf_text(&b, "Disallow: /last\n");
    r = robots_parse(b.p, b.len, "seen-crawl");
    ok(!robots_allowed(r, "/last", 5), "500 KiB are read");
    robots_free(r);
    while (b.len < ROBOTS_LIMIT - 11)
        buf_text(&b, "\n");
    buf_text(&b, "Disallow: /secret\n");
    r = robots_parse(b.p, ROBOTS_LIMIT, "seen-crawl");
    ok(robots_allowed(r, "/page", 5) && !robots_allowed(r, "/last", 5),
       "a line that the limit cuts in two is no rule");
    robots_free(r);
    b.len = 0;
    buf_text(&b, "User-agent: *\nDisallow: /");
    for (int i = 0; i < 2000; i++)
        buf_text(&b, "*a");
    buf_text(&b, "b$\n");
    char path[2000];
    memset(path, 'a', sizeof path);
    path[0] = '/';
    r = robots_parse(b.p, b.len, "seen-crawl");
    ok(robots_allowed(r, path, sizeof path), "two thousand stars take no time");
    robots_free(r);
    free(b.p);
}

/* ---- sitemaps -------------------------------------------------------------------- */

static void keep(void *ctx, const char *loc, size_t len, bool nested)
{
    buf *b = ctx;
    buf_text(b, nested ? "[" : "<");
    buf_add(b, loc, len);
}

static void check_sitemaps(void)
{
    static const struct {
        const char *text, *want;
    } maps[] = {
        {"<urlset><url><loc>a</loc></url></urlset>", "<a"},
        {"<urlset><url><loc> a&amp;b \n</loc><lastmod>x</lastmod></url></urlset>",
         "<a&b"},
        {"<urlset><url><loc><![CDATA[a&amp;b]]></loc></url></urlset>", "<a&amp;b"},
        {"<s:urlset><s:url><s:loc x='y'>a</s:loc></s:url></s:urlset>", "<a"},
        {"<sitemapindex><sitemap><loc>a</loc></sitemap></sitemapindex>", "[a"},
        {"<urlset><!-- <url><loc>a</loc></url> --><url><loc>b</loc></url>", "<b"},
        {"http://a\r\nhttp://b\n\n", "<http://a<http://b"},
        {"<urlset><url><loc>a", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        buf b = {0};
        sitemap_read(maps[i].text, strlen(maps[i].text), keep, &b);
        buf_byte(&b, 0);
        ok(!strcmp(b.p, maps[i].want), "sitemap %zu gives '%s'", i, maps[i].want);
        free(b.p);
    }
}

int main(void)
{
    check_pages();
    check_robots_tags();
    check_encodings();
    check_waits();
    check_robots();
    check_sitemaps();
    return done();
}
