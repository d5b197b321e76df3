/* remote_make.c - what a name in Redis is: a filter's description, somebody else's
 * filter, or nothing yet. */
#include "remote_inside.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *field(const redisReply *h, const char *name)
{
    for (size_t i = 0; i + 1 < h->elements; i += 2)
        if (!strcmp(h->element[i]->str, name))
            return h->element[i + 1]->str;
    return "";
}

/* Fills R from the hash; SEEN_EFORMAT if it is not a description, 1 if it is not ready.
 */
static int read_description(seen_remote *r, const redisReply *h)
{
    if (strcmp(field(h, "seen"), "1"))
        return remote_fail(SEEN_EFORMAT, "%s: is a hash, but not a filter",
                           r->url.name);
    bit_scheme s = {.scheme = SCHEME_OWN, .base = 64};
    bool module = !strcmp(field(h, "scheme"), "module");
    s.pieces = (uint32_t)strtoul(field(h, "pieces"), NULL, 10);
    s.bits = strtoull(field(h, "bits"), NULL, 10);
    s.probes = (uint32_t)strtoul(field(h, "probes"), NULL, 10);
    s.seed = strtoull(field(h, "seed"), NULL, 10);
    r->mark = (uint32_t)strtoul(field(h, "mark"), NULL, 10);
    r->keys = strtoull(field(h, "keys"), NULL, 10);
    r->error = strtod(field(h, "error"), NULL);
    if (s.pieces < 1 || s.pieces > 65536 ||
        (!module && (!s.bits || !s.probes || s.probes > MAX_PROBES ||
                     s.bits > ((uint64_t)1 << 32) - 64 || !r->mark)))
        return remote_fail(SEEN_EFORMAT, "%s: its description makes no sense",
                           r->url.name);
    if (module)
        s.scheme = SCHEME_MODULE;
    r->s = s;
    r->described = true;
    return strcmp(field(h, "ready"), "1") ? 1 : SEEN_OK;
}

static uint32_t random_mark(void)
{
    uint32_t m = (uint32_t)(seen_random_seed() >> 16);
    return m ? m : 1;
}

/* Makes the pieces; they are empty and marked. */
static int make_pieces(seen_remote *r)
{
    uint32_t n = r->s.pieces;
    request *q = calloc(2 * (size_t)n, sizeof *q);
    if (!q)
        return remote_fail(SEEN_ENOMEM, "out of memory");
    char name[600];
    uint64_t each = (uint64_t)ceil((double)r->keys / n +
                                   (n > 1 ? 4 * sqrt((double)r->keys / n) : 0));
    for (uint32_t i = 0; i < n; i++) {
        request *gone = &q[i], *make = &q[n + i];
        remote_piece_name(r, i, name, sizeof name);
        gone->slot = make->slot = slot_of(name, strlen(name));
        request_words(gone, WORDS("UNLINK", name));
        if (r->s.scheme == SCHEME_MODULE) {
            char error[40], capacity[24];
            snprintf(error, sizeof error, "%.17g", r->error);
            snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)each);
            request_words(make, WORDS("BF.RESERVE", name, error, capacity));
        } else {
            request_start(make, 10);
            request_text(make, "BITFIELD");
            request_text(make, name);
            request_text(make, "SET");
            request_text(make, "u32");
            request_text(make, "0");
            request_number(make, r->mark);
            request_text(make, "SET");
            request_text(make, "u1");
            request_number(make, r->s.base + r->s.bits - 1);
            request_text(make, "0");
        }
    }
    int rc = SEEN_OK;
    if (!nodes_run(r->ns, q, n) || !nodes_run(r->ns, q + n, n))
        rc = remote_fail(SEEN_EIO, "%s", nodes_reason());
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++)
        if (q[n + i].reply->type == REDIS_REPLY_ERROR)
            rc = remote_fail(SEEN_EIO, "%s: %s", r->url.name, q[n + i].reply->str);
    requests_free(q, 2 * (size_t)n);
    free(q);
    return rc;
}

/* Writes the description if there is none, makes the pieces, and says that all is
 * ready. 1: somebody else was first. */
