/* topk_commands.c - TOPK.*: lists of the most frequent items, as RedisBloom answers. */
#include "server/arguments.h"
#include "server/module_commands.h"
#include "server/error_texts.h"
#include "foreign/redisbloom/redisbloom.h"
#include "server/server_memory.h"
#include "sketches/sketch_types.h"
#include <string.h>
#include <strings.h>

/* Opens a list; false, with the error sent, if there is none. */
static bool open_list(rm_ctx *ctx, rm_str *name, int mode, value_key *k)
{
    *k = value_open(ctx, name, mode, &topk_family);
    if (k->state == KEY_FOUND)
        return true;
    value_refuse(ctx, k, k->state == KEY_WRONG ? SAY_WRONGTYPE : SAY_TOPK_MISSING);
    return false;
}

static bool get_size(const rm_str *s, long long *out)
{
    return RM_StringToLongLong(s, out) == RM_OK && *out >= 1 && *out <= UINT32_MAX;
}

int topk_reserve(rm_ctx *ctx, rm_str **argv, int argc)
{
    long long k_items, width = 8, depth = 7;
    double decay = 0.9;
    if (argc != 3 && argc != 6)
        return RM_WrongArity(ctx);
    value_key k = value_open(ctx, argv[1], RM_READ | RM_WRITE, &topk_family);
    if (k.state != KEY_MISSING)
        return value_refuse(ctx, &k, SAY_TOPK_EXISTS);
    if (!get_size(argv[2], &k_items))
        return value_refuse(ctx, &k, SAY_TOPK_K);
    if (argc == 6) {
        if (!get_size(argv[3], &width))
            return value_refuse(ctx, &k, SAY_TOPK_WIDTH);
        if (!get_size(argv[4], &depth))
            return value_refuse(ctx, &k, SAY_TOPK_DEPTH);
        if (RM_StringToDouble(argv[5], &decay) != RM_OK || !(decay > 0 && decay <= 1))
            return value_refuse(ctx, &k, SAY_TOPK_DECAY);
    }
    seen_hk *h;
    server_allowance_begin(ctx, 0);
    int rc = seen_hk_new((uint32_t)k_items, (uint32_t)width, (uint32_t)depth, decay,
                         &server_allocator, &h);
    server_allowance_end();
    if (rc != SEEN_OK)
        return value_refuse(ctx, &k, SAY_TOPK_NO_MEMORY);
    value_put(&k, &topk_type, h);
    value_close(&k);
    RM_ReplicateVerbatim(ctx);
    return RM_ReplyWithSimpleString(ctx, "OK");
}

/* RedisBloom keeps items as C strings: what it tells of them ends at a zero byte. */
static void reply_item(rm_ctx *ctx, seen_key item)
{
    if (item.data)
        RM_ReplyWithStringBuffer(ctx, item.data, strnlen(item.data, item.len));
    else
        RM_ReplyWithNull(ctx);
}

/* Adds one item and tells which one it expelled. */
static void add_item(rm_ctx *ctx, seen_hk *h, const rm_str *s, uint32_t by)
{
    seen_key item = arg_key(s), expelled;
    if (seen_hk_add(h, item.data, item.len, by, &expelled) == SEEN_OK)
        reply_item(ctx, expelled);
    else
        RM_ReplyWithError(ctx, SAY_TOPK_NO_MEMORY);
}

static int changed(rm_ctx *ctx, value_key *k)
{
    value_recount(k->value);
    value_close(k);
    RM_ReplicateVerbatim(ctx);
    return RM_OK;
}

int topk_add(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_list(ctx, argv[1], RM_READ | RM_WRITE, &k))
        return RM_OK;
    RM_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        add_item(ctx, k.value->body, argv[i], 1);
    return changed(ctx, &k);
}

int topk_incrby(rm_ctx *ctx, rm_str **argv, int argc)
{
    enum { MOST = 100000 };
    value_key k;
    if (argc < 4 || argc % 2)
        return RM_WrongArity(ctx);
    if (!open_list(ctx, argv[1], RM_READ | RM_WRITE, &k))
        return RM_OK;
    RM_ReplyWithArray(ctx, argc / 2 - 1);
    bool bad = false;
    for (int i = 2; i < argc; i += 2) {
        long long by;
        if (bad) { /* not done: RedisBloom sends fewer answers than it announced */
            RM_ReplyWithNull(ctx);
        } else if (RM_StringToLongLong(argv[i + 1], &by) != RM_OK || by < 0 ||
                   by > MOST) {
            bad = true;
            RM_ReplyWithError(ctx, SAY_TOPK_INCREMENT);
        } else {
            add_item(ctx, k.value->body, argv[i], (uint32_t)by);
        }
    }
    return changed(ctx, &k);
}

/* One answer for each item: its count, or whether it is in the list. */
static int ask_items(rm_ctx *ctx, rm_str **argv, int argc, bool count)
{
    value_key k;
    if (argc < 3)
        return RM_WrongArity(ctx);
    if (!open_list(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    RM_ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        seen_key item = arg_key(argv[i]);
        if (count)
            RM_ReplyWithLongLong(ctx,
                                 seen_hk_count(k.value->body, item.data, item.len));
        else
            RM_ReplyWithBool(ctx, seen_hk_has(k.value->body, item.data, item.len));
    }
    value_close(&k);
    return RM_OK;
}

int topk_query(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_items(ctx, argv, argc, false);
}

int topk_count(rm_ctx *ctx, rm_str **argv, int argc)
{
    return ask_items(ctx, argv, argc, true);
}

int topk_list(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc != 2 && argc != 3)
        return RM_WrongArity(ctx);
    if (argc == 3) { /* any beginning of the word will do */
        static const char word[] = "WITHCOUNT";
        seen_key given = arg_key(argv[2]);
        if (given.len >= sizeof word || strncasecmp(given.data, word, given.len))
            return RM_ReplyWithError(ctx, SAY_TOPK_WITHCOUNT);
    }
    if (!open_list(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    const uint32_t *places;
    uint32_t n = seen_hk_list(k.value->body, &places);
    RM_ReplyWithArray(ctx, (long)n * (argc == 3 ? 2 : 1));
    for (uint32_t i = 0; i < n; i++) {
        seen_key item;
        uint32_t count;
        seen_hk_item(k.value->body, places[i], &item, &count);
        reply_item(ctx, item);
        if (argc == 3)
            RM_ReplyWithLongLong(ctx, count);
    }
    value_close(&k);
    return RM_OK;
}

int topk_info(rm_ctx *ctx, rm_str **argv, int argc)
{
    value_key k;
    if (argc != 2)
        return RM_WrongArity(ctx);
    if (!open_list(ctx, argv[1], RM_READ, &k))
        return RM_OK;
    seen_hk_info i;
    seen_hk_get_info(k.value->body, &i);
    value_close(&k);
    RM_ReplyWithMap(ctx, 4);
    RM_ReplyWithSimpleString(ctx, "k");
    RM_ReplyWithLongLong(ctx, i.k);
    RM_ReplyWithSimpleString(ctx, "width");
    RM_ReplyWithLongLong(ctx, i.width);
    RM_ReplyWithSimpleString(ctx, "depth");
    RM_ReplyWithLongLong(ctx, i.depth);
    RM_ReplyWithSimpleString(ctx, "decay");
    RM_ReplyWithDouble(ctx, i.decay);
    return RM_OK;
}
