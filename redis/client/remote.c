/* remote.c - the filter: its description in Redis, and batches of keys to commands.
 *
 * NAME is a hash that describes the filter; NAME:0, NAME:1 ... are its pieces. Every
 * piece begins with 64 bits of mark, which each command reads together with the bits it
 * asks for: a piece that was deleted or evicted has lost its mark, and that is an
 * error. Within a round there is one command a piece, so that keys of one piece stay in
 * order whatever is sent again. */
#include "remote.h"
#include "bit_scheme.h"
#include "nodes.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUND = 512 };

struct seen_remote {
    redis_url url;
    nodes *ns;
    bit_scheme s;
    uint32_t mark; /* of our pieces */
    uint64_t keys;
    double error;
    bool described; /* NAME is a description, pieces have names of their own */
    uint64_t added, unsure;
    request *r;     /* one a piece */
    uint32_t *used; /* keys of a round in each piece */
};

static _Thread_local char reason[700];

const char *seen_remote_reason(void)
{
    return reason;
}

__attribute__((format(printf, 2, 3))) static int fail(int code, const char *fmt, ...)
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

/* ---- single commands --------------------------------------------------------- */

/* One command of words on KEY; SEEN_OK with *OUT, or SEEN_EIO. */
static int command(seen_remote *r, const char *key, redisReply **out, size_t n,
                   const char *const *words)
{
    request q = {.slot = slot_of(key, strlen(key))};
    request_start(&q, n);
    for (size_t i = 0; i < n; i++)
        request_text(&q, words[i]);
    bool good = nodes_run(r->ns, &q, 1);
    *out = q.reply;
    q.reply = NULL;
    requests_free(&q, 1);
    if (!good)
        return fail(SEEN_EIO, "%s", nodes_reason());
    if ((*out)->type == REDIS_REPLY_ERROR) {
        fail(SEEN_EIO, "%s: %s", r->url.name, (*out)->str);
        freeReplyObject(*out);
        *out = NULL;
        return SEEN_EIO;
    }
    return SEEN_OK;
}

#define COMMAND(r, key, out, ...)                                                      \
    command(r, key, out, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),       \
            (const char *[]){__VA_ARGS__})

static void piece_name(const seen_remote *r, uint32_t piece, char *buf, size_t size)
{
    if (r->described)
        snprintf(buf, size, "%s:%u", r->url.name, piece);
    else
        snprintf(buf, size, "%s", r->url.name);
}

