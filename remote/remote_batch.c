/* remote_batch.c - turns batches of keys into commands, up to 512 keys in a round.
 *
 * A round has one command per piece, so the keys of one piece stay in order even if a
 * command is sent again. */
#include "remote_state.h"
#include <stdlib.h>
#include <string.h>

enum { ROUND = 512 };

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
        if (r->shape.scheme == SCHEME_MODULE)
            t->piece[i] = scheme_piece(
                &r->shape,
                seen_hasher_hash(&r->shape.first, keys[i].data, keys[i].len));
        else
            t->piece[i] = scheme_bits(&r->shape, keys[i], t->offset[i]);
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

/* Strings of other programs have no mark, so the script checks that the string
 * exists. */
static const char guarded[] =
    "if redis.call('EXISTS',KEYS[1])==0 then return redis.error_reply('SEENLOST') end "
    "return redis.call('BITFIELD',KEYS[1],unpack(ARGV))";

static void write_bits(seen_remote *r, request *q, const char *name, const round_t *t,
                       uint32_t from, uint32_t to, bool add)
{
    uint32_t k = r->shape.probes;
    size_t ops = (size_t)(to - from) * k, words = ops * (add ? 4 : 3);
    if (r->shape.scheme == SCHEME_OWN) {
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

/* True if GOT is an array of HEAD numbers followed by N that are 0 or 1. */
static bool are_bits(const redisReply *got, size_t head, size_t n)
{
    if (got->type != REDIS_REPLY_ARRAY || got->elements != head + n)
        return false;
    for (size_t i = 0; i < head + n; i++) {
        const redisReply *e = got->element[i];
        if (e->type != REDIS_REPLY_INTEGER ||
            (i >= head && e->integer != 0 && e->integer != 1))
            return false;
    }
    return true;
}

/* Reads whether all bits of each key of piece P were set. */
static int read_bits(seen_remote *r, const request *q, const round_t *t, uint32_t p,
                     bool *answer)
{
    const redisReply *got = q->reply;
    uint32_t k = r->shape.probes, from = t->first[p], to = t->first[p + 1];
    size_t head = r->shape.scheme == SCHEME_OWN;
    if (got->type == REDIS_REPLY_ERROR)
        return strstr(got->str, "SEENLOST")
                   ? remote_piece_lost(r, t->pieces[p])
                   : remote_fail(SEEN_EIO, "%s: %s", r->url.name, got->str);
    if (!are_bits(got, head, (size_t)(to - from) * k))
        return remote_bad_reply(r);
    if (head && got->element[0]->integer != (long long)r->mark)
        return remote_piece_lost(r, t->pieces[p]);
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
    if (there && there->reply->type == REDIS_REPLY_ERROR)
        got = there->reply;
    else if (there && there->reply->type != REDIS_REPLY_INTEGER)
        return remote_bad_reply(r);
    else if (there && !there->reply->integer)
        return remote_piece_lost(r, t->pieces[p]);
    if (got->type == REDIS_REPLY_ERROR)
        return strstr(got->str, "not found")
                   ? remote_piece_lost(r, t->pieces[p])
                   : remote_fail(SEEN_EIO, "%s: %s", r->url.name, got->str);
    if (got->type != REDIS_REPLY_ARRAY || got->elements < 1)
        return remote_bad_reply(r);
    const redisReply *last = got->element[got->elements - 1];
    if (last->type == REDIS_REPLY_ERROR)
        return remote_fail(SEEN_EFULL, "%s: %s", r->url.name, last->str);
    if (!are_bits(got, 0, n))
        return remote_bad_reply(r);
    for (uint32_t j = 0; j < n; j++)
        answer[t->at[from + j]] = (got->element[j]->integer == 1) != add;
    return SEEN_OK;
}

static int run_round(seen_remote *r, round_t *t, const seen_key *keys, size_t n,
                     bool add, bool *answer)
{
    bool module = r->shape.scheme == SCHEME_MODULE;
    char name[600];
    sort_round(r, t, keys, n);
    uint32_t m = t->npieces;
    for (uint32_t p = 0; p < m; p++) {
        request *q = &r->requests[p], *there = &r->requests[m + p];
        if (q->reply)
            freeReplyObject(q->reply);
        q->reply = NULL;
        q->unsure = false;
        q->ask = NULL;
        remote_piece_name(r, t->pieces[p], name, sizeof name);
        q->slot = slot_of(name, strlen(name));
        if (!module) {
            write_bits(r, q, name, t, t->first[p], t->first[p + 1], add);
            continue;
        }
        write_items(q, name, keys, t, t->first[p], t->first[p + 1], add);
        if (!add) { /* BF.MEXISTS answers no if the filter is missing */
            if (there->reply)
                freeReplyObject(there->reply);
            there->reply = NULL;
            there->ask = NULL;
            there->slot = q->slot;
            request_words(there, WORDS("EXISTS", name));
        }
    }
    if (!nodes_run(r->nodes, r->requests, module && !add ? 2 * (size_t)m : m))
        return remote_fail(SEEN_EIO, "%s", nodes_reason());
    for (uint32_t p = 0; p < m; p++) {
        request *q = &r->requests[p];
        int rc = module ? read_items(r, q, add ? NULL : &r->requests[m + p], t, p, add,
                                     answer)
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
        return remote_fail(SEEN_ENOMEM, "out of memory");
    /* Lua's unpack() takes at most 8000 arguments. */
    size_t most = ROUND;
    if (r->shape.scheme == SCHEME_MMH3 || r->shape.scheme == SCHEME_SCRAPY)
        most = 6000 / (4 * (size_t)r->shape.probes);
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
    /* ScrapyRedisBloomFilter never finds the empty text. */
    for (size_t i = 0; r->shape.scheme == SCHEME_SCRAPY && i < n; i++)
        found[i] &= keys[i].len > 0;
    return rc;
}
