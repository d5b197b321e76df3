/* page_extract.c - reads a page: encoding, base, robots rules, links. */
#include "page_extract.h"
#include "charset.h"

enum {
    LINKS_MOST = 64 << 20
}; /* bytes of one page's links, so that a batch stays small */

bool page_extract_wanted(const fetch *f)
{
    /* If a page broke off, the links that arrived are better than none. */
    bool whole = f->outcome == OUT_OK || (f->outcome == OUT_BROKEN && f->body.len);
    return f->is_page && whole && f->status / 100 == 2 && fetch_is_html(f->type) &&
           !f->dropped;
}

static void add_link(page_extract *d, const url *base, const char *text, size_t len,
                     unsigned kind)
{
    if (d->links.text.len > LINKS_MOST ||
        !found_links_resolve(&d->links, base, text, len))
        d->unreadable++;
    else
        buf_byte(&d->kinds, (uint8_t)kind);
}

static void read_links(page_extractor *r, const config *c, fetch *f, page_extract *d)
{
    page *pg = &r->page;
    char base_text[URL_ROOM];
    url base = f->u, other;
    size_t n = 0, from = 0;
    const char *type = fetch_field(&f->head, "content-type", &n, &from);
    const char *charset = charset_of(type, n, f->body.p, f->body.len);
    const buf *text = &f->body;
    if (charset && charset_to_utf8(charset, f->body.p, f->body.len, &r->utf8))
        text = &r->utf8;
    if (!page_read(pg, text->p, text->len, c->follow, c->product))
        kit_die("out of memory reading %s", f->u.text);
    if (pg->has_base && url_resolve(&f->u, pg->text + pg->base_at, pg->base_len,
                                    base_text, sizeof base_text, &other) == URL_OK)
        base = other;
    f->noindex |= pg->noindex;
    f->nofollow |= pg->nofollow;
    bool silent = f->nofollow && !c->follow_nofollow;
    from = 0;
    const char *refresh = fetch_field(&f->head, "refresh", &n, &from);
    html_span next = refresh ? page_refresh(refresh, n) : (html_span){0};
    if (next.len && (c->follow & PAGE_REFRESH) && !silent)
        add_link(d, &f->u, next.p, next.len, PAGE_REFRESH);
    for (size_t i = 0; i < pg->count; i++) {
        const page_link *l = &pg->links[i];
        if (silent || (l->nofollow && !c->follow_nofollow))
            d->nofollow++;
        else if (charset && charset_link(charset, pg->text + l->at, l->len, &r->link))
            add_link(d, &base, r->link.p, r->link.len, l->kind);
        else
            add_link(d, &base, pg->text + l->at, l->len, l->kind);
    }
}

void page_header_rules(const config *c, fetch *f)
{
    size_t n, from = 0;
    const char *v;
    while ((v = fetch_field(&f->head, "x-robots-tag", &n, &from)))
        page_robots_tag(v, n, c->product, &f->nofollow, &f->noindex);
}

void page_extract_read(page_extractor *r, const config *c, fetch *f, page_extract *out)
{
    found_links_clear(&out->links);
    out->kinds.len = 0;
    out->unreadable = out->nofollow = 0;
    out->print = (fingerprint){0, 0};
    page_header_rules(c, f);
    if (f->body.len)
        out->print = fingerprint_of(f->body.p, f->body.len);
    if (f->want_links)
        read_links(r, c, f, out);
    found_links_ready(&out->links);
}

void page_extract_free(page_extract *d)
{
    if (!d)
        return;
    found_links_free(&d->links);
    free(d->kinds.p);
    free(d);
}

void page_extractor_free(page_extractor *r)
{
    page_free(&r->page);
    free(r->utf8.p);
    free(r->link.p);
}

static void read_in_thread(void *state, const config *c, fetch *f)
{
    if (!page_extract_wanted(f))
        return;
    if (!f->extract)
        f->extract = kit_alloc(sizeof *f->extract);
    page_extract_read(state, c, f, f->extract);
    f->extracted = true;
    if (!c->warc && !c->bodies)
        fetch_drop_body(f);
}

static void free_in_thread(void *state)
{
    page_extractor_free(state);
}

const fetch_reader page_extract_reader = {sizeof(page_extractor), read_in_thread,
                                          free_in_thread};
