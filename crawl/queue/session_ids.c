/* session_ids.c - finds, strips and proves session ids. */
#include "session_ids.h"
#include "messages.h"
#include "seen.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {"jsessionid", "phpsessid",    "sid",  "sessionid",
                                    "session_id", "sessid",       "sess", "oscsid",
                                    "zenid",      "aspsessionid", "cfid", "cftoken"};
enum { NAMES = sizeof names / sizeof *names, PAGES = 1 << 14 };

/* The latest pages by what their address is without session ids. */
struct session_ids {
    struct {
        uint64_t stripped, whole, text;
    } page[PAGES];
};

session_ids *session_ids_new(void)
{
    return kit_alloc(sizeof(session_ids));
}

void session_ids_free(session_ids *s)
{
    free(s);
}

const char *session_ids_name(unsigned bits)
{
    return names[__builtin_ctz(bits)];
}

/* The bit of the parameter "name=value" at P; 0 if its name is not one of ours. */
static unsigned name_of(const char *p, size_t n)
{
    const char *equals = memchr(p, '=', n);
    size_t len = equals ? (size_t)(equals - p) : n;
    for (int i = 0; i < NAMES; i++)
        if (strlen(names[i]) == len && !strncasecmp(names[i], p, len))
            return 1u << i;
    /* ASPSESSIONIDQABRCTDA and the like */
    return len > 12 && !strncasecmp(p, "aspsessionid", 12) ? 1u << 9 : 0;
}

/* Walks U's parameters: ";a=b" in the path, "?a=b&c=d" in the query. Copies U
 * without those in DROP to OUT, unless OUT is NULL. Returns the names it found. */
static unsigned walk(const url *u, unsigned drop, char *out, size_t *out_len)
{
    const char *p = u->text + u->path, *end = u->text + u->len;
    const char *query = u->text + u->query;
    unsigned met = 0;
    bool first = true; /* parameter of the query that stays */
    size_t n = u->path;
    if (out)
        memcpy(out, u->text, n);
    while (p < end) {
        bool in_query = p >= query;
        const char *stop = p + 1;
        while (stop < end && *stop != '&' && !(stop < query && *stop == ';') &&
               !(stop == query && !in_query) && !(!in_query && *stop == '/'))
            stop++;
        bool parameter = in_query ? true : *p == ';';
        unsigned name = parameter ? name_of(p + 1, (size_t)(stop - p - 1)) : 0;
        met |= name;
        if (out && !(name & drop)) {
            out[n] = in_query ? (first ? '?' : '&') : *p;
            memcpy(out + n + 1, p + 1, (size_t)(stop - p - 1));
            n += (size_t)(stop - p);
            if (in_query)
                first = false;
        }
        p = stop;
    }
    if (out) {
        out[n] = 0;
        *out_len = n;
    }
    return met;
}

unsigned session_ids_in(const url *u)
{
    return memchr(u->text + u->path, '=', u->len - u->path) ? walk(u, 0, NULL, NULL)
                                                            : 0;
}

size_t session_ids_strip(const url *u, unsigned drop, char *out)
{
    size_t n;
    walk(u, drop, out, &n);
    return n;
}

unsigned session_ids_learn(session_ids *s, const url *u, uint64_t text_hash)
{
    unsigned met = session_ids_in(u);
    char text[URL_ROOM];
    size_t n = u->len;
    const char *stripped = u->text;
    if (met && n < sizeof text) {
        n = session_ids_strip(u, met, text);
        stripped = text;
    }
    uint64_t h = seen_hash_seeded(0, stripped, n);
    uint64_t whole = seen_hash_seeded(0, u->text, u->len);
    size_t at = h % PAGES;
    bool same = s->page[at].stripped == h && s->page[at].whole != whole &&
                s->page[at].text == text_hash;
    s->page[at].stripped = h;
    s->page[at].whole = whole;
    s->page[at].text = text_hash;
    return same ? met : 0;
}
