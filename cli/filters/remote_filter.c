/* remote_filter.c - lets the commands use filters in Redis and Valkey by their URL.
 *
 * Without hiredis at build time it only says so. */
#include "remote_filter.h"
#include "messages.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool remote_is_url(const char *name)
{
    return !strncmp(name, "redis://", 8) || !strncmp(name, "rediss://", 9) ||
           !strncmp(name, "redis+unix://", 13);
}

static bool use_module;

bool remote_option(const kit_parse *p, int key, const char **name)
{
    if (key != OPT_REDIS && key != OPT_REDIS_MODULE)
        return false;
    const char *url = p->arg;
    use_module |= key == OPT_REDIS_MODULE;
    /* --redis-module URL is understood like --redis-module=URL. */
    if (!url && optind < p->argc && remote_is_url(p->argv[optind]))
        url = p->argv[optind++];
    if (url && !remote_is_url(url))
        kit_die("%s %s: not a URL such as redis://host:port/name",
                key == OPT_REDIS ? "--redis" : "--redis-module", url);
    if (url)
        *name = url;
    return true;
}

#ifdef SEEN_REMOTE
#include "remote.h"
#include "human_numbers.h"

static bool add(named_filter *s, const seen_key *keys, size_t n, bool *dup)
{
    if (seen_remote_add(s->ctx, keys, n, dup) == SEEN_OK)
        return true;
    kit_warn("%s", seen_remote_reason());
    return false;
}

static bool has(named_filter *s, const seen_key *keys, size_t n, bool *found)
{
    if (seen_remote_has(s->ctx, keys, n, found) == SEEN_OK)
        return true;
    kit_warn("%s", seen_remote_reason());
    return false;
}

static uint64_t bytes(named_filter *s)
{
    seen_remote_stats st;
    seen_remote_get_stats(s->ctx, &st);
    return st.bytes;
}

static double lost(named_filter *s)
{
    return 0;
}

static bool save(named_filter *s)
{
    seen_remote_stats st;
    seen_remote_get_stats(s->ctx, &st);
    if (st.unsure)
        kit_warn("a connection broke: %s keys were called new without certainty",
                 kit_counted(st.unsure));
    if (st.keys && st.added > st.keys)
        kit_warn(
            "%s: was made for %s keys; this run alone added %s, so it errs more than "
            "promised",
            s->name, kit_counted(st.keys), kit_counted(st.added));
    return true;
}

static void close_remote(named_filter *s)
{
    seen_remote_close(s->ctx);
}

static void show(named_filter *s)
{
    seen_remote_stats st;
    double fill, error;
    seen_remote_get_stats(s->ctx, &st);
    if (seen_remote_check(s->ctx, &fill, &error) != SEEN_OK)
        kit_die("%s", seen_remote_reason());
    printf("%s: scheme %s, %u piece%s, all there", s->name, st.scheme, st.pieces,
           st.pieces == 1 ? "" : "s");
    if (st.bytes)
        printf(", %s bytes", kit_counted(st.bytes));
    if (st.keys)
        printf(", made for %s keys at error %g", kit_counted(st.keys), st.error);
    if (fill >= 0)
        printf(", %.1f%% of the bits set, error %.2g now", 100 * fill, error);
    putchar('\n');
}

static const named_ops ops = {.kind = "redis",
                              .add = add,
                              .has = has,
                              .bytes = bytes,
                              .lost = lost,
                              .save = save,
                              .close = close_remote,
                              .show = show};

int remote_open(const char *name, unsigned how, named_filter *s)
{
    if (!remote_is_url(name))
        return SEEN_EFORMAT;
    seen_remote_spec spec = {.module = use_module};
    seen_remote *r;
    int rc = seen_remote_open(name, &spec, &r);
    if (rc == SEEN_EKIND)
        kit_die("%s; 'seen new --redis URL' makes one", seen_remote_reason());
    if (rc != SEEN_OK)
        kit_die("%s", seen_remote_reason());
    s->ops = &ops;
    s->ctx = r;
    return 0;
}

void remote_make(const char *url, uint64_t keys, double error, kit_secret secret,
                 bool force)
{
    seen_remote_spec ask = {.module = use_module};
    seen_remote_spec want = {.make = true,
                             .module = use_module,
                             .keys = keys,
                             .error = error,
                             .seed = secret.low,
                             .seed_high = secret.high};
    seen_remote *r;
    int rc = seen_remote_open(url, &ask, &r);
    if (rc == SEEN_OK) {
        if (!force)
            kit_die("%s: exists already (-f replaces it)", url);
        if (seen_remote_remove(r) != SEEN_OK)
            kit_die("%s", seen_remote_reason());
        seen_remote_close(r);
        rc = SEEN_EKIND;
    }
    if (rc == SEEN_EKIND)
        rc = seen_remote_open(url, &want, &r);
    if (rc != SEEN_OK)
        kit_die("%s", seen_remote_reason());
    seen_remote_close(r);
}

#else

static void missing(void)
{
    kit_die(
        "this build has no Redis client: build it again with libhiredis-dev installed");
}

int remote_open(const char *name, unsigned how, named_filter *s)
{
    if (remote_is_url(name))
        missing();
    return SEEN_EFORMAT;
}

void remote_make(const char *url, uint64_t keys, double error, kit_secret secret,
                 bool force)
{
    missing();
}
#endif