static int make_described(seen_remote *r, const seen_remote_spec *spec)
{
    static const char script[] = "if redis.call('EXISTS',KEYS[1])==1 then return 0 end "
                                 "redis.call('HSET',KEYS[1],unpack(ARGV)) return 1";
    char pieces[24], bits[24], probes[24], seed[24], mark[24], keys[24], error[40];
    r->mark = random_mark();
    r->s.seed = spec->seed;
    snprintf(pieces, sizeof pieces, "%u", r->s.pieces);
    snprintf(bits, sizeof bits, "%llu", (unsigned long long)r->s.bits);
    snprintf(probes, sizeof probes, "%u", r->s.probes);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->s.seed);
    snprintf(mark, sizeof mark, "%u", r->mark);
    snprintf(keys, sizeof keys, "%llu", (unsigned long long)r->keys);
    snprintf(error, sizeof error, "%.17g", r->error);
    const char *name = r->url.name;
    redisReply *got;
    int rc =
        remote_command(r, name, &got,
                       WORDS("EVAL", script, "1", name, "seen", "1", "scheme",
                             r->s.scheme == SCHEME_MODULE ? "module" : "seen", "pieces",
                             pieces, "bits", bits, "probes", probes, "seed", seed,
                             "mark", mark, "keys", keys, "error", error, "ready", "0"));
    if (rc < 0)
        return rc;
    bool first = got->type == REDIS_REPLY_INTEGER && got->integer == 1;
    freeReplyObject(got);
    if (!first)
        return 1;
    r->described = true;
    rc = make_pieces(r);
    if (rc < 0)
        return rc;
    rc = remote_command(r, name, &got, WORDS("HSET", name, "ready", "1"));
    if (rc == SEEN_OK)
        freeReplyObject(got);
    return rc;
}

/* A single key in somebody else's form. */
static int make_foreign(seen_remote *r)
{
    char last[24], error[40], capacity[24];
    redisReply *got;
    const char *name = r->url.name;
    int rc;
    if (r->s.scheme == SCHEME_MODULE) {
        snprintf(error, sizeof error, "%.17g", r->error);
        snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)r->keys);
        rc = remote_command(r, name, &got, WORDS("BF.RESERVE", name, error, capacity));
    } else {
        snprintf(last, sizeof last, "%llu", (unsigned long long)(r->s.bits - 1));
        rc = remote_command(r, name, &got, WORDS("SETBIT", name, last, "0"));
    }
    if (rc == SEEN_OK)
        freeReplyObject(got);
    return rc;
}

static int make(seen_remote *r, const seen_remote_spec *spec)
{
    r->keys = spec->keys ? spec->keys : 1000000;
    r->error = spec->error > 0 ? spec->error : 0.01;
    bool cluster = nodes_is_cluster(r->ns);
    bit_scheme shape = r->s;
    if (!(r->error < 1) ||
        !scheme_shape(&shape, r->keys, r->error, spec->pieces, cluster))
        return remote_fail(SEEN_EINVAL, "%s: no filter can have these sizes",
                           r->url.name);
    if (r->s.scheme == SCHEME_OWN) {
        r->s = shape;
        return make_described(r, spec);
    }
    if (r->s.scheme == SCHEME_MODULE && shape.pieces > 1) {
        r->s.pieces = shape.pieces;
        return make_described(r, spec);
    }
    return make_foreign(r);
}

int remote_look(seen_remote *r, const seen_remote_spec *spec)
{
    const char *name = r->url.name;
    redisReply *got;
    int rc = remote_command(r, name, &got, WORDS("TYPE", name));
    if (rc < 0)
        return rc;
    char type[32];
    snprintf(type, sizeof type, "%s", got->str);
    freeReplyObject(got);
    if (!strcmp(type, "none")) {
        if (!spec->make)
            return remote_fail(SEEN_EKIND, "%s: there is no such filter on the server",
                               name);
        return make(r, spec);
    }
    if (!strcmp(type, "hash") &&
        (r->url.scheme == SCHEME_OWN || r->url.scheme == SCHEME_MODULE)) {
        if ((rc = remote_command(r, name, &got, WORDS("HGETALL", name))) < 0)
            return rc;
        rc = read_description(r, got);
        freeReplyObject(got);
        return rc;
    }
    if (!strcmp(type, "string") &&
        (r->url.scheme == SCHEME_MMH3 || r->url.scheme == SCHEME_SCRAPY))
        return SEEN_OK;
    if (!strcmp(type, "seenbloom") || !strcmp(type, "MBbloom--") ||
        !strcmp(type, "bloomfltr")) {
        r->s.scheme = SCHEME_MODULE;
        return SEEN_OK;
    }
    return remote_fail(SEEN_EFORMAT,
                       "%s: holds a %s, which is no filter of this scheme", name, type);
}
