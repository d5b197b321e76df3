/* script_calls.c - runs the scripts of a shared crawl in its shards.
 *
 * A server that cannot be reached in time, or answers with an error, ends the program:
 * everything sent before is safe there, and another worker goes on. */
#include "store_redis.h"

enum {
    PUSH_MOST = 300,  /* addresses in one script */
    MOST_WORDS = 4000 /* of one script */
};

unsigned shard_of(const char *origin, size_t len)
{
    return (unsigned)(seen_hash_seeded(0, origin, len) % SHARDS);
}

void shards_run(redis_state *s, request *r, size_t n)
{
    if (!nodes_run(s->ns, r, n))
        kit_die("%s: %s (what was done so far is safe)", s->u.host, nodes_reason());
}

void reply_check(const request *r)
{
    if (r->reply && r->reply->type == REDIS_REPLY_ERROR)
        kit_die("Redis: %s", r->reply->str);
}

const char *reply_text(const redisReply *r)
{
    if (!r || r->type != REDIS_REPLY_STRING || strlen(r->str) != r->len)
        kit_die("Redis: a reply is not text: does another program write to the keys of "
                "this "
                "crawl?");
    return r->str;
}

uint64_t reply_number(const redisReply *r, size_t i, size_t n)
{
    reply_array(r);
    if (r->elements != n || r->element[i]->type != REDIS_REPLY_INTEGER ||
        r->element[i]->integer < 0)
        kit_die("Redis: a reply is not a number");
    return (uint64_t)r->element[i]->integer;
}

void reply_array(const redisReply *r)
{
    if (r->type != REDIS_REPLY_ARRAY)
        kit_die("Redis: a reply is not a list");
}

void script_start(redis_state *s, request *r, unsigned shard, int script, size_t args)
{
    memset(r, 0, sizeof *r);
    r->slot = s->slot[shard];
    request_start(r, 4 + args);
    request_text(r, "EVALSHA");
    request_text(r, s->sha[script]);
    request_text(r, "1");
    request_text(r, s->prefix[shard]);
}

/* A server that does not know the script yet (a new owner of a slot) gets it, and is
 * asked again. */
void scripts_run(redis_state *s, request *r, size_t n, int script)
{
    if (!n)
        return;
    shards_run(s, r, n);
    for (size_t i = 0; i < n; i++) {
        redisReply *reply = r[i].reply;
        if (!reply || reply->type != REDIS_REPLY_ERROR ||
            strncmp(reply->str, "NOSCRIPT", 8))
            continue;
        request load = {.slot = r[i].slot}, again = {.slot = r[i].slot};
        request_words(&load, WORDS("SCRIPT", "LOAD", script_text[script]));
        shards_run(s, &load, 1);
        reply_check(&load);
        again.bytes = r[i].bytes;
        again.len = r[i].len;
        again.room = r[i].room;
        freeReplyObject(reply);
        r[i].reply = NULL;
        shards_run(s, &again, 1);
        r[i].reply = again.reply;
        requests_free(&load, 1);
    }
    for (size_t i = 0; i < n; i++)
        reply_check(&r[i]);
}

redisReply *shards_command(redis_state *s, request *r, const char *key, size_t n,
                           const char *const *word)
{
    memset(r, 0, sizeof *r);
    r->slot = slot_of(key, strlen(key));
    request_words(r, n, word);
    shards_run(s, r, 1);
    return r->reply;
}

void shards_open(redis_state *s)
{
    for (unsigned k = 0; k < SHARDS; k++) {
        snprintf(s->prefix[k], sizeof s->prefix[k], "seen:%s:{%s.%u}:", s->u.name,
                 s->u.name, k);
        s->slot[k] = slot_of(s->prefix[k], strlen(s->prefix[k]));
    }
    for (int i = 0; i < SCRIPTS; i++) {
        request r;
        redisReply *reply = shards_command(s, &r, s->prefix[0],
                                           WORDS("SCRIPT", "LOAD", script_text[i]));
        reply_check(&r);
        snprintf(s->sha[i], sizeof s->sha[i], "%s", reply_text(reply));
        requests_free(&r, 1);
    }
}

/* ---- outboxes -------------------------------------------------------------------- */

void box_add(redis_state *s, outbox *b, const void *p, size_t n)
{
    buf_varint(&b->words, n);
    buf_add(&b->words, p, n);
    b->count++;
    s->waiting++;
}

/* Keeps the numbers of the pages that the shard refused; it counts them from the FIRST
 * in its box. */
static void keep_refused(redis_state *s, const outbox *b, size_t first,
                         const redisReply *reply)
{
    const uint32_t *number = (const uint32_t *)b->pages.p + first;
    size_t pages = b->pages.len / sizeof *number - first;
    reply_array(reply);
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *e = reply->element[i];
        if (e->type != REDIS_REPLY_INTEGER || (uint64_t)e->integer >= pages)
            kit_die("Redis refuses a page that it was never sent");
        buf_add(&s->refused, number + e->integer, sizeof *number);
    }
}

void boxes_send(redis_state *s, outbox *boxes, int script, const char *const *head,
                size_t head_count, size_t step)
{
    size_t used[SHARDS] = {0}, sent[SHARDS] = {0}, first[SHARDS];
    unsigned of[SHARDS];
    for (;;) {
        request r[SHARDS];
        size_t n = 0;
        for (unsigned k = 0; k < SHARDS; k++) {
            outbox *b = &boxes[k];
            if (!b->count)
                continue;
            size_t most =
                script == SCRIPT_PUSH ? PUSH_MOST * step : MOST_WORDS / step * step;
            size_t now = b->count < most ? b->count : most;
            script_start(s, &r[n], k, script,
                         head_count + (script == SCRIPT_DONE) + now);
            for (size_t i = 0; i < head_count; i++)
                request_text(&r[n], head[i]);
            if (script == SCRIPT_DONE)
                request_number(&r[n], ++s->batch);
            of[n] = k;
            first[n] = sent[k];
            sent[k] += now / step;
            const uint8_t *p = (uint8_t *)b->words.p + used[k],
                          *end = (uint8_t *)b->words.p + b->words.len;
            for (size_t i = 0; i < now; i++) {
                uint64_t len = 0;
                read_varint(&p, end, &len);
                request_word(&r[n], p, len);
                p += len;
            }
            used[k] = (size_t)(p - (uint8_t *)b->words.p);
            b->count -= now;
            s->waiting -= now;
            if (!b->count)
                b->words.len = 0;
            n++;
        }
        if (!n)
            break;
        scripts_run(s, r, n, script);
        for (size_t i = 0; i < n && script == SCRIPT_DONE; i++)
            keep_refused(s, &boxes[of[i]], first[i], r[i].reply);
        requests_free(r, n);
    }
    for (unsigned k = 0; k < SHARDS; k++)
        boxes[k].pages.len = 0;
}

void boxes_copy(redis_state *s, const outbox *from, outbox *to)
{
    for (unsigned k = 0; k < SHARDS; k++) {
        to[k].words.len = 0;
        buf_add(&to[k].words, from[k].words.p, from[k].words.len);
        to[k].count = from[k].count;
        s->waiting += from[k].count;
    }
}
