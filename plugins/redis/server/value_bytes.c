/* value_bytes.c - moves headers and bodies between values and the server in pieces. */
#include "server/value_bytes.h"
#include "foreign/redisbloom/redisbloom.h"
#include <string.h>

/* Pieces of a body in the RDB. The server may compress each into a second buffer. */
#define RDB_CHUNK ((size_t)4 << 20)

value_bytes value_bytes_new(size_t len, uint32_t n)
{
    return (value_bytes){.header = RM_Alloc(len),
                         .len = len,
                         .n = n,
                         .bodies = RM_Calloc(n, sizeof(struct value_body))};
}

void value_bytes_free(value_bytes b)
{
    RM_Free(b.header);
    RM_Free(b.bodies);
}

typedef struct piece {
    char *p;
    size_t len;
    uint32_t body; /* where the next one begins */
    uint64_t at;
} piece;

/* The next piece, at most MOST bytes and never over the end of a body. */
static bool next_piece(const value_bytes *b, size_t most, piece *x)
{
    if (x->body < b->n && x->at == b->bodies[x->body].len) {
        x->body++;
        x->at = 0;
    }
    if (x->body == b->n)
        return false;
    uint64_t left = b->bodies[x->body].len - x->at;
    x->p = b->bodies[x->body].p + x->at;
    x->len = left < most ? (size_t)left : most;
    x->at += x->len;
    return true;
}

void value_bytes_save(rm_io *io, value_bytes b)
{
    RM_SaveStringBuffer(io, b.header, b.len);
    for (piece x = {0}; next_piece(&b, RDB_CHUNK, &x);)
        RM_SaveStringBuffer(io, x.p, x.len);
    value_bytes_free(b);
}

bool value_bytes_load(rm_io *io, value_bytes b)
{
    bool good = true;
    for (piece x = {0}; good && next_piece(&b, RDB_CHUNK, &x);) {
        size_t len;
        char *read = RM_LoadStringBuffer(io, &len);
        good = read && len == x.len && !RM_IsIOError(io);
        if (good)
            memcpy(x.p, read, len);
        RM_Free(read);
    }
    value_bytes_free(b);
    return good;
}

void value_bytes_aof(rm_io *io, rm_str *key, const char *command, value_bytes b)
{
    long long iter = 1;
    RM_EmitAOF(io, command, "slb", key, iter, b.header, b.len);
    for (piece x = {0}; next_piece(&b, SEEN_REDIS_CHUNK, &x);) {
        iter += (long long)x.len;
        RM_EmitAOF(io, command, "slb", key, iter, x.p, x.len);
    }
    value_bytes_free(b);
}

void value_bytes_replicate(rm_ctx *ctx, rm_str *key, const char *command, value_bytes b)
{
    long long iter = 1;
    RM_Replicate(ctx, command, "slb", key, iter, b.header, b.len);
    for (piece x = {0}; next_piece(&b, SEEN_REDIS_CHUNK, &x);) {
        iter += (long long)x.len;
        RM_Replicate(ctx, command, "slb", key, iter, x.p, x.len);
    }
    value_bytes_free(b);
}

void value_bytes_digest(rm_digest *md, value_bytes b)
{
    RM_DigestAddStringBuffer(md, b.header, b.len);
    for (piece x = {0}; next_piece(&b, RDB_CHUNK, &x);)
        RM_DigestAddStringBuffer(md, x.p, x.len);
    RM_DigestEndSequence(md);
    value_bytes_free(b);
}

/* The body that holds byte *AT of all bodies taken as one string; *AT becomes the
 * offset in it. B->n if there is none. */
static uint32_t body_of(const value_bytes *b, uint64_t *at)
{
    uint32_t i = 0;
    while (i < b->n && *at >= b->bodies[i].len)
        *at -= b->bodies[i++].len;
    return i;
}

void value_bytes_at(const value_bytes *b, uint64_t iter, const char **p, size_t *len,
                    uint64_t *next)
{
    *p = b->header;
    *len = b->len;
    *next = 1;
    if (!iter)
        return;
    piece x = {.at = iter - 1};
    x.body = body_of(b, &x.at);
    bool more = x.body < b->n && next_piece(b, SEEN_REDIS_CHUNK, &x);
    *p = more ? x.p : "";
    *len = more ? x.len : 0;
    *next = more ? iter + x.len : 0;
}

void value_bytes_reply(rm_ctx *ctx, value_bytes b, uint64_t iter, bool null_at_end)
{
    const char *p;
    size_t len;
    uint64_t next;
    value_bytes_at(&b, iter, &p, &len, &next);
    RM_ReplyWithArray(ctx, 2);
    RM_ReplyWithLongLong(ctx, (long long)next);
    if (next || !null_at_end)
        RM_ReplyWithStringBuffer(ctx, p, len);
    else
        RM_ReplyWithNull(ctx);
    value_bytes_free(b);
}

int value_bytes_put(const value_bytes *b, uint64_t iter, const void *data, size_t len)
{
    if (iter < 1 || iter - 1 < len)
        return SEEN_ERANGE;
    uint64_t at = iter - 1 - len;
    uint32_t i = body_of(b, &at);
    if (i == b->n)
        return SEEN_ERANGE;
    if (len > b->bodies[i].len - at)
        return SEEN_ETOOBIG;
    memcpy(b->bodies[i].p + at, data, len);
    return SEEN_OK;
}
