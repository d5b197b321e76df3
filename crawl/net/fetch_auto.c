/* fetch_auto.c - both engines as one: the plain one where it can, libcurl elsewhere. */
#include "fetch.h"

typedef struct auto_engine {
    engine base;
    engine *curl, *plain; /* plain: NULL if it must not be used */
} auto_engine;

static void auto_start(engine *base, fetch *f)
{
    auto_engine *e = (auto_engine *)base;
    engine *to = e->plain && f->u.scheme == URL_HTTP ? e->plain : e->curl;
    to->start(to, f);
}

static void auto_cancel(engine *base)
{
    auto_engine *e = (auto_engine *)base;
    e->curl->cancel_all(e->curl);
    if (e->plain)
        e->plain->cancel_all(e->plain);
}

static int auto_timeout(engine *base)
{
    auto_engine *e = (auto_engine *)base;
    int a = e->curl->timeout(e->curl), b = e->plain ? e->plain->timeout(e->plain) : -1;
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

static void auto_tick(engine *base)
{
    auto_engine *e = (auto_engine *)base;
    e->curl->tick(e->curl);
    if (e->plain)
        e->plain->tick(e->plain);
}

static void auto_free(engine *base)
{
    auto_engine *e = (auto_engine *)base;
    e->curl->free(e->curl);
    if (e->plain)
        e->plain->free(e->plain);
    free(e);
}

engine *engine_auto(const config *c, int loop, cookie_jar *jar)
{
    auto_engine *e = kit_alloc(sizeof *e);
    e->base = (engine){auto_start, auto_cancel, auto_timeout, auto_tick, auto_free};
    e->curl = engine_curl(c, loop, jar);
    if (c->engine != ENGINE_CURL && !c->proxy && !jar)
        e->plain = engine_plain(c, loop);
    return &e->base;
}
