/* shared_server.c - connections to whichever server is the master, and scripts run
 * through them. */
#include "shared_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- commands -------------------------------------------------------------------- */

static void append(shared_words *w, const void *p, size_t len)
{
    if (w->failed)
        return;
    if (len > w->room - w->len) {
        size_t room = 2 * w->room + len + 256;
        char *more = realloc(w->bytes, room);
        if (!more) {
            w->failed = true;
            return;
        }
        w->bytes = more;
        w->room = room;
    }
    memcpy(w->bytes + w->len, p, len);
    w->len += len;
}

void sn_words_add(shared_words *w, const void *p, size_t len)
{
    char head[32];
    append(w, head, (size_t)snprintf(head, sizeof head, "$%zu\r\n", len));
    append(w, p, len);
    append(w, "\r\n", 2);
    w->count++;
}

void sn_words_text(shared_words *w, const char *s)
{
    sn_words_add(w, s, strlen(s));
}

void sn_words_number(shared_words *w, uint64_t n)
{
    char text[24];
    sn_words_add(w, text,
                 (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)n));
}

void sn_words_script(shared_words *w, const shared_backend *h, const shared_server *s,
                     enum shared_script script, unsigned keys)
{
    sn_words_text(w, "EVALSHA");
    sn_words_text(w, s->sha[script]);
    sn_words_number(w, keys);
    if (script != SCRIPT_FILL)
        sn_words_text(w, h->state);
}

void sn_words_key(shared_words *w, const shared_backend *h, const char *kind,
                  const char *id, const void *more, size_t len)
{
    size_t room = strlen(h->state) + strlen(kind) + strlen(id) + len + 4;
    char *p = malloc(room);
    if (!p) {
        w->failed = true;
        return;
    }
    int n = snprintf(p, room, "%s:%s:%s%s", h->state, kind, id, more ? ":" : "");
    if (more)
        memcpy(p + n, more, len);
    sn_words_add(w, p, (size_t)n + (more ? len : 0));
    free(p);
}

static redisReply *send_words(shared_server *s, shared_words *w)
{
    redisReply *r = NULL;
    char head[24];
    int n = snprintf(head, sizeof head, "*%u\r\n", w->count);
    if (w->failed) {
        sn_guard_fail(SEEN_ENOMEM, "no memory");
    } else {
        sn_sigpipe hold = sn_sigpipe_hold();
        sn_conn_queue(s->conn, head, (size_t)n);
        sn_conn_queue(s->conn, w->bytes, w->len);
        if (sn_conn_send(s->conn))
            r = sn_conn_reply(s->conn);
        sn_sigpipe_release(&hold);
        if (!r)
            sn_guard_fail(SEEN_EIO, "redis %s", sn_conn_reason());
    }
    free(w->bytes);
    *w = (shared_words){0};
    return r;
}

redisReply *sn_shared_send(shared_server *s, shared_words *w)
{
    redisReply *r = send_words(s, w);
    if (r && r->type == REDIS_REPLY_ERROR) {
        sn_guard_fail(SEEN_EIO, "redis: %s", r->str);
        freeReplyObject(r);
        r = NULL;
    }
    return r;
}

const char *sn_reply_text(const redisReply *r, size_t i)
{
    bool there = r->type == REDIS_REPLY_ARRAY && i < r->elements &&
                 r->element[i]->type == REDIS_REPLY_STRING;
    return there ? r->element[i]->str : "";
}

char sn_reply_says(const redisReply *r)
{
    return sn_reply_text(r, 0)[0];
}

/* ---- connections ----------------------------------------------------------------- */

void sn_shared_disconnect(void *server)
{
    shared_server *s = server;
    sn_conn_close(s->conn);
    free(s);
}

