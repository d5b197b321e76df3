/* cache_redis.c - Redis as the guard's cache, through remote/server_connection.h.
 *
 * An entry is one string whose first byte says what it is: V and the value, N for
 * "known to be absent", L and a token for "is being filled". Taking a lease is SET NX,
 * filling it a script that compares first; nothing here needs more than Redis 2.6.12.
 */
#include "guard_internal.h"
#include "pool.h"

#include "server_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MS = 200, TOKEN_LEN = 17 };

/* None of our commands returns an array. */
static const sn_conn_limits limits = {
    .connect = 0.5, .silence = 0.5, .reply = 5, .most_bytes = (size_t)1 << 30};

typedef struct redis {
    pool pool;
    char *host, *prefix;
    size_t prefix_len;
    int port;
    _Atomic int64_t down_until; /* readers do not try before */
} redis;

typedef struct connection {
    sn_conn *conn;
    uint64_t server; /* from the run id: another after each start */
} connection;

/* A number for the server behind C; 0 if it does not say. */
static uint64_t server_of(sn_conn *c, bool *answered)
{
    const char *info[] = {"INFO", "server"};
    redisReply *r = sn_conn_command(c, 2, info, NULL);
    uint64_t id = 0;
    *answered = r;
    char *at = r && r->type == REDIS_REPLY_STRING ? strstr(r->str, "run_id:") : NULL;
    if (at)
        id = seen_hash_seeded(0, at, strcspn(at, "\r\n"));
    if (r)
        freeReplyObject(r);
    return id;
}

static void disconnect(void *p)
{
    connection *c = p;
    sn_conn_close(c->conn);
    free(c);
}

static void *connect_redis(void *ctx)
{
    redis *r = ctx;
    connection *c = calloc(1, sizeof *c);
    bool answered = false;
    if (c)
        c->conn = sn_conn_open(r->host, r->port, &limits);
    if (c && c->conn)
        c->server = server_of(c->conn, &answered);
    if (answered) {
        r->down_until = 0;
        return c;
    }
    sn_guard_fail(SEEN_EIO, "redis %s", c ? sn_conn_reason() : "no memory");
    if (!c || !c->conn)
        r->down_until = sn_guard_now_ms() + PAUSE_MS;
    if (c)
        disconnect(c);
    return NULL;
}

/* PREFIX and KEY together. */
static char *full_key(const redis *r, const void *key, size_t len)
{
    char *p = malloc(r->prefix_len + len + 1);
    if (p) {
        memcpy(p, r->prefix, r->prefix_len);
        memcpy(p + r->prefix_len, key, len);
    }
    return p;
}

/* Sends one command; on failure the connection is closed and *CONN is NULL. */
static redisReply *command(redis *r, connection **conn, int argc, const char **argv,
                           const size_t *lens)
{
    redisReply *reply = sn_conn_command((*conn)->conn, argc, argv, lens);
    if (!reply) {
        sn_guard_fail(SEEN_EIO, "redis %s", sn_conn_reason());
        r->down_until = sn_guard_now_ms() + PAUSE_MS;
        sn_pool_give(&r->pool, *conn, true);
        *conn = NULL;
    } else if (reply->type == REDIS_REPLY_ERROR) {
        sn_guard_fail(SEEN_EIO, "redis %s:%d: %s", r->host, r->port, reply->str);
        freeReplyObject(reply);
        reply = NULL;
    }
    return reply;
}

static void lease_text(char text[TOKEN_LEN + 1], uint64_t token)
{
    snprintf(text, TOKEN_LEN + 1, "L%016llx", (unsigned long long)token);
}

static int strange(void)
{
    return sn_guard_fail(SEEN_EIO, "redis: an answer that its command does not have");
}

/* What an entry says. */
static int read_entry(const redisReply *r, seen_guard_bytes *value)
{
    if (r->len == 1 && r->str[0] == 'N')
        return SEEN_GUARD_MARKER;
    if (r->len == TOKEN_LEN && r->str[0] == 'L')
        return SEEN_GUARD_BUSY;
    if (r->len == 0 || r->str[0] != 'V')
        return sn_guard_fail(SEEN_EFORMAT, "a cache entry that is not the guard's");
    value->len = (size_t)r->len - 1;
    value->data = malloc(value->len + 1);
    if (!value->data)
        return SEEN_ENOMEM;
    memcpy(value->data, r->str + 1, value->len);
    return SEEN_GUARD_HIT;
}

