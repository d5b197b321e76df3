/* remote_create.c - finds out what a key in Redis is (the description of our filter,
 * another program's filter, nothing yet) and creates the filter if it is missing. */
#include "remote_state.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields of a description. Only these are requested: a hash that is not ours may be
 * huge. */
enum {
    SEEN, /* "2"; "1": hashed with XXH3, and without a high half of the seed */
    SCHEME,
    PIECES,
    BITS,
    PROBES,
    SEED,
    MARK,
    KEYS,
    ERROR,
    READY,
    SEED_HIGH,
    FIELDS
};
#define FIELD_NAMES                                                                    \
    "seen", "scheme", "pieces", "bits", "probes", "seed", "mark", "keys", "error",     \
        "ready", "seed_high"

/* The text of a field; empty if it is missing or not text. */
static const char *field(const redisReply *h, int i)
{
    const redisReply *e = h->element[i];
    return e->type == REDIS_REPLY_STRING && strlen(e->str) == e->len ? e->str : "";
}

/* Reads a field of digits only, at most MOST. */
static bool number(const redisReply *h, int i, uint64_t most, uint64_t *out)
{
    const char *s = field(h, i);
    size_t len = strspn(s, "0123456789");
    *out = 0;
    if (!len || s[len])
        return false;
    errno = 0;
    *out = strtoull(s, NULL, 10);
    return !errno && *out <= most;
}

/* Fills R from the fields. SEEN_EFORMAT if they do not describe a filter, 1 if the
 * filter is not ready. */
static int read_description(seen_remote *r, const redisReply *h)
{
    if (h->type != REDIS_REPLY_ARRAY || h->elements != FIELDS ||
        (strcmp(field(h, SEEN), "1") && strcmp(field(h, SEEN), "2")))
        return remote_fail(SEEN_EFORMAT, "%s: is a hash, but not a filter",
                           r->url.name);
    bool module = !strcmp(field(h, SCHEME), "module");
    bool keyed = !strcmp(field(h, SEEN), "2");
    uint64_t pieces, bits, probes, seed, high = 0, mark, keys;
    double error = strtod(field(h, ERROR), NULL);
    bool good = number(h, PIECES, 65536, &pieces) && pieces &&
                number(h, SEED, UINT64_MAX, &seed) &&
                number(h, KEYS, UINT64_MAX, &keys) && error > 0 && error < 1;
    good &= number(h, BITS, ((uint64_t)1 << 32) - 64, &bits) && (bits || module);
    good &= number(h, PROBES, MAX_PROBES, &probes) && (probes || module);
    good &= number(h, MARK, UINT32_MAX, &mark) && (mark || module);
    good &= !keyed || number(h, SEED_HIGH, UINT64_MAX, &high);
    if (!good)
        return remote_fail(SEEN_EFORMAT, "%s: its description is damaged", r->url.name);
    r->shape = (bit_scheme){.scheme = module ? SCHEME_MODULE : SCHEME_OWN,
                            .base = 64,
                            .pieces = (uint32_t)pieces,
                            .bits = bits,
                            .probes = (uint32_t)probes};
    scheme_seed(&r->shape, keyed, seed, high);
    r->mark = (uint32_t)mark;
    r->keys = keys;
    r->error = error;
    r->described = true;
    return strcmp(field(h, READY), "1") ? 1 : SEEN_OK;
}

/* Creates the pieces, empty and with their mark. */
static int create_pieces(seen_remote *r)
{
    uint32_t n = r->shape.pieces;
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
        if (r->shape.scheme == SCHEME_MODULE) {
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
            request_number(make, r->shape.base + r->shape.bits - 1);
            request_text(make, "0");
        }
    }
    int rc = SEEN_OK;
    if (!nodes_run(r->nodes, q, n) || !nodes_run(r->nodes, q + n, n))
        rc = remote_fail(SEEN_EIO, "%s", nodes_reason());
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++) {
        const redisReply *made = q[n + i].reply;
        if (made->type == REDIS_REPLY_ERROR)
            rc = remote_fail(SEEN_EIO, "%s: %s", r->url.name, made->str);
        else if (r->shape.scheme == SCHEME_MODULE
                     ? made->type != REDIS_REPLY_STATUS
                     : made->elements != 2 ||
                           made->element[0]->type != REDIS_REPLY_INTEGER ||
                           made->element[1]->type != REDIS_REPLY_INTEGER)
            rc = remote_bad_reply(r);
    }
    requests_free(q, 2 * (size_t)n);
    free(q);
    return rc;
}

/* Writes the description if there is none, creates the pieces, then marks the filter as
 * ready. 1: another process was first. */
