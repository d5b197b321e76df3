/* remote.c - a filter in plain Redis, to the outside.
 *
 * NAME is a hash that describes the filter; NAME:0, NAME:1 ... are its pieces. Every
 * piece begins with 64 bits of mark, which each command reads together with the bits it
 * asks for: a piece that was deleted or evicted has lost its mark, and that is an
 * error. */
#include "remote_inside.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local char reason[700];

const char *seen_remote_reason(void)
{
    return reason;
}

int remote_fail(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof reason, fmt, ap);
    va_end(ap);
    return code;
}

bool seen_remote_is_url(const char *name)
{
    return !strncmp(name, "redis://", 8) || !strncmp(name, "rediss://", 9) ||
           !strncmp(name, "redis+unix://", 13);
}

/* ---- inside -------------------------------------------------------------------- */

int remote_command(seen_remote *r, const char *key, redisReply **out, size_t n,
                   const char *const *words)
{
    request q = {.slot = slot_of(key, strlen(key))};
    request_words(&q, n, words);
    bool good = nodes_run(r->ns, &q, 1);
    *out = q.reply;
    q.reply = NULL;
    requests_free(&q, 1);
    if (!good)
        return remote_fail(SEEN_EIO, "%s", nodes_reason());
    if ((*out)->type == REDIS_REPLY_ERROR) {
        remote_fail(SEEN_EIO, "%s: %s", r->url.name, (*out)->str);
        freeReplyObject(*out);
        *out = NULL;
        return SEEN_EIO;
    }
    return SEEN_OK;
}

void remote_piece_name(const seen_remote *r, uint32_t piece, char *buf, size_t size)
{
    if (r->described)
        snprintf(buf, size, "%s:%u", r->url.name, piece);
    else
        snprintf(buf, size, "%s", r->url.name);
}

int remote_strange(const seen_remote *r)
{
    return remote_fail(SEEN_EIO, "%s: the server gave a strange answer", r->url.name);
}

int remote_lost(const seen_remote *r, uint32_t piece)
{
    if (!r->described)
        return remote_fail(SEEN_EDAMAGED,
                           "%s: is gone: deleted, or evicted for lack of memory",
                           r->url.name);
    return remote_fail(
        SEEN_EDAMAGED,
        "%s: piece %u is gone: deleted, or evicted for lack of memory; what it "
        "knew is lost, so the filter must be made anew",
        r->url.name, piece);
}

/* ---- the filter ---------------------------------------------------------------- */

int seen_remote_open(const char *url, const seen_remote_spec *spec, seen_remote **out)
{
    static const seen_remote_spec none;
    *out = NULL;
    spec = spec ? spec : &none;
    seen_remote *r = calloc(1, sizeof *r);
    if (!r)
        return remote_fail(SEEN_ENOMEM, "out of memory");
    const char *bad = redis_url_parse(url, &r->url);
    if (bad) {
        free(r);
        return remote_fail(SEEN_EINVAL, "%s", bad);
    }
    if (spec->module)
        r->url.scheme = SCHEME_MODULE;
    r->s = (bit_scheme){.scheme = r->url.scheme,
                        .pieces = 1,
                        .bits = r->url.bits,
                        .probes = r->url.nseeds,
                        .is_unsigned = r->url.is_unsigned};
    memcpy(r->s.seeds, r->url.seeds, sizeof r->s.seeds);
    r->ns = nodes_open(&r->url);
    if (!r->ns) {
        free(r);
        return remote_fail(SEEN_EIO, "%s", nodes_reason());
    }
    /* Another process may be making it right now: it gets the time that we have. */
    struct timespec pause = {0, 20000000}, from, t;
    clock_gettime(CLOCK_MONOTONIC, &from);
    int rc = remote_look(r, spec);
    while (rc == 1) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        if ((double)(t.tv_sec - from.tv_sec) > r->url.timeout)
            break;
        nanosleep(&pause, NULL);
        rc = remote_look(r, spec);
    }
    if (rc == 1)
        rc = remote_fail(SEEN_EDAMAGED,
                         "%s: was never finished; remove it (UNLINK) and make it again",
                         r->url.name);
    if (rc == SEEN_OK) {
        r->r = calloc(2 * (size_t)r->s.pieces, sizeof *r->r);
        r->used = calloc(r->s.pieces, sizeof *r->used);
        if (!r->r || !r->used)
            rc = remote_fail(SEEN_ENOMEM, "out of memory");
    }
    if (rc != SEEN_OK) {
        seen_remote_close(r);
        return rc;
    }
    *out = r;
    return SEEN_OK;
}

