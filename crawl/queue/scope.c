/* scope.c - hosts in a hash table, patterns as extended regular expressions. */
#include "scope.h"
#include "buf.h"
#include "seen.h"

#include <libpsl.h>
#include <regex.h>

/* A host with its port, or a registered domain with port 0. */
struct place {
    char *name;
    size_t len;
    uint16_t port;
};

struct scope {
    const config *conf;
    struct place *places; /* room is 0 or a power of two; free where there is no name */
    size_t count, room;
    regex_t *include, *exclude;
};

static regex_t *compile(const words *w)
{
    regex_t *re = kit_alloc((w->n + 1) * sizeof *re);
    for (size_t i = 0; i < w->n; i++) {
        int rc = regcomp(&re[i], w->p[i], REG_EXTENDED | REG_NOSUB);
        if (rc) {
            char why[200];
            regerror(rc, &re[i], why, sizeof why);
            kit_die("pattern '%s': %s", w->p[i], why);
        }
    }
    return re;
}

/* The registered domain of U's host, or the whole host. */
static const char *registered(const url *u, size_t *len)
{
    static const psl_ctx_t *psl;
    char host[256];
    const char *name = u->text + u->host;
    *len = u->host_len;
    if (!psl)
        psl = psl_builtin();
    if (u->ip || *len >= sizeof host || !psl)
        return name;
    memcpy(host, name, *len);
    host[*len] = 0;
    const char *found = psl_registrable_domain(psl, host);
    if (!found)
        return name;
    *len -= (size_t)(found - host);
    return u->text + u->host + (found - host);
}

bool scope_related(const url *a, const url *b)
{
    size_t n, m;
    const char *p = registered(a, &n), *q = registered(b, &m);
    return n == m && !memcmp(p, q, n);
}

/* Where the place is, or would be. There is always a free slot. */
static struct place *find_place(const scope *s, const char *name, size_t len,
                                uint16_t port)
{
    for (uint64_t i = seen_hash_seeded(port, name, len);; i++) {
        struct place *p = &s->places[i & (s->room - 1)];
        if (!p->name ||
            (p->len == len && p->port == port && !memcmp(p->name, name, len)))
            return p;
    }
}

static void double_room(scope *s)
{
    scope old = *s;
    s->room = old.room ? 2 * old.room : 16;
    s->places = kit_alloc(s->room * sizeof *s->places);
    for (size_t i = 0; i < old.room; i++)
        if (old.places[i].name)
            *find_place(s, old.places[i].name, old.places[i].len, old.places[i].port) =
                old.places[i];
    free(old.places);
}

static void add_place(scope *s, const char *name, size_t len, uint16_t port)
{
    if (2 * s->count >= s->room)
        double_room(s);
    struct place *p = find_place(s, name, len, port);
    if (p->name)
        return;
    *p = (struct place){kit_alloc(len + 1), len, port};
    memcpy(p->name, name, len);
    s->count++;
}

scope *scope_new(const config *c)
{
    scope *s = kit_alloc(sizeof *s);
    memset(s, 0, sizeof *s);
    s->conf = c;
    s->include = compile(&c->include);
    s->exclude = compile(&c->exclude);
    for (size_t i = 0; i < c->hosts.n; i++) {
        char text[URL_ROOM], out[URL_ROOM];
        url u;
        int n = snprintf(text, sizeof text, "http://%s/", c->hosts.p[i]);
        int rc = url_normalise(text, (size_t)n, out, sizeof out, &u);
        if (rc < 0)
            kit_die("--host %s: %s", c->hosts.p[i], url_strerror(rc));
        scope_add(s, &u);
    }
    return s;
}

void scope_free(scope *s)
{
    for (size_t i = 0; i < s->room; i++)
        free(s->places[i].name);
    for (size_t i = 0; i < s->conf->include.n; i++)
        regfree(&s->include[i]);
    for (size_t i = 0; i < s->conf->exclude.n; i++)
        regfree(&s->exclude[i]);
    free(s->include);
    free(s->exclude);
    free(s->places);
    free(s);
}

/* http and https on their default ports are one place: sites move between them. */
static uint16_t place_port(const url *u)
{
    return u->port == 443 && u->scheme == URL_HTTPS ? 80 : u->port;
}

void scope_add(scope *s, const url *u)
{
    size_t len = u->host_len;
    const char *name = u->text + u->host;
    if (s->conf->scope == SCOPE_DOMAIN)
        name = registered(u, &len);
    add_place(s, name, len, s->conf->scope == SCOPE_DOMAIN ? 0 : place_port(u));
}

static bool known_place(const scope *s, const url *u)
{
    const char *host = u->text + u->host, *end = host + u->host_len;
    if (!s->count)
        return false;
    if (s->conf->scope != SCOPE_DOMAIN)
        return find_place(s, host, u->host_len, place_port(u))->name;
    /* The host may be one of our domains, or below one. */
    while (!find_place(s, host, (size_t)(end - host), 0)->name) {
        host = memchr(host, '.', (size_t)(end - host));
        if (!host++)
            return false;
    }
    return true;
}

/* Whether the path repeats itself: its last 4 * k segments (with or without the very
 * last) are the same k segments four times, for k from 1 to 3. Relative links on an
 * error page and symbolic links to a parent folder look like this. */
static bool repeats(const url *u)
{
    enum { MOST = 128, TIMES = 4, LONGEST = 3 };
    const char *seg[MOST + 1];
    size_t n = 0;
    const char *p = u->text + u->path, *end = u->text + u->query;
    for (; p < end; p++)
        if (*p == '/') {
            if (n == MOST)
                return true;
            seg[n++] = p;
        }
    seg[n] = end;
    for (size_t without = 0; without < 2; without++) {
        for (size_t k = 1; k <= LONGEST; k++) {
            size_t m = n - without;
            if (n < without || m < TIMES * k)
                break;
            const char *a = seg[m - TIMES * k], *b = seg[m];
            size_t period = (size_t)(seg[m - TIMES * k + k] - a);
            if ((size_t)(b - a) == TIMES * period &&
                !memcmp(a, a + period, (TIMES - 1) * period))
                return true;
        }
    }
    return false;
}

enum scope_verdict scope_check(const scope *s, const url *u, const url *from)
{
    if (u->scheme > URL_HTTPS || u->user != u->host)
        return SCOPE_ELSEWHERE;
    bool same = from && from->path == u->path && !memcmp(from->text, u->text, u->path);
    if (!same && s->conf->scope != SCOPE_ANY && !known_place(s, u))
        return SCOPE_ELSEWHERE;
    if (u->len > s->conf->max_url || repeats(u))
        return SCOPE_TRAP;
    for (size_t i = 0; i < s->conf->exclude.n; i++)
        if (!regexec(&s->exclude[i], u->text, 0, NULL, 0))
            return SCOPE_PATTERN;
    for (size_t i = 0; i < s->conf->include.n; i++)
        if (!regexec(&s->include[i], u->text, 0, NULL, 0))
            return SCOPE_IN;
    return s->conf->include.n ? SCOPE_PATTERN : SCOPE_IN;
}
