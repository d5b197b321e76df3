/* shared_build.c - a new filter for all machines, while all of them write.
 *
 * Announce it (from now on writers everywhere add to it), get the keys being written,
 * scan a snapshot into a bitmap of our own, upload that, and publish: one script joins
 * the two bitmaps and swaps the filters. The order is that of rebuild.c. */
#include "shared_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOCK_MS = 15000, RENEW_MS = 1000, CHUNK = 1 << 20, LOOK_EVERY = 1024 };

typedef struct shared_build {
    seen_guard *g;
    shared_server *s; /* of its own: it may be silent for long */
    shared_shape shape;
    uint8_t *bitmap; /* as Redis counts: bit 0 is the highest of byte 0 */
    char token[24];
    uint64_t keys, room, deleted;
    seen_hasher hasher; /* of the state of this epoch */
    char epoch[20];
    int64_t renewed;
} shared_build;

static void add_hash(shared_build *b, uint64_t hash)
{
    for (uint32_t i = 0; i < b->shape.probes; i++) {
        uint64_t bit = sn_shared_bit(&b->shape, hash, i);
        b->bitmap[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
    }
}

/* The words that all steps begin with. */
static shared_words step(const shared_build *b, enum shared_script script)
{
    shared_words w = {0};
    sn_words_script(&w, b->g->shared, b->s, script, 1);
    sn_words_text(&w, b->s->run);
    sn_words_text(&w, b->token);
    sn_words_text(&w, b->shape.id);
    return w;
}

/* 0 if the reply to W says 'K', SCAN_GIVEN_UP if it says that another builder or a
 * restart came between. */
static int send_step(shared_build *b, shared_words *w)
{
    redisReply *r = sn_shared_send(b->s, w);
    int rc = !r ? SEEN_EIO : sn_reply_says(r) == 'K' ? 0 : SCAN_GIVEN_UP;
    if (r)
        freeReplyObject(r);
    return rc;
}

/* Keeps the lock for MS more; 0: gives it up, and the filter that was announced. */
static int renew(shared_build *b, uint64_t ms)
{
    shared_words w = step(b, SCRIPT_RENEW);
    sn_words_number(&w, ms);
    b->renewed = sn_guard_now_ms();
    return send_step(b, &w);
}

static int renew_in_time(shared_build *b)
{
    return sn_guard_now_ms() - b->renewed > RENEW_MS ? renew(b, LOCK_MS) : 0;
}

static int add_scanned(void *arg, const void *key, size_t len)
{
    shared_build *b = arg;
    add_hash(b, seen_hasher_hash(&b->hasher, key, len));
    if (++b->keys > b->room)
        return SCAN_TOO_SMALL;
    if (b->g->stop)
        return SCAN_GIVEN_UP;
    return b->keys % LOOK_EVERY == 0 ? renew_in_time(b) : 0;
}

/* 0 and the keys being written are in the bitmap; 1: another is building; 2: not now;
 * or a negative code. */
static int announce(shared_build *b, bool asked)
{
    char shape[40];
    snprintf(shape, sizeof shape, "%llu:%u", (unsigned long long)b->shape.bits,
             b->shape.probes);
    while (!b->g->stop) {
        shared_words w = step(b, SCRIPT_ANNOUNCE);
        sn_words_text(&w, b->epoch);
        sn_words_number(&w, sn_shared_bytes(&b->shape));
        sn_words_text(&w, shape);
        sn_words_number(&w, asked);
        sn_words_number(&w, LOCK_MS);
        redisReply *r = sn_shared_send(b->s, &w);
        char says = r ? sn_reply_says(r) : 0;
        long wait = r ? strtol(sn_reply_text(r, 1), NULL, 10) : 0;
        if (says == 'K') {
            b->deleted = strtoull(sn_reply_text(r, 1), NULL, 10);
            for (size_t i = 2; i < r->elements; i++)
                add_hash(b, strtoull(sn_reply_text(r, i), NULL, 16));
        }
        if (r)
            freeReplyObject(r);
        if (says != 'W')
            return says == 'K'   ? 0
                   : says == 'B' ? 1
                   : says == 'N' ? SCAN_GIVEN_UP
                   : says == 'S' ? 2
                                 : SEEN_EIO;
        usleep(wait > 200 ? 200000 : 1000 * (useconds_t)(wait > 0 ? wait : 1));
    }
    return SCAN_GIVEN_UP;
}

/* COMMAND on the part that holds the bitmap, with a number and, if LEN, bytes. */
static int on_part(shared_build *b, const char *command, uint64_t number,
                   const uint8_t *p, size_t len)
{
    shared_words w = {0};
    sn_words_text(&w, command);
    sn_words_key(&w, b->g->shared, "part", b->shape.id, NULL, 0);
    sn_words_number(&w, number);
    if (len)
        sn_words_add(&w, p, len);
    redisReply *r = sn_shared_send(b->s, &w);
    if (r)
        freeReplyObject(r);
    return r ? 0 : SEEN_EIO;
}

/* Uploads the parts of the bitmap that are not empty. The upload expires if we die. */
static int upload(shared_build *b)
{
    size_t all = sn_shared_bytes(&b->shape);
    static const uint8_t none[CHUNK];
    int rc = 0;
    b->bitmap[all - 1] = 1;
    for (size_t at = 0; at < all && rc == 0; at += CHUNK) {
        size_t n = all - at < CHUNK ? all - at : CHUNK;
        if (memcmp(b->bitmap + at, none, n) == 0)
            continue;
        rc = on_part(b, "SETRANGE", at, b->bitmap + at, n);
        if (rc == 0)
            rc = on_part(b, "PEXPIRE", 10 * LOCK_MS, NULL, 0);
        if (rc == 0)
            rc = renew_in_time(b);
    }
    return rc;
}

static int publish(shared_build *b)
{
    shared_words w = step(b, SCRIPT_PUBLISH);
    sn_words_number(&w, sn_shared_bytes(&b->shape));
    sn_words_number(&w, b->keys);
    sn_words_number(&w, b->room);
    sn_words_number(&w, b->deleted);
    return send_step(b, &w);
}

/* One try with room for ROOM keys: 0, SCAN_*, 1 if another is building, 2 if the state
 * changed, or an error. */
static int build_once(shared_build *b, bool asked)
{
    int rc = sn_shared_size(b->room, b->g->config.error, &b->shape);
    if (rc < 0)
        return rc;
    snprintf(b->shape.id, sizeof b->shape.id, "%016llx",
             (unsigned long long)sn_shared_token(b->g->shared));
    b->bitmap = calloc(1, sn_shared_bytes(&b->shape));
    if (!b->bitmap)
        return sn_guard_fail(SEEN_ENOMEM, "no memory for a filter");
    b->keys = 0;
    rc = announce(b, asked);
    bool announced = rc == 0;
    b->renewed = sn_guard_now_ms();
    if (rc == 0)
        rc = b->g->config.db.scan(b->g->config.db.ctx, add_scanned, b);
    if (rc == 0)
        rc = upload(b);
    if (rc == 0)
        rc = publish(b);
    if (announced && rc != 0)
        renew(b, 0);
    free(b->bitmap);
    return rc;
}

int sn_shared_build(seen_guard *g, bool asked)
{
    shared_backend *h = g->shared;
    shared_view v;
    shared_build b = {.g = g, .s = sn_shared_connect(h, 30)};
    int rc = b.s ? 0 : SEEN_EIO;
    snprintf(b.token, sizeof b.token, "%016llx",
             (unsigned long long)sn_shared_token(h));
    for (int tries = 0; rc == 0 || rc == SCAN_TOO_SMALL || (rc == 2 && tries < 4);
         tries++) {
        bool larger = rc == SCAN_TOO_SMALL;
        rc = sn_shared_look(h, b.s, true, &v);
        if (rc == 0 && v.tag != h->tag)
            rc = sn_guard_fail(SEEN_EMISMATCH,
                               "%s in Redis belongs to another database", h->state);
        if (rc < 0)
            break;
        uint64_t known = v.built + v.added;
        known -= v.deleted < known ? v.deleted : known;
        b.room = larger ? sn_guard_more(b.room) : sn_guard_room(g, known);
        b.hasher = v.hasher;
        memcpy(b.epoch, v.epoch, sizeof b.epoch);
        rc = build_once(&b, asked);
        if (rc == 0)
            break;
    }
    if (b.s)
        sn_shared_disconnect(b.s);
    return rc == 1 ? 0 : sn_guard_built(g, rc);
}