void seen_remote_close(seen_remote *r)
{
    if (!r)
        return;
    if (r->r)
        requests_free(r->r, 2 * (size_t)r->s.pieces);
    free(r->r);
    free(r->used);
    nodes_close(r->ns);
    free(r);
}

int seen_remote_remove(seen_remote *r)
{
    redisReply *got;
    int rc = remote_command(r, r->url.name, &got, WORDS("UNLINK", r->url.name));
    if (rc < 0)
        return rc;
    freeReplyObject(got);
    char name[600];
    for (uint32_t i = 0; r->described && i < r->s.pieces; i++) {
        remote_piece_name(r, i, name, sizeof name);
        if ((rc = remote_command(r, name, &got, WORDS("UNLINK", name))) < 0)
            return rc;
        freeReplyObject(got);
    }
    return SEEN_OK;
}

int seen_remote_check(seen_remote *r, double *fill, double *error_now)
{
    char name[600], last[24];
    bool own = r->s.scheme == SCHEME_OWN;
    *fill = *error_now = -1;
    for (uint32_t i = 0; i < r->s.pieces; i++) {
        redisReply *got;
        remote_piece_name(r, i, name, sizeof name);
        int rc = own ? remote_command(r, name, &got,
                                      WORDS("BITFIELD_RO", name, "GET", "u32", "0"))
                     : remote_command(r, name, &got, WORDS("EXISTS", name));
        if (rc < 0)
            return rc;
        const redisReply *said = got;
        if (own)
            said = got->elements == 1 ? got->element[0] : NULL;
        bool known = said && said->type == REDIS_REPLY_INTEGER;
        bool here = known && said->integer == (own ? (long long)r->mark : 1);
        freeReplyObject(got);
        if (!here)
            return known ? remote_lost(r, i) : remote_strange(r);
    }
    if (r->s.scheme == SCHEME_MODULE)
        return SEEN_OK;
    uint64_t from = r->s.base / 8, bytes = r->s.bits / 8;
    bytes = bytes < 1 << 20 ? bytes : 1 << 20;
    if (!bytes)
        return SEEN_OK;
    snprintf(last, sizeof last, "%llu", (unsigned long long)(from + bytes - 1));
    remote_piece_name(r, 0, name, sizeof name);
    redisReply *got;
    int rc =
        remote_command(r, name, &got, WORDS("BITCOUNT", name, own ? "8" : "0", last));
    if (rc < 0)
        return rc;
    bool known = got->type == REDIS_REPLY_INTEGER && got->integer >= 0 &&
                 (uint64_t)got->integer <= 8 * bytes;
    *fill = (double)got->integer / (8.0 * (double)bytes);
    *error_now = pow(*fill, r->s.probes);
    freeReplyObject(got);
    return known ? SEEN_OK : remote_strange(r);
}

void seen_remote_get_stats(seen_remote *r, seen_remote_stats *out)
{
    static const char *const names[] = {"seen", "mmh3", "scrapy", "module"};
    *out = (seen_remote_stats){
        .scheme = names[r->s.scheme],
        .keys = r->keys,
        .error = r->error,
        .bytes = r->s.scheme == SCHEME_MODULE
                     ? 0
                     : r->s.pieces * ((r->s.base + r->s.bits + 7) / 8),
        .pieces = r->s.pieces,
        .added = r->added,
        .unsure = r->unsure,
    };
    nodes_counts(r->ns, &out->retries, &out->moved);
}
