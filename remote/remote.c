/* remote.c - opens, checks, describes and removes a filter in Redis.
 *
 * NAME is a hash that describes the filter; NAME:0, NAME:1 ... are its pieces. Every
 * piece begins with a mark of 64 bits, and each command reads the mark together with
 * the bits it asks for. A piece that was deleted or evicted has lost its mark, which is
 * an error. */
#include "remote_state.h"
#include "server_connection.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *seen_remote_reason(void)
{
    return sn_conn_reason();
}

int remote_fail(int code, const char *fmt, ...)
{
    char text[700];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    sn_conn_fail("%s", text);
    return code;
}

/* ---- inside -------------------------------------------------------------------- */

int remote_command(seen_remote *r, const char *key, redisReply **out, size_t n,
                   const char *const *words)
{
    request q = {.slot = slot_of(key, strlen(key))};
    request_words(&q, n, words);
    bool good = nodes_run(r->nodes, &q, 1);
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

int remote_bad_reply(const seen_remote *r)
{
    return remote_fail(SEEN_EIO, "%s: the server sent a reply of the wrong type",
                       r->url.name);
}

int remote_piece_lost(const seen_remote *r, uint32_t piece)
{
    if (!r->described)
        return remote_fail(SEEN_EDAMAGED,
                           "%s: is gone: it was deleted, or evicted for lack of memory",
                           r->url.name);
    return remote_fail(
        SEEN_EDAMAGED,
        "%s: piece %u is gone: it was deleted, or evicted for lack of memory; its keys "
        "are lost, so remove the filter and build it again",
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
    r->shape = (bit_scheme){.scheme = r->url.scheme,
                            .pieces = 1,
                            .bits = r->url.bits,
                            .probes = r->url.nseeds,
                            .is_unsigned = r->url.is_unsigned};
    memcpy(r->shape.seeds, r->url.seeds, sizeof r->shape.seeds);
    r->nodes = nodes_open(&r->url);
    if (!r->nodes) {
        free(r);
        return remote_fail(SEEN_EIO, "%s", nodes_reason());
    }
    /* Another process may be creating it right now: wait for it until the timeout. */
    struct timespec pause = {0, 20000000}, from, t;
    clock_gettime(CLOCK_MONOTONIC, &from);
    int rc = remote_find_or_create(r, spec);
    while (rc == 1) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        if ((double)(t.tv_sec - from.tv_sec) > r->url.timeout)
            break;
        nanosleep(&pause, NULL);
        rc = remote_find_or_create(r, spec);
    }
    if (rc == 1)
        rc = remote_fail(
            SEEN_EDAMAGED,
            "%s: its creation was never finished; remove it (UNLINK) and create it "
            "again",
            r->url.name);
    if (rc == SEEN_OK) {
        r->requests = calloc(2 * (size_t)r->shape.pieces, sizeof *r->requests);
        r->used = calloc(r->shape.pieces, sizeof *r->used);
        if (!r->requests || !r->used)
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
    if (r->requests)
        requests_free(r->requests, 2 * (size_t)r->shape.pieces);
    free(r->requests);
    free(r->used);
    nodes_close(r->nodes);
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
    for (uint32_t i = 0; r->described && i < r->shape.pieces; i++) {
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
    bool own = r->shape.scheme == SCHEME_OWN;
    *fill = *error_now = -1;
    for (uint32_t i = 0; i < r->shape.pieces; i++) {
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
            return known ? remote_piece_lost(r, i) : remote_bad_reply(r);
    }
    if (r->shape.scheme == SCHEME_MODULE)
        return SEEN_OK;
    uint64_t from = r->shape.base / 8, bytes = r->shape.bits / 8;
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
    *error_now = pow(*fill, r->shape.probes);
    freeReplyObject(got);
    return known ? SEEN_OK : remote_bad_reply(r);
}

void seen_remote_get_stats(seen_remote *r, seen_remote_stats *out)
{
    static const char *const names[] = {"seen", "mmh3", "scrapy", "module"};
    *out = (seen_remote_stats){
        .scheme = names[r->shape.scheme],
        .keys = r->keys,
        .error = r->error,
        .bytes = r->shape.scheme == SCHEME_MODULE
                     ? 0
                     : r->shape.pieces * ((r->shape.base + r->shape.bits + 7) / 8),
        .pieces = r->shape.pieces,
        .added = r->added,
        .unsure = r->unsure,
    };
    nodes_counts(r->nodes, &out->retries, &out->moved);
}
