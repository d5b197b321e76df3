/* found_links.c - the addresses that one page, sitemap or command line brings. */
#include "found_links.h"
#include "seen.h"

static url *next_url(found_links *l)
{
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->u = kit_grow(l->u, l->room, sizeof *l->u);
    }
    return &l->u[l->count];
}

void found_links_add(found_links *l, const url *u)
{
    url *to = next_url(l);
    *to = *u;
    to->text = (const char *)(uintptr_t)l->text.len;
    buf_add(&l->text, u->text, u->len + 1);
    l->count++;
}

/* Pages link to a few origins again and again. If a link begins with a known origin
 * in normal form, it is resolved against that: its host is not parsed again. */
enum { ORIGINS = 64, ORIGIN_ROOM = 64 };
struct known_origins {
    struct known_origin {
        url u;
        char text[ORIGIN_ROOM];
    } at[ORIGINS];
};

/* The place for the origin of LINK; NULL if LINK has no origin to remember. */
static struct known_origin *origin_of(found_links *l, const char *link, size_t len)
{
    if (len < 9 || memcmp(link, "http", 4))
        return NULL;
    const char *host = link + (link[4] == 's' ? 8 : 7);
    const char *slash = memchr(host, '/', len - (size_t)(host - link));
    size_t n = slash ? (size_t)(slash - link) : 0;
    if (!n || n + 1 >= ORIGIN_ROOM)
        return NULL;
    if (!l->known)
        l->known = kit_alloc(sizeof *l->known);
    return &l->known->at[seen_hash_seeded(0, link, n) % ORIGINS];
}

bool found_links_resolve(found_links *l, const url *base, const char *link, size_t len)
{
    url *to = next_url(l);
    char *text = buf_room(&l->text, URL_ROOM);
    struct known_origin *k = origin_of(l, link, len);
    if (k && k->u.len && len > k->u.len && !memcmp(link, k->text, k->u.len))
        base = &k->u;
    if (url_resolve(base, link, len, text, URL_ROOM, to) != URL_OK)
        return false;
    if (k && base != &k->u && to->user == to->host && to->path + 1 < ORIGIN_ROOM) {
        memcpy(k->text, to->text, to->path + 1);
        k->u = *to;
        k->u.text = k->text;
        k->u.len = k->u.query = to->path + 1;
    }
    to->text = (const char *)(uintptr_t)l->text.len;
    l->text.len += to->len + 1;
    l->count++;
    return true;
}

void found_links_ready(found_links *l)
{
    for (size_t i = 0; i < l->count; i++)
        l->u[i].text = l->text.p + (uintptr_t)l->u[i].text;
}

void found_links_clear(found_links *l)
{
    l->count = l->text.len = 0;
}

void found_links_free(found_links *l)
{
    free(l->text.p);
    free(l->u);
    free(l->known);
    *l = (found_links){0};
}
