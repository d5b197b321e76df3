/* join.c - makes this process a worker of a shared crawl, or its first one. */
#include "store_redis.h"
#include "seed.h"

#include <errno.h>

/* A number of 64 bits in decimal: ends the program if it is not one. */
static uint64_t reply_word(const redisReply *r)
{
    const char *text = reply_text(r);
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    uint64_t n = strtoull(text, NULL, 10);
    if (!digits || text[digits] || errno)
        kit_die("Redis: the description of the crawl is damaged: '%s' is not a seed",
                text);
    return n;
}

/* Version 2 hashes with a secret of two words; 1, which earlier programs made and know,
 * with XXH3 and one. */
static void read_hasher(redis_state *s, const char *version, const redisReply *low,
                        const redisReply *high, const char *meta)
{
    if (!strcmp(version, "2"))
        seen_hasher_init(&s->hasher, SEEN_HASH_KEYED, reply_word(low),
                         reply_word(high));
    else if (!strcmp(version, "1"))
        seen_hasher_init(&s->hasher, SEEN_HASH_XXH3, reply_word(low), 0);
    else
        kit_die("%s in Redis is not a crawl of this version", meta);
}

/* The first worker decides how the crawl remembers; the others read it. */
static void agree(schedule *q, redis_state *s, const char *meta)
{
    /* All in one step, and only if there is nothing. */
    static const char script[] =
        "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], "
        "'version', 2, 'mode', ARGV[1], 'cap', ARGV[2], 'err', ARGV[3], "
        "'seed', ARGV[4], 'seed_high', ARGV[5]) end "
        "return redis.call('HMGET', KEYS[1], 'mode', 'cap', 'err', 'seed', "
        "'seed_high', "
        "'version')";
    request r;
    char seed[32], high[32];
    kit_secret secret = kit_new_secret();
    const char *mode = q->conf->exact ? "set" : "bitmap";
    if (!q->conf->exact) {
        redisReply *info =
            shards_command(s, &r, meta, WORDS("COMMAND", "INFO", "BF.INSERT"));
        if (info && info->type == REDIS_REPLY_ARRAY && info->elements == 1 &&
            info->element[0]->type == REDIS_REPLY_ARRAY && info->element[0]->elements)
            mode = "module";
        requests_free(&r, 1);
    }
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)secret.low);
    snprintf(high, sizeof high, "%llu", (unsigned long long)secret.high);
    snprintf(s->cap, sizeof s->cap, "%llu",
             (unsigned long long)(q->conf->expect / SHARDS +
                                  q->conf->expect / 8 / SHARDS + 64));
    snprintf(s->err, sizeof s->err, "%.17g", q->conf->error);
    redisReply *reply = shards_command(
        s, &r, meta,
        WORDS("EVAL", script, "1", meta, mode, s->cap, s->err, seed, high));
    reply_check(&r);
    if (reply->elements != 6 || reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[5]->type != REDIS_REPLY_STRING)
        kit_die("%s in Redis is not a crawl of this version", meta);
    snprintf(s->mode, sizeof s->mode, "%s", reply->element[0]->str);
    snprintf(s->cap, sizeof s->cap, "%s", reply_text(reply->element[1]));
    snprintf(s->err, sizeof s->err, "%s", reply_text(reply->element[2]));
    read_hasher(s, reply->element[5]->str, reply->element[3], reply->element[4], meta);
    q->conf->error = strtod(s->err, NULL);
    q->conf->exact = !strcmp(s->mode, "set");
    requests_free(&r, 1);
}

/* The seeds are in Redis, too, so that workers without any know the scope. */
static void share_seeds(schedule *q, redis_state *s, const char *key)
{
    request r;
    for (size_t i = 0; i < q->conf->seeds.n; i++) {
        shards_command(s, &r, key, WORDS("SADD", key, q->conf->seeds.p[i]));
        reply_check(&r);
        requests_free(&r, 1);
    }
    redisReply *reply = shards_command(s, &r, key, WORDS("SMEMBERS", key));
    reply_check(&r);
    if (!reply->elements)
        kit_die("the crawl %s has not begun: give the first worker a URL", s->u.name);
    q->conf->seeds.n = 0;
    q->conf->seeds.p =
        kit_grow(q->conf->seeds.p, reply->elements, sizeof *q->conf->seeds.p);
    for (size_t i = 0; i < reply->elements; i++)
        q->conf->seeds.p[q->conf->seeds.n++] = kit_copy(reply_text(reply->element[i]));
    requests_free(&r, 1);
}

void join_crawl(schedule *q)
{
    redis_state *s = state(q);
    char meta[700], key[700];
    snprintf(meta, sizeof meta, "seen:%s:crawl", s->u.name);
    agree(q, s, meta);
    snprintf(key, sizeof key, "seen:%s:seeds", s->u.name);
    share_seeds(q, s, key);
}
