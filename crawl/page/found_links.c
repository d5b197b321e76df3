/* found_links.c - the addresses that one page, sitemap or command line brings. */
#include "found_links.h"

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

bool found_links_resolve(found_links *l, const url *base, const char *link, size_t len)
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
    *l = (found_links){0};
}
