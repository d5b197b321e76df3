/* seeds.c - the addresses a crawl begins with. */
#include "crawler.h"

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
    found_links_clear(&c->found);
    for (size_t i = 0; i < seeds->n; i++) {
        char out[URL_ROOM];
        url u;
        read_seed(seeds->p[i], out, &u);
        scope_add(c->q.scope, &u);
        found_links_add(&c->found, &u);
    }
    found_links_ready(&c->found);
    c->q.store->done(&c->q, NULL, &g, &c->found);
}
