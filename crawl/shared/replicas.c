/* replicas.c - --wait: waits until replicas have what was sent. */
#include "store_redis.h"
#include "seen.h"

/* Finds the server of each shard in CLUSTER SLOTS. WAIT is per server, so shards of
 * one server wait once. */
static void find_owners(redis_state *s)
{
    request r = {.slot = s->slot[0]};
    request_words(&r, WORDS("CLUSTER", "SLOTS"));
    shards_run(s, &r, 1);
    memset(s->owner, 0, sizeof s->owner); /* no cluster: all are one server's */
    for (size_t i = 0; r.reply->type == REDIS_REPLY_ARRAY && i < r.reply->elements;
         i++) {
        const redisReply *row = r.reply->element[i];
        if (row->elements < 3 || row->element[2]->elements < 3)
            continue;
        const char *id = reply_text(row->element[2]->element[2]);
        for (unsigned k = 0; k < SHARDS; k++)
            if (s->slot[k] >= row->element[0]->integer &&
                s->slot[k] <= row->element[1]->integer)
                s->owner[k] = seen_hash_seeded(0, id, strlen(id));
    }
    requests_free(&r, 1);
}

bool replicas_wait(schedule *q, const bool touched[SHARDS])
{
    redis_state *s = state(q);
    request r[SHARDS];
    unsigned of[SHARDS];
    size_t n = 0;
    char count[16];
    bool good = true;
    if (!q->conf->wait_replicas)
        return true;
    if (q->now - s->owners_at >= 5000 || !s->owners_at) {
        s->owners_at = q->now;
        find_owners(s);
    }
    snprintf(count, sizeof count, "%u", q->conf->wait_replicas);
    for (unsigned k = 0; k < SHARDS; k++) {
        bool known = !touched[k] || s->alone_until[k] > q->now;
        for (size_t i = 0; i < n && !known; i++)
            known = s->owner[of[i]] == s->owner[k];
        if (known)
            continue;
        of[n] = k;
        r[n] = (request){.slot = s->slot[k]};
        request_words(&r[n++], WORDS("WAIT", count, "1000"));
    }
    if (n)
        shards_run(s, r, n);
    for (size_t i = 0; i < n; i++) {
        reply_check(&r[i]);
        if (r[i].reply->integer >= q->conf->wait_replicas)
            continue;
        good = false;
        s->owners_at = 0;
        for (unsigned k = 0; k < SHARDS; k++)
            if (s->owner[k] == s->owner[of[i]])
                s->alone_until[k] = loop_now() + 10000;
        if (!s->warned)
            kit_warn("only %lld of %s replicas have what was done", r[i].reply->integer,
                     count);
        s->warned = true;
    }
    requests_free(r, n);
    return good;
}