/* One command of texts, whose reply must be of TYPE. */
static redisReply *simple(shared_server *s, int type, const char *const *words)
{
    shared_words w = {0};
    for (; *words; words++)
        sn_words_text(&w, *words);
    redisReply *r = sn_shared_send(s, &w);
    if (r && r->type != type) {
        sn_guard_fail(SEEN_EIO, "redis: an answer that its command does not have");
        freeReplyObject(r);
        r = NULL;
    }
    return r;
}
#define SIMPLE(s, type, ...) simple(s, type, (const char *const[]){__VA_ARGS__, NULL})

static bool log_in(shared_backend *h, shared_server *s)
{
    if (!h->password)
        return true;
    redisReply *r = h->user
                        ? SIMPLE(s, REDIS_REPLY_STATUS, "AUTH", h->user, h->password)
                        : SIMPLE(s, REDIS_REPLY_STATUS, "AUTH", h->password);
    if (r)
        freeReplyObject(r);
    return r != NULL;
}

/* Copies the value of FIELD in the lines of an INFO. */
static bool info_field(const char *info, const char *field, char *out, size_t size)
{
    const char *at = strstr(info, field);
    if (!at)
        return false;
    at += strlen(field);
    snprintf(out, size, "%.*s", (int)strcspn(at, "\r\n"), at);
    return true;
}

int sn_shared_identify(shared_backend *h, shared_server *s)
{
    char role[16] = "", replicas[16] = "0", run[44] = "", id[44] = "";
    redisReply *r = SIMPLE(s, REDIS_REPLY_STRING, "INFO", "server");
    bool known = r && info_field(r->str, "run_id:", run, sizeof run);
    if (r)
        freeReplyObject(r);
    r = known ? SIMPLE(s, REDIS_REPLY_STRING, "INFO", "replication") : NULL;
    if (r) {
        info_field(r->str, "role:", role, sizeof role);
        info_field(r->str, "connected_slaves:", replicas, sizeof replicas);
        info_field(r->str, "master_replid:", id, sizeof id);
        freeReplyObject(r);
    }
    snprintf(s->run, sizeof s->run, "%s:%s", run, id);
    if (strcmp(role, "master") != 0) {
        if (r)
            sn_guard_fail(SEEN_EIO, "redis: no server is the master");
        return 0;
    }
    return strtoul(replicas, NULL, 10) >= h->replicas ? 2 : 1;
}

static bool load_scripts(shared_server *s)
{
    for (int i = 0; i < SHARED_SCRIPTS; i++) {
        redisReply *r =
            SIMPLE(s, REDIS_REPLY_STRING, "SCRIPT", "LOAD", sn_shared_script[i]);
        if (!r)
            return false;
        snprintf(s->sha[i], sizeof s->sha[i], "%s", r->str);
        freeReplyObject(r);
    }
    return true;
}

/* The first server of the list that is rated RATING or better. */
static shared_server *connect_rated(shared_backend *h, double silence, int rating)
{
    const sn_conn_limits limits = {.connect = 0.5,
                                   .silence = silence,
                                   .reply = silence + 5,
                                   .most_elements = 1 << 20,
                                   .most_bytes = (size_t)1 << 30};
    for (unsigned i = 0; i < h->servers; i++) {
        shared_server *s = calloc(1, sizeof *s);
        if (!s) {
            sn_guard_fail(SEEN_ENOMEM, "no memory");
            return NULL;
        }
        s->conn = sn_conn_open(h->host[i], h->port[i], &limits);
        if (!s->conn)
            sn_guard_fail(SEEN_EIO, "redis %s", sn_conn_reason());
        else if (log_in(h, s) && sn_shared_identify(h, s) >= rating && load_scripts(s))
            return s;
        sn_shared_disconnect(s);
    }
    return NULL;
}

shared_server *sn_shared_connect(shared_backend *h, double silence)
{
    shared_server *s = connect_rated(h, silence, 2);
    if (!s && h->replicas)
        s = connect_rated(h, silence, 1);
    h->down_until = s ? 0 : sn_guard_now_ms() + SHARED_PAUSE_MS;
    return s;
}
