/* bf_dump.c - BF.SCANDUMP and BF.LOADCHUNK: a filter leaves and arrives in pieces. */
#include "bf/bf_options.h"
#include "bf/bf_pieces.h"
#include "bf/bloom_bytes.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "server/server_memory.h"
#include "server/settings.h"

int bf_scandump(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    if (argc != 3)
        return RM_WrongArity(ctx);
    value_key k = bf_open(ctx, argv[1], RM_READ);
    bf v = bf_of(&k);
    if (k.state != KEY_FOUND)
        return value_refuse(ctx, &k, value_state_error(&k));
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK)
        return value_refuse(ctx, &k, SAY_SCAN_NUMERIC);
    if (v.pieces)
        return value_refuse(ctx, &k, SAY_PIECE_NO);
    value_bytes_reply(ctx, value_to_bytes(k.value), (uint64_t)iter, false);
    value_close(&k);
    return RM_OK;
}

/* The header of a dump creates the key. */
static int load_header(rm_ctx *ctx, value_key *k, const char *p, size_t len)
{
    bf made = {0};
    uint64_t limit = memory_limit(ctx);
    int rc = SEEN_OK;
    if (pieces_is_header(p, len)) {
        made.pieces = pieces_load(p, len);
        rc = made.pieces ? SEEN_OK : SEEN_EFORMAT;
    } else {
        rc = bloom_is_header(p, len)
                 ? bloom_load(p, len, limit, &made.fast)
                 : sn_bf_load(p, len, limit, &server_allocator, &made.compat);
    }
    if (rc == SEEN_OK && !bf_is_allowed(made, limit)) {
        bf_free(made);
        rc = SEEN_EFORMAT;
    }
    if (rc != SEEN_OK)
        return value_refuse(ctx, k,
                            rc == SEEN_ETOOBIG  ? SAY_OVER_LIMIT
                            : rc == SEEN_ENOMEM ? SAY_NO_MEMORY
                                                : SAY_BAD_DATA);
    bf_put(k, made);
    value_close(k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

int bf_loadchunk(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long iter;
    size_t len;
    if (argc != 4)
        return RM_WrongArity(ctx);
    if (RM_StringToLongLong(argv[2], &iter) != RM_OK)
        return RM_ReplyWithError(ctx, SAY_LOAD_NUMERIC);
    const char *p = RM_StringPtrLen(argv[3], &len);
    value_key k = bf_open(ctx, argv[1], RM_READ | RM_WRITE);
    bf v = bf_of(&k);
    if (k.state == KEY_WRONG)
        return value_refuse(ctx, &k, SAY_WRONGTYPE);
    if (k.state == KEY_MISSING && iter != 1)
        return value_refuse(ctx, &k, SAY_NOT_FOUND);
    if (k.state == KEY_MISSING)
        return load_header(ctx, &k, p, len);
    if (v.pieces)
        return value_refuse(ctx, &k, SAY_PIECE_NO);
    value_bytes b = value_to_bytes(k.value);
    int rc = iter < 1 ? SEEN_ERANGE : value_bytes_put(&b, (uint64_t)iter, p, len);
    value_bytes_free(b);
    value_close(&k);
    if (rc == SEEN_ERANGE)
        return RM_ReplyWithError(ctx, SAY_NO_LINK);
    if (rc != SEEN_OK)
        return RM_ReplyWithError(ctx, SAY_CHUNK_BIG);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}
