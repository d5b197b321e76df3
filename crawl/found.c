/* found.c - the addresses that one page, sitemap or command line brings. */
#include "crawler.h"

static url *next_url(found *l)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->u = kit_grow(l->u, l->room, sizeof *l->u);
    }
    return &l->u[l->count];
}

void found_add(found *l, const url *u)
{
    url *to = next_url(l);
    *to = *u;
    to->text = (const char *)(uintptr_t)l->text.len;
    buf_add(&l->text, u->text, u->len + 1);
    l->count++;
}

bool found_resolve(found *l, const url *base, const char *link, size_t len)
{
    url *to = next_url(l);
    char *text = buf_room(&l->text, URL_ROOM);
    if (url_resolve(base, link, len, text, URL_ROOM, to) != URL_OK)
        return false;
    to->text = (const char *)(uintptr_t)l->text.len;
    l->text.len += to->len + 1;
    l->count++;
    return true;
}

void found_ready(found *l)
{
    for (size_t i = 0; i < l->count; i++)
        l->u[i].text = l->text.p + (uintptr_t)l->u[i].text;
}

void found_clear(found *l)
{
    l->count = l->text.len = 0;
}

void found_free(found *l)
{
    free(l->text.p);
    free(l->u);
    *l = (found){0};
}

/* Reads a seed as people write it: "example.org" and "example.org:8080" are http. */
static void read_seed(const char *s, char out[URL_ROOM], url *u)
{
    char text[URL_ROOM];
    int rc = url_normalise(s, strlen(s), out, URL_ROOM, u);
    if (rc == URL_ERELATIVE || (rc == URL_ESCHEME && !strstr(s, "://"))) {
        int n = snprintf(text, sizeof text, "http://%s", s);
        if (n < (int)sizeof text)
            rc = url_normalise(text, (size_t)n, out, URL_ROOM, u);
    }
    if (rc == URL_ESCHEME || (rc == URL_OK && u->scheme > URL_HTTPS))
        kit_die("%s: only http and https can be crawled", s);
    if (rc < 0)
        kit_die("%s: %s", s, url_strerror(rc));
    if (u->user != u->host)
        kit_die("%s: a password in an address would end up in every output", s);
}

void seeds_queue(crawler *c, const words *seeds)
{
    group g = {.kind = GROUP_SEEDS};
    found_clear(&c->found);
    for (size_t i = 0; i < seeds->n; i++) {
        char out[URL_ROOM];
        url u;
        read_seed(seeds->p[i], out, &u);
        scope_add(c->scope, &u);
        found_add(&c->found, &u);
    }
    found_ready(&c->found);
    c->store->done(c, NULL, &g, &c->found);
}