static int redis_get(void *ctx, const void *key, size_t len, uint64_t token,
                     unsigned lease_ms, seen_guard_bytes *value, uint64_t *server)
{
    redis *r = ctx;
    if (sn_guard_now_ms() < r->down_until)
        return SEEN_EIO;
    char *k = full_key(r, key, len), lease[TOKEN_LEN + 1], ms[16];
    connection *conn = k ? sn_pool_take(&r->pool) : NULL;
    int rc = SEEN_EIO;
    if (conn) {
        *server = conn->server;
        lease_text(lease, token);
        snprintf(ms, sizeof ms, "%u", lease_ms);
        const char *get[] = {"GET", k};
        const char *set[] = {"SET", k, lease, "PX", ms, "NX"};
        size_t lens[] = {3, r->prefix_len + len, TOKEN_LEN, 2, strlen(ms), 2};
        redisReply *reply = command(r, &conn, 2, get, lens);
        if (reply && reply->type == REDIS_REPLY_STRING) {
            rc = read_entry(reply, value);
        } else if (reply && reply->type == REDIS_REPLY_NIL) {
            freeReplyObject(reply);
            reply = command(r, &conn, 6, set, lens);
            if (reply && reply->type == REDIS_REPLY_STATUS)
                rc = SEEN_GUARD_LEASED;
            else if (reply) /* nil: somebody was faster */
                rc = reply->type == REDIS_REPLY_NIL ? SEEN_GUARD_BUSY : strange();
        } else if (reply) {
            rc = strange();
        }
        if (reply)
            freeReplyObject(reply);
        if (conn)
            sn_pool_give(&r->pool, conn, false);
    }
    free(k);
    return rc;
}

/* Runs SCRIPT on KEY with the lease of TOKEN and the other arguments; its number. */
static int run_script(redis *r, const char *script, const void *key, size_t len,
                      uint64_t token, const void *text, size_t text_len,
                      unsigned ttl_ms)
{
    char *k = full_key(r, key, len), lease[TOKEN_LEN + 1], ms[16];
    connection *conn = k ? sn_pool_take(&r->pool) : NULL;
    int rc = SEEN_EIO;
    if (conn) {
        lease_text(lease, token);
        snprintf(ms, sizeof ms, "%u", ttl_ms);
        const char *eval[] = {"EVAL", script, "1", k, lease, text, ms};
        size_t lens[] = {4,         strlen(script), 1,         r->prefix_len + len,
                         TOKEN_LEN, text_len,       strlen(ms)};
        redisReply *reply = command(r, &conn, 7, eval, lens);
        if (reply) {
            bool known = reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0 &&
                         reply->integer <= 1;
            rc = known ? (int)reply->integer : strange();
            freeReplyObject(reply);
        }
        if (conn)
            sn_pool_give(&r->pool, conn, false);
    }
    free(k);
    return rc;
}

static int redis_fill(void *ctx, const void *key, size_t len, uint64_t token,
                      const seen_guard_bytes *value, unsigned ttl_ms)
{
    size_t n = value ? value->len : 0;
    char *text = malloc(n + 1);
    if (!text)
        return SEEN_ENOMEM;
    text[0] = value ? 'V' : 'N';
    if (n)
        memcpy(text + 1, value->data, n);
    int rc =
        run_script(ctx,
                   "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                   "redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end "
                   "return 0",
                   key, len, token, text, n + 1, ttl_ms);
    free(text);
    return rc;
}

static int redis_release(void *ctx, const void *key, size_t len, uint64_t token)
{
    return run_script(ctx,
                      "if redis.call('GET', KEYS[1]) == ARGV[1] then "
                      "return redis.call('DEL', KEYS[1]) end return 0",
                      key, len, token, "", 0, 0);
}

/* Tries even while readers skip the server, and once more on a new connection: a
 * healthy server may have closed an idle one. */
static int redis_drop(void *ctx, const void *key, size_t len)
{
    redis *r = ctx;
    int rc = SEEN_EIO;
    char *k = full_key(r, key, len);
    for (int tries = 0; k && tries < 2 && rc < 0; tries++) {
        connection *conn = sn_pool_take(&r->pool);
        if (!conn)
            break;
        const char *del[] = {"DEL", k};
        size_t lens[] = {3, r->prefix_len + len};
        redisReply *reply = command(r, &conn, 2, del, lens);
        if (reply) {
            rc = reply->type == REDIS_REPLY_INTEGER ? 0 : strange();
            freeReplyObject(reply);
        }
        if (conn)
            sn_pool_give(&r->pool, conn, false);
    }
    free(k);
    return rc;
}

static void redis_close(void *ctx)
{
    redis *r = ctx;
    sn_pool_destroy(&r->pool);
    free(r->host);
    free(r->prefix);
    free(r);
}

int seen_guard_redis(const char *host, int port, const char *prefix,
                     unsigned connections, seen_guard_cache *out)
{
    redis *r = calloc(1, sizeof *r);
    memset(out, 0, sizeof *out);
    if (!r)
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    r->host = strdup(host);
    r->prefix = strdup(prefix ? prefix : "");
    r->port = port;
    if (!r->host || !r->prefix ||
        sn_pool_init(&r->pool, connections, connect_redis, disconnect, r) < 0) {
        free(r->host);
        free(r->prefix);
        free(r);
        return sn_guard_fail(SEEN_ENOMEM, "no memory");
    }
    r->prefix_len = strlen(r->prefix);
    *out = (seen_guard_cache){r,          redis_get,  redis_fill, redis_release,
                              redis_drop, redis_close};
    return 0;
}