/* ---- the description --------------------------------------------------------- */

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
        return fail(SEEN_EFORMAT, "%s: is a hash, but not a filter", r->url.name);
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
        return fail(SEEN_EFORMAT, "%s: its description makes no sense", r->url.name);
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
        return fail(SEEN_ENOMEM, "out of memory");
    char name[600];
    uint64_t each = (uint64_t)ceil((double)r->keys / n +
                                   (n > 1 ? 4 * sqrt((double)r->keys / n) : 0));
    for (uint32_t i = 0; i < n; i++) {
        request *gone = &q[i], *make = &q[n + i];
        piece_name(r, i, name, sizeof name);
        gone->slot = make->slot = slot_of(name, strlen(name));
        request_start(gone, 2);
        request_text(gone, "UNLINK");
        request_text(gone, name);
        if (r->s.scheme == SCHEME_MODULE) {
            char error[40], capacity[24];
            snprintf(error, sizeof error, "%.17g", r->error);
            snprintf(capacity, sizeof capacity, "%llu", (unsigned long long)each);
            request_start(make, 4);
            request_text(make, "BF.RESERVE");
            request_text(make, name);
            request_text(make, error);
            request_text(make, capacity);
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
        rc = fail(SEEN_EIO, "%s", nodes_reason());
    for (uint32_t i = 0; i < n && rc == SEEN_OK; i++)
        if (q[n + i].reply->type == REDIS_REPLY_ERROR)
            rc = fail(SEEN_EIO, "%s: %s", r->url.name, q[n + i].reply->str);
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
    int rc = COMMAND(r, name, &got, "EVAL", script, "1", name, "seen", "1", "scheme",
                     r->s.scheme == SCHEME_MODULE ? "module" : "seen", "pieces", pieces,
                     "bits", bits, "probes", probes, "seed", seed, "mark", mark, "keys",
                     keys, "error", error, "ready", "0");
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
    rc = COMMAND(r, name, &got, "HSET", name, "ready", "1");
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
        rc = COMMAND(r, name, &got, "BF.RESERVE", name, error, capacity);
    } else {
        snprintf(last, sizeof last, "%llu", (unsigned long long)(r->s.bits - 1));
        rc = COMMAND(r, name, &got, "SETBIT", name, last, "0");
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
        return fail(SEEN_EINVAL, "%s: no filter can have these sizes", r->url.name);
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

/* Looks what NAME is, and makes it if it may. 1: look again. */
static int look(seen_remote *r, const seen_remote_spec *spec)
{
    const char *name = r->url.name;
    redisReply *got;
    int rc = COMMAND(r, name, &got, "TYPE", name);
    if (rc < 0)
        return rc;
    char type[32];
    snprintf(type, sizeof type, "%s", got->str);
    freeReplyObject(got);
    if (!strcmp(type, "none")) {
        if (!spec->make)
            return fail(SEEN_EKIND, "%s: there is no such filter on the server", name);
        return make(r, spec);
    }
    if (!strcmp(type, "hash") &&
        (r->url.scheme == SCHEME_OWN || r->url.scheme == SCHEME_MODULE)) {
        if ((rc = COMMAND(r, name, &got, "HGETALL", name)) < 0)
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
    return fail(SEEN_EFORMAT, "%s: holds a %s, which is no filter of this scheme", name,
                type);
}

int seen_remote_open(const char *url, const seen_remote_spec *spec, seen_remote **out)
{
    static const seen_remote_spec none;
    *out = NULL;
    spec = spec ? spec : &none;
    seen_remote *r = calloc(1, sizeof *r);
    if (!r)
        return fail(SEEN_ENOMEM, "out of memory");
    const char *bad = redis_url_parse(url, &r->url);
    if (bad) {
        free(r);
        return fail(SEEN_EINVAL, "%s", bad);
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
        return fail(SEEN_EIO, "%s", nodes_reason());
    }
    /* Another process may be making it right now: it gets the time that we have. */
    int rc = look(r, spec);
    struct timespec pause = {0, 20000000};
    for (double waited = 0; rc == 1 && waited < r->url.timeout; waited += 0.02) {
        nanosleep(&pause, NULL);
        rc = look(r, spec);
    }
    if (rc == 1)
        rc = fail(SEEN_EDAMAGED,
                  "%s: was never finished; remove it (UNLINK) and make it again",
                  r->url.name);
    if (rc == SEEN_OK) {
        r->r = calloc(2 * (size_t)r->s.pieces, sizeof *r->r);
        r->used = calloc(r->s.pieces, sizeof *r->used);
        if (!r->r || !r->used)
            rc = fail(SEEN_ENOMEM, "out of memory");
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

/* ---- batches ----------------------------------------------------------------- */

/* One round: for each piece that has keys, their numbers in order. */
typedef struct round_t {
    uint32_t piece[ROUND];              /* of key i */
    uint64_t offset[ROUND][MAX_PROBES]; /* its bits */
    uint32_t at[ROUND];                 /* keys, sorted by piece */
    uint32_t pieces[ROUND], first[ROUND + 1], npieces;
} round_t;

static void sort_round(seen_remote *r, round_t *t, const seen_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r->s.scheme == SCHEME_MODULE)
            t->piece[i] = (uint32_t)(((unsigned __int128)seen_hash_seeded(
                                          r->s.seed, keys[i].data, keys[i].len) *
                                      r->s.pieces) >>
                                     64);
        else
            t->piece[i] = scheme_bits(&r->s, keys[i], t->offset[i]);
        r->used[t->piece[i]]++;
    }
    /* Counting sort: stable, so equal keys stay in order. */
    t->npieces = 0;
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t p = t->piece[i], c = r->used[p];
        if (c && !(c & 0x80000000u)) {
            t->pieces[t->npieces] = p;
            t->first[t->npieces++] = sum;
            r->used[p] = 0x80000000u | sum;
            sum += c;
        }
        t->at[r->used[p]++ & 0x7fffffffu] = (uint32_t)i;
    }
    t->first[t->npieces] = sum;
    for (uint32_t j = 0; j < t->npieces; j++)
        r->used[t->pieces[j]] = 0;
}

/* For the strings of other programs, which have no mark: the string must be there. */
static const char guarded[] =
    "if redis.call('EXISTS',KEYS[1])==0 then return redis.error_reply('SEENLOST') end "
    "return redis.call('BITFIELD',KEYS[1],unpack(ARGV))";

static void write_bits(seen_remote *r, request *q, const char *name, const round_t *t,
                       uint32_t from, uint32_t to, bool add)
{
    uint32_t k = r->s.probes;
    size_t ops = (size_t)(to - from) * k, words = ops * (add ? 4 : 3);
    if (r->s.scheme == SCHEME_OWN) {
        request_start(q, 2 + 3 + words);
        request_text(q, add ? "BITFIELD" : "BITFIELD_RO");
        request_text(q, name);
        request_text(q, "GET");
        request_text(q, "u32");
        request_text(q, "0");
    } else {
        request_start(q, 4 + words);
        request_text(q, "EVAL");
        request_text(q, guarded);
        request_text(q, "1");
        request_text(q, name);
    }
    for (uint32_t j = from; j < to; j++)
        for (uint32_t i = 0; i < k; i++) {
            request_text(q, add ? "SET" : "GET");
            request_text(q, "u1");
            request_number(q, t->offset[t->at[j]][i]);
            if (add)
                request_text(q, "1");
        }
}

static int lost(const seen_remote *r, uint32_t piece)
{
    if (!r->described)
        return fail(SEEN_EDAMAGED,
                    "%s: is gone: deleted, or evicted for lack of memory", r->url.name);
    return fail(SEEN_EDAMAGED,
                "%s: piece %u is gone: deleted, or evicted for lack of memory; what it "
                "knew is lost, so the filter must be made anew",
                r->url.name, piece);
}

/* Whether all bits of key number J of the reply were set; false for the wrong shape. */
static int read_bits(seen_remote *r, const request *q, const round_t *t, uint32_t p,
                     bool *answer)
{
    const redisReply *got = q->reply;
    uint32_t k = r->s.probes, from = t->first[p], to = t->first[p + 1];
    size_t head = r->s.scheme == SCHEME_OWN;
    if (got->type == REDIS_REPLY_ERROR)
        return strstr(got->str, "SEENLOST")
                   ? lost(r, t->pieces[p])
                   : fail(SEEN_EIO, "%s: %s", r->url.name, got->str);
    if (got->type != REDIS_REPLY_ARRAY ||
        got->elements != head + (size_t)(to - from) * k)
        return fail(SEEN_EIO, "%s: the server gave a strange answer", r->url.name);
    if (head && (uint32_t)got->element[0]->integer != r->mark)
        return lost(r, t->pieces[p]);
    redisReply **bit = got->element + head;
    for (uint32_t j = from; j < to; j++) {
        bool all = true;
        for (uint32_t i = 0; i < k; i++)
            all &= (*bit++)->integer == 1;
        answer[t->at[j]] = all;
    }
    return SEEN_OK;
}

static void write_items(request *q, const char *name, const seen_key *keys,
                        const round_t *t, uint32_t from, uint32_t to, bool add)
{
    request_start(q, (add ? 4 : 2) + (size_t)(to - from));
    request_text(q, add ? "BF.INSERT" : "BF.MEXISTS");
    request_text(q, name);
    if (add) {
        request_text(q, "NOCREATE");
        request_text(q, "ITEMS");
    }
    for (uint32_t j = from; j < to; j++)
        request_word(q, keys[t->at[j]].data, keys[t->at[j]].len);
}

static int read_items(seen_remote *r, const request *q, const request *there,
                      const round_t *t, uint32_t p, bool add, bool *answer)
{
    const redisReply *got = q->reply;
    uint32_t from = t->first[p], n = t->first[p + 1] - from;
    if (there && there->reply->type == REDIS_REPLY_INTEGER && !there->reply->integer)
        return lost(r, t->pieces[p]);
    if (got->type == REDIS_REPLY_ERROR)
        return strstr(got->str, "not found")
                   ? lost(r, t->pieces[p])
                   : fail(SEEN_EIO, "%s: %s", r->url.name, got->str);
    if (got->type != REDIS_REPLY_ARRAY || got->elements < 1)
        return fail(SEEN_EIO, "%s: the server gave a strange answer", r->url.name);
    const redisReply *last = got->element[got->elements - 1];
    if (last->type == REDIS_REPLY_ERROR || got->elements != n)
        return fail(SEEN_EFULL, "%s: %s", r->url.name,
                    last->type == REDIS_REPLY_ERROR ? last->str : "too few answers");
    for (uint32_t j = 0; j < n; j++)
        answer[t->at[from + j]] = (got->element[j]->integer == 1) != add;
    return SEEN_OK;
}

static int run_round(seen_remote *r, round_t *t, const seen_key *keys, size_t n,
                     bool add, bool *answer)
{
    bool module = r->s.scheme == SCHEME_MODULE;
    char name[600];
    sort_round(r, t, keys, n);
    uint32_t m = t->npieces;
    for (uint32_t p = 0; p < m; p++) {
        request *q = &r->r[p], *there = &r->r[m + p];
        if (q->reply)
            freeReplyObject(q->reply);
        q->reply = NULL;
        q->unsure = false;
        q->ask = NULL;
        piece_name(r, t->pieces[p], name, sizeof name);
        q->slot = slot_of(name, strlen(name));
        if (!module) {
            write_bits(r, q, name, t, t->first[p], t->first[p + 1], add);
            continue;
        }
        write_items(q, name, keys, t, t->first[p], t->first[p + 1], add);
        if (!add) { /* BF.MEXISTS of a missing filter is a plain no */
            if (there->reply)
                freeReplyObject(there->reply);
            there->reply = NULL;
            there->ask = NULL;
            there->slot = q->slot;
            request_start(there, 2);
            request_text(there, "EXISTS");
            request_text(there, name);
        }
    }
    if (!nodes_run(r->ns, r->r, module && !add ? 2 * (size_t)m : m))
        return fail(SEEN_EIO, "%s", nodes_reason());
    for (uint32_t p = 0; p < m; p++) {
        request *q = &r->r[p];
        int rc = module ? read_items(r, q, add ? NULL : &r->r[m + p], t, p, add, answer)
                        : read_bits(r, q, t, p, answer);
        if (rc != SEEN_OK)
            return rc;
        for (uint32_t j = t->first[p]; add && j < t->first[p + 1]; j++) {
            bool *dup = &answer[t->at[j]];
            if (*dup && q->unsure) {
                *dup = false;
                r->unsure++;
            }
            r->added += !*dup;
        }
    }
    return SEEN_OK;
}

static int run(seen_remote *r, const seen_key *keys, size_t n, bool add, bool *answer)
{
    round_t *t = malloc(sizeof *t);
    if (!t)
        return fail(SEEN_ENOMEM, "out of memory");
    /* A script's arguments go over a stack of 8000 words. */
    size_t most = ROUND;
    if (r->s.scheme == SCHEME_MMH3 || r->s.scheme == SCHEME_SCRAPY)
        most = 6000 / (4 * (size_t)r->s.probes);
    int rc = SEEN_OK;
    for (size_t at = 0; at < n && rc == SEEN_OK; at += most)
        rc =
            run_round(r, t, keys + at, n - at < most ? n - at : most, add, answer + at);
    free(t);
    return rc;
}

int seen_remote_add(seen_remote *r, const seen_key *keys, size_t n, bool *dup)
{
    return run(r, keys, n, true, dup);
}

int seen_remote_has(seen_remote *r, const seen_key *keys, size_t n, bool *found)
{
    int rc = run(r, keys, n, false, found);
    /* ScrapyRedisBloomFilter says no to the empty text, whatever was added. */
    for (size_t i = 0; r->s.scheme == SCHEME_SCRAPY && i < n; i++)
        found[i] &= keys[i].len > 0;
    return rc;
}

/* ---- the rest ---------------------------------------------------------------- */

int seen_remote_remove(seen_remote *r)
{
    redisReply *got;
    int rc = COMMAND(r, r->url.name, &got, "UNLINK", r->url.name);
    if (rc < 0)
        return rc;
    freeReplyObject(got);
    char name[600];
    for (uint32_t i = 0; r->described && i < r->s.pieces; i++) {
        piece_name(r, i, name, sizeof name);
        if ((rc = COMMAND(r, name, &got, "UNLINK", name)) < 0)
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
        piece_name(r, i, name, sizeof name);
        int rc = own ? COMMAND(r, name, &got, "BITFIELD_RO", name, "GET", "u32", "0")
                     : COMMAND(r, name, &got, "EXISTS", name);
        if (rc < 0)
            return rc;
        bool here = own ? got->type == REDIS_REPLY_ARRAY && got->elements == 1 &&
                              (uint32_t)got->element[0]->integer == r->mark
                        : got->integer == 1;
        freeReplyObject(got);
        if (!here)
            return lost(r, i);
    }
    if (r->s.scheme == SCHEME_MODULE)
        return SEEN_OK;
    uint64_t from = r->s.base / 8, bytes = r->s.bits / 8;
    bytes = bytes < 1 << 20 ? bytes : 1 << 20;
    if (!bytes)
        return SEEN_OK;
    snprintf(last, sizeof last, "%llu", (unsigned long long)(from + bytes - 1));
    piece_name(r, 0, name, sizeof name);
    redisReply *got;
    int rc = COMMAND(r, name, &got, "BITCOUNT", name, own ? "8" : "0", last);
    if (rc < 0)
        return rc;
    *fill = (double)got->integer / (8.0 * (double)bytes);
    *error_now = pow(*fill, r->s.probes);
    freeReplyObject(got);
    return SEEN_OK;
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