static int create_described(seen_remote *r, const seen_remote_spec *spec)
{
    static const char script[] = "if redis.call('EXISTS',KEYS[1])==1 then return 0 end "
                                 "redis.call('HSET',KEYS[1],unpack(ARGV)) return 1";
    char pieces[24], bits[24], probes[24], seed[24], high[24], mark[24], keys[24];
    char error[40];
    bool given = spec->seed || spec->seed_high;
    uint64_t random[3];
    if (seen_random_bytes(random, sizeof random) < 0)
        return remote_fail(SEEN_EIO, "%s", seen_reason());
    uint64_t low = given ? spec->seed : random[0];
    uint64_t upper = given ? spec->seed_high : random[1];
    r->mark = (uint32_t)random[2] ? (uint32_t)random[2] : 1;
    scheme_seed(&r->shape, true, low, upper);
    snprintf(pieces, sizeof pieces, "%u", r->shape.pieces);
    snprintf(bits, sizeof bits, "%llu", (unsigned long long)r->shape.bits);
    snprintf(probes, sizeof probes, "%u", r->shape.probes);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)low);
    snprintf(high, sizeof high, "%llu", (unsigned long long)upper);
    snprintf(mark, sizeof mark, "%u", r->mark);
    snprintf(keys, sizeof keys, "%llu", (unsigned long long)r->keys);
    snprintf(error, sizeof error, "%.17g", r->error);
    const char *name = r->url.name;
    redisReply *got;
    int rc = remote_command(r, name, &got,
                            WORDS("EVAL", script, "1", name, "seen", "2", "scheme",
                                  r->shape.scheme == SCHEME_MODULE ? "module" : "seen",
                                  "pieces", pieces, "bits", bits, "probes", probes,
                                  "seed", seed, "seed_high", high, "mark", mark, "keys",
                                  keys, "error", error, "ready", "0"));
    if (rc < 0)
        return rc;
    bool known = got->type == REDIS_REPLY_INTEGER, first = known && got->integer == 1;
    freeReplyObject(got);
    if (!known)
        return remote_bad_reply(r);
    if (!first)
        return 1;
    r->described = true;
    rc = create_pieces(r);
    if (rc < 0)
        return rc;
    rc = remote_command(r, name, &got, WORDS("HSET", name, "ready", "1"));
    if (rc == SEEN_OK)
        freeReplyObject(got);
    return rc;
}

/* Creates a single key in another program's format. */
static int create_foreign(seen_remote *r)
{
    char last[24], error[40], capacity[24];
    redisReply *got;
    const char *name = r->url.name;
    int rc;
    if (r->shape.scheme == SCHEME_MODULE) {
        snprintf(error, sizeof error, "%.17g", r->error);
        snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)r->keys);
        rc = remote_command(r, name, &got, WORDS("BF.RESERVE", name, error, capacity));
    } else {
        snprintf(last, sizeof last, "%llu", (unsigned long long)(r->shape.bits - 1));
        rc = remote_command(r, name, &got, WORDS("SETBIT", name, last, "0"));
    }
    if (rc == SEEN_OK)
        freeReplyObject(got);
    return rc;
}

static int create(seen_remote *r, const seen_remote_spec *spec)
{
    r->keys = spec->keys ? spec->keys : 1000000;
    r->error = spec->error > 0 ? spec->error : 0.01;
    bool cluster = nodes_is_cluster(r->nodes);
    bit_scheme shape = r->shape;
    if (!(r->error < 1) ||
        !scheme_shape(&shape, r->keys, r->error, spec->pieces, cluster))
        return remote_fail(SEEN_EINVAL,
                           "%s: no filter is possible with these keys and this error",
                           r->url.name);
    if (r->shape.scheme == SCHEME_OWN) {
        r->shape = shape;
        return create_described(r, spec);
    }
    if (r->shape.scheme == SCHEME_MODULE && shape.pieces > 1) {
        r->shape.pieces = shape.pieces;
        return create_described(r, spec);
    }
    return create_foreign(r);
}

int remote_find_or_create(seen_remote *r, const seen_remote_spec *spec)
{
    const char *name = r->url.name;
    redisReply *got;
    int rc = remote_command(r, name, &got, WORDS("TYPE", name));
    if (rc < 0)
        return rc;
    char type[32] = "";
    if (got->type == REDIS_REPLY_STATUS)
        snprintf(type, sizeof type, "%s", got->str);
    freeReplyObject(got);
    if (!*type)
        return remote_bad_reply(r);
    if (!strcmp(type, "none")) {
        if (!spec->make)
            return remote_fail(SEEN_EKIND, "%s: there is no such filter on the server",
                               name);
        return create(r, spec);
    }
    if (!strcmp(type, "hash") &&
        (r->url.scheme == SCHEME_OWN || r->url.scheme == SCHEME_MODULE)) {
        rc = remote_command(r, name, &got, WORDS("HMGET", name, FIELD_NAMES));
        if (rc < 0)
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
        r->shape.scheme = SCHEME_MODULE;
        return SEEN_OK;
    }
    return remote_fail(SEEN_EFORMAT,
                       "%s: holds a %s, which is not a filter of this scheme", name,
                       type);
}
