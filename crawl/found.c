/* found.c - the addresses that one page, sitemap or command line brings. */
#include "crawler.h"

void found_add(found *l, const url *u)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 256;
        l->u = kit_grow(l->u, l->room, sizeof *l->u);
    }
    l->u[l->count] = *u;
    l->u[l->count++].text = (const char *)(uintptr_t)l->text.len;
    buf_add(&l->text, u->text, u->len + 1);
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
