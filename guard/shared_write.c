/* shared_write.c - writes in the shared backend: a key is marked, in the filter and
 * confirmed before the commit, or the write is refused. */
#include "shared_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct shared_write {
    seen_guard_write base;
    uint64_t token;
    size_t n;
    struct shared_key {
        char *key;
        size_t len;
        uint64_t hash;
    } at[];
} shared_write;

static void free_write(shared_write *w)
{
    for (size_t i = 0; i < w->n; i++)
        free(w->at[i].key);
    free(w);
}

static shared_write *copy_keys(seen_guard *g, const seen_key *keys, size_t n)
{
    shared_write *w = calloc(1, sizeof *w + n * sizeof *w->at);
    if (!w)
        return NULL;
    w->base.g = g;
    w->token = sn_shared_token(g->shared);
    for (; w->n < n; w->n++) {
        struct shared_key *k = w->at + w->n;
        k->len = keys[w->n].len;
        k->key = malloc(k->len + 1);
        if (!k->key) {
            free_write(w);
            return NULL;
        }
        memcpy(k->key, keys[w->n].data, k->len);
    }
    return w;
}

static void add_token(shared_words *w, uint64_t token)
{
    char text[24];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)token);
    sn_words_text(w, text);
}

/* Marks the keys and adds them to both filters of the view. */
static redisReply *send_begin(shared_backend *h, shared_server *s, const shared_view *v,
                              shared_write *w, bool add)
{
    shared_words words = {0};
    uint32_t live = add && v->live.id[0] ? v->live.probes : 0;
    uint32_t next = add && v->next.id[0] ? v->next.probes : 0;
    sn_words_script(&words, h, s, SCRIPT_BEGIN, 3);
    sn_words_key(&words, h, "bits", v->live.id, NULL, 0);
    sn_words_key(&words, h, "bits", v->next.id, NULL, 0);
    sn_words_text(&words, s->run);
    sn_words_text(&words, v->live.id);
    sn_words_text(&words, v->next.id);
    sn_words_text(&words, v->epoch);
    add_token(&words, w->token);
    sn_words_number(&words, sn_shared_bytes(&v->live));
    sn_words_number(&words, sn_shared_bytes(&v->next));
    sn_words_number(&words, live);
    sn_words_number(&words, next);
    sn_words_number(&words, w->n);
    for (size_t i = 0; i < w->n; i++) {
        char mark[24];
        struct shared_key *k = w->at + i;
        k->hash = seen_hasher_hash(&v->hasher, k->key, k->len);
        sn_shared_mark(mark, k->hash);
        sn_words_text(&words, mark);
        for (uint32_t p = 0; p < live; p++)
            sn_words_number(&words, sn_shared_bit(&v->live, k->hash, p));
        for (uint32_t p = 0; p < next; p++)
            sn_words_number(&words, sn_shared_bit(&v->next, k->hash, p));
    }
    return sn_shared_send(s, &words);
}

static redisReply *send_end(shared_backend *h, shared_server *s, const shared_write *w,
                            const char *outcome, uint64_t deleted)
{
    shared_words words = {0};
    sn_words_script(&words, h, s, SCRIPT_END, 1);
    add_token(&words, w->token);
    sn_words_text(&words, outcome);
    sn_words_number(&words, deleted);
    sn_words_number(&words, w->n);
    for (size_t i = 0; i < w->n; i++) {
        char mark[24];
        sn_shared_mark(mark, w->at[i].hash);
        sn_words_text(&words, mark);
        sn_words_add(&words, w->at[i].key, w->at[i].len);
    }
    return sn_shared_send(s, &words);
}

/* Tells the server how a write ended. If that fails, its keys stay marked until an hour
 * after the lease ends; until then the cache is not trusted for them. */
static bool tell(shared_backend *h, const shared_write *w, const char *outcome,
                 uint64_t deleted)
{
    for (int tries = 0; tries < 2; tries++) {
        shared_server *s = sn_pool_take(&h->pool);
        if (!s)
            return false;
        redisReply *r = send_end(h, s, w, outcome, deleted);
        sn_pool_give(&h->pool, s, !r);
        if (r) {
            freeReplyObject(r);
            return true;
        }
    }
    return false;
}

/* One try over S: 0, a negative code, or 1 if it must be tried again. */
static int begin_once(shared_backend *h, shared_server *s, shared_write *w, bool add,
                      bool fresh)
{
    shared_view v;
    int rc = sn_shared_look(h, s, fresh, &v);
    if (rc < 0)
        return rc;
    if (v.tag != h->tag)
        return sn_guard_fail(SEEN_EMISMATCH, "%s in Redis belongs to another database",
                             h->state);
    redisReply *r = send_begin(h, s, &v, w, add);
    char says = r ? sn_reply_says(r) : 0;
    long wait = r ? strtol(sn_reply_text(r, 1), NULL, 10) : 0;
    if (r)
        freeReplyObject(r);
    if (says == 'K')
        return sn_shared_wait(h, s);
    if (says == 'C') /* a new master that nobody has confirmed yet */
        return sn_shared_confirm(h, s) < 0 ? SEEN_EIO : 1;
    /* The old master may refuse keys a little longer. */
    if (says == 'W')
        usleep(wait > 0 && wait < 60000 ? (useconds_t)wait * 1000 : 1000);
    return says == 'S' || says == 'W' ? 1 : SEEN_EIO;
}

int sn_shared_begin(seen_guard *g, const seen_key *keys, size_t n, bool add,
                    seen_guard_write **out)
{
    shared_backend *h = g->shared;
    *out = NULL;
    shared_write *w = copy_keys(g, keys, n);
    if (!w)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    int rc = 1;
    for (int tries = 0; tries < 8 && rc > 0; tries++) {
        int64_t start = sn_guard_now_ms();
        shared_server *s = sn_pool_take_or(&h->pool, &rc);
        if (!s)
            break;
        rc = begin_once(h, s, w, add, tries > 0);
        /* The lease runs since the mark; most of it must be left for the commit. */
        if (rc == 0 && sn_guard_now_ms() - start > h->write_lease_ms / 4)
            rc = sn_guard_fail(SEEN_EIO, "redis: too slow: nothing was written");
        /* An idle connection may have broken long ago: a second one shows whether. */
        bool broken = rc < 0;
        if (broken && tries == 0)
            rc = 1;
        sn_pool_give(&h->pool, s, broken);
    }
    if (rc != 0) {
        if (n > 0 && w->at[0].hash) /* it was sent */
            tell(h, w, "aborted", 0);
        free_write(w);
        return rc < 0 ? rc
                      : sn_guard_fail(SEEN_EIO, "redis: the filter keeps changing");
    }
    g->count.writes++;
    *out = &w->base;
    return 0;
}

void sn_shared_end(seen_guard_write *base, int outcome, uint64_t deleted)
{
    shared_write *w = (shared_write *)base;
    seen_guard *g = base->g;
    if (!tell(g->shared, w,
              outcome == SEEN_GUARD_COMMITTED ? "committed"
              : outcome == SEEN_GUARD_ABORTED ? "aborted"
                                              : "unknown",
              deleted))
        g->count.cache_errors++;
    free_write(w);
}
